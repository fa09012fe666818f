import { textOf } from '../../core/index.ts'
import type { Instance } from './instance.ts'
import type { Instances } from './instances.ts'
import { callResult, notCarriedOut, shownTool } from './observations.ts'
import { Refusal, refusalFor } from './refusals.ts'

/*
 * The JSON-RPC of this protocol, which is called MCP but knows four methods and no handshake. It shows no rewards: one that
 * a call earns is told by the next step of the session's socket.
 */

type RpcId = string | number | null

const codes = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  server: -32000,
}

interface RpcRequest {
  id: RpcId
  method: string
  params: Record<string, unknown>
}

export interface RpcContext {
  instances: Instances
  /** The instance of the socket on which the request came. */
  own: Instance | undefined
  log(line: string): void
}

/** Answers a JSON-RPC request, whatever it says; never throws. */
export async function answerRpc(given: unknown, context: RpcContext): Promise<Record<string, unknown>> {
  const request = requestOf(given)
  if (typeof request === 'string') return rpcError(null, codes.request, `Invalid request: ${request}`)
  try {
    return await carriedOut(request, context)
  } catch (thrown) {
    const { message, more, code } = refusalFor(thrown, context.instances.core.stats(), context.log)
    return rpcError(request.id, codes.server, message, { ...more, code })
  }
}

/** For what is no JSON at all. */
export function rpcParseError(why: string): Record<string, unknown> {
  return rpcError(null, codes.parse, `Parse error: ${why}`)
}

async function carriedOut(request: RpcRequest, context: RpcContext): Promise<Record<string, unknown>> {
  const { id, method, params } = request
  const { instances, own } = context
  switch (method) {
    case 'openenv/session/create':
      return success(id, { session_id: (own ?? instances.create()).id })
    case 'openenv/session/close':
      return closeSession(request, context)
    case 'tools/list': {
      const instance = instanceOf(request, context)
      const tools = await (instance === undefined ? instances.toolsBefore() : instance.tools())
      return success(id, {
        tools: tools.map((tool) => ({ ...shownTool(tool), inputSchema: tool.parameters })),
      })
    }
    case 'tools/call': {
      const { name, arguments: given } = params
      if (typeof name !== 'string' || name === '')
        return rpcError(id, codes.params, "Missing 'name' in params")
      const instance = instanceOf(request, context)
      if (instance === undefined)
        return rpcError(
          id,
          codes.params,
          "A call belongs to an episode: give the 'session_id' of openenv/session/create, or connect to /ws or /mcp by WebSocket.",
        )
      const step = await instance.call(name, given ?? {})
      if (step.error !== undefined && notCarriedOut.has(step.error))
        return rpcError(
          id,
          step.error === 'unknown_tool' ? codes.params : codes.internal,
          textOf(step.content),
        )
      return success(id, callResult(step))
    }
    default:
      return rpcError(id, codes.method, `Method not found: ${method.slice(0, 100)}`)
  }
}

async function closeSession({ id, params }: RpcRequest, { instances, own }: RpcContext) {
  const { session_id: target } = params
  if (typeof target !== 'string' || target === '')
    return rpcError(id, codes.params, "Invalid params - 'session_id' is required")
  if (own?.id === target)
    return rpcError(id, codes.request, 'Cannot close active WebSocket-managed session via MCP method')
  const ended = await instances.close(target)
  if (ended === undefined) return rpcError(id, codes.params, 'Unknown session_id')
  return success(id, {
    session_id: target,
    closed: ended === 'closed',
    ...(ended === 'closing' ? { closing: true } : {}),
  })
}

function instanceOf({ params }: RpcRequest, { instances, own }: RpcContext): Instance | undefined {
  const { session_id: named } = params
  if (own !== undefined || named === undefined || named === null) return own
  const found = typeof named === 'string' ? instances.find(named) : undefined
  if (found === undefined) throw new Refusal('SESSION_ERROR', 'Unknown session_id')
  return found
}

function requestOf(given: unknown): RpcRequest | string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return 'it is no object'
  const { jsonrpc, method, params = {}, id = null } = given as Record<string, unknown>
  if (jsonrpc !== '2.0') return "'jsonrpc' is not '2.0'"
  if (typeof method !== 'string') return "'method' is no text"
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') return "'id' is no text and no number"
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return "'params' is no object"
  return { id, method, params: params as Record<string, unknown> }
}

function success(id: RpcId, result: unknown): Record<string, unknown> {
  return { jsonrpc: '2.0', id, result }
}

function rpcError(id: RpcId, code: number, message: string, data: unknown = null): Record<string, unknown> {
  return { jsonrpc: '2.0', id, error: { code, message, data } }
}
