import { type Tool, type ToolContext, type ToolResult, toolError } from '../core/tool.ts'
import { checkOptions } from './check-options.ts'
import { cutWithMarker } from './cut-text.ts'
import { mcpFault } from './faults.ts'
import type { Noise } from './guarded-transport.ts'
import { type HttpServer, httpChannel } from './http-channel.ts'
import { mirroredArguments } from './mirrored-arguments.ts'
import { type ProgramServer, programChannel } from './program-channel.ts'
import { loadClient } from './sdk.ts'
import { Session } from './session.ts'
import { listTools, type ServerTool, type ToolChoice } from './tool-list.ts'
import { type CallResult, callResult, checkCallResult, contentForModel } from './tool-result.ts'

export type { Era } from './connection.ts'

/** What `mcpTools` may be told beside where the server is. Times are milliseconds, sizes are bytes. */
export interface McpOptions extends ToolChoice {
  /**
   * Whether the server holds state of the world. Then a lost session ends the rollout as a fault, `env_lost`.
   * `false`: it is opened anew, once for each call that finds it lost, and the call is made again. Default true.
   */
  stateful?: boolean
  /** Which revisions are spoken; `auto` asks the server. */
  era?: 'auto' | 'modern' | 'legacy'
  /** Until there is a session. Default 30,000. */
  startMs?: number
  /**
   * One call, whatever progress it reports. Default 50,000: below the engine's own limit for a tool, which is a
   * fault.
   */
  callMs?: number
  /** One call without a sign of life. Default: none, so that `callMs` alone counts. */
  idleMs?: number
  /** One message of the server's. Default 16 MiB. */
  maxMessageBytes?: number
  /** Text of one result that the model is shown; the whole of it is in `cut`. Default 100,000. */
  resultBytes?: number
  /** Aborted when the attempt is over: ends the server. A world passes on the `signal` it was given. */
  signal?: AbortSignal
}

/** A result of which the model saw the beginning only. */
export interface CutResult {
  tool: string
  callId: string
  text: string
  bytes: number
}

/** One MCP server of one attempt, as a world uses it. */
export interface McpTools {
  /** What the server said of itself. */
  readonly server: { name: string; version: string } | undefined
  readonly instructions: string | undefined
  readonly protocolVersion: string | undefined
  /** Process id of a server that is a program. */
  readonly pid: number | undefined
  /** Whole texts of results that were cut for the model, in order; at most 16 MiB, of which the first go. */
  readonly cut: readonly CutResult[]
  /** What the server sent that belonged to nothing. */
  readonly noise: Noise & { skippedLines: number }
  /** Times that a lost session was opened anew. */
  readonly recoveries: number
  /** The tools as the server lists them now; asked for again when the server has said that they changed. */
  tools(): Promise<Tool[]>
  /**
   * Calls a tool by the server's own name, as the world itself does to set up or to settle. Throws a `FaultError` when
   * the session is lost or the call came to nothing; a result with `isError` is returned.
   */
  call(name: string, args?: Record<string, unknown>): Promise<CallResult>
  /** Throws the fault of a lost session. A world calls it before it settles its state. */
  check(): void
  /** The end of what a program wrote on its stderr. */
  stderr(): string
  /** Ends the session and the program, with all that it started. */
  close(): Promise<void>
}

const mostCutBytes = 16 * 1024 * 1024

/**
 * The tools of an MCP server, for a world: one client and one session, and where the server is a program one process,
 * for each call of this function. So call it in `world()`, once for an attempt.
 *
 * A tool's failure is an in-band tool error, `tool_error`; so are arguments that do not fit, an unknown tool
 * (`arguments_invalid`), a call over its limit (`timeout`) and a result over `maxMessageBytes` (`result_too_large`).
 * Whatever the model could not have caused is a `FaultError` of the world. Throws `usage` for options that do not go
 * together, and for an address or a command that is none, `needs_unmet` when `@modelcontextprotocol/client` is not installed, and a `FaultError` with the code
 * `mcp_start_failed` or `mcp_bad_tools`.
 *
 * @example
 * world: async (task, { signal }) => {
 *   const files = await mcpTools({ command: process.execPath, args: [serverFile, root], signal })
 *   return { tools: () => files.tools(), finish: () => files.check(), close: () => files.close() }
 * }
 */
export async function mcpTools(server: (ProgramServer | HttpServer) & McpOptions): Promise<McpTools> {
  checkOptions(server)
  const { stateful = true, era = 'auto', signal, resultBytes = 100_000 } = server
  const maxMessageBytes = server.maxMessageBytes ?? 16 * 1024 * 1024
  const made =
    'command' in server ? programChannel(server, maxMessageBytes) : httpChannel(server, maxMessageBytes)
  // A missing package is no fault of the server.
  await loadClient()
  const { startMs = 30_000 } = server
  let stale = true
  const session = await Session.open({
    name: made.name,
    open: made.open,
    era: era === 'auto' ? (made.era ?? era) : era,
    stateful,
    startMs,
    callMs: server.callMs ?? 50_000,
    idleMs: server.idleMs,
    graceMs: 2_000,
    // A program that leaves the question unanswered is an old one; an address that does is only slow.
    probeMs: 'command' in server ? startMs / 3 : startMs,
    lastWords: made.lastWords,
    signal,
    onToolsChanged: () => {
      stale = true
    },
  })
  made.connected(session.client.getProtocolEra())
  const close = () => session.close()
  signal?.addEventListener('abort', close, { once: true })
  if (signal?.aborted === true) await close()
  let listed: ServerTool[] = []
  let refreshing: Promise<void> | undefined
  const refresh = async () => {
    stale = false
    try {
      listed = await listTools(session, made.name, server)
    } catch (thrown) {
      stale = true
      throw thrown
    } finally {
      refreshing = undefined
    }
  }
  try {
    await refresh()
  } catch (thrown) {
    await session.close()
    throw thrown
  }
  const cut: CutResult[] = []
  const keep = (result: CutResult) => {
    cut.push(result)
    let bytes = cut.reduce((sum, { bytes }) => sum + bytes, 0)
    while (bytes > mostCutBytes && cut.length > 1) bytes -= cut.shift()?.bytes ?? 0
  }
  return {
    get server() {
      const version = session.client.getServerVersion()
      return version === undefined ? undefined : { name: version.name, version: version.version }
    },
    get instructions() {
      return session.client.getInstructions()
    },
    get protocolVersion() {
      return session.client.getNegotiatedProtocolVersion()
    },
    get pid() {
      return made.pid()
    },
    cut,
    get noise() {
      return { ...session.noise, skippedLines: made.skippedLines() }
    },
    get recoveries() {
      return session.recoveries
    },
    async tools() {
      if (stale) {
        refreshing ??= refresh()
        await refreshing
      }
      return listed.map((tool) => worldTool(session, made.name, tool, { resultBytes, keep }))
    },
    async call(name, args = {}) {
      const answer = await session.request(
        { method: 'tools/call', params: { name, arguments: args } },
        callResult,
      )
      if (answer.kind === 'result') return answer.result
      const what = `${made.name}: the world's own call of ${JSON.stringify(name)}`
      switch (answer.kind) {
        case 'timeout':
          throw mcpFault('mcp_call_timeout', `${what} did not end within ${answer.ms} ms`, {
            retryable: true,
          })
        case 'error':
          throw mcpFault('mcp_protocol_error', `${what}: ${answer.message}`, { retryable: false })
        case 'too_large':
          throw mcpFault('mcp_bad_result', `${what}: the answer has more than ${maxMessageBytes} bytes`, {
            retryable: false,
          })
        case 'needs_input':
          throw mcpFault('mcp_protocol_error', `${what}: it asks a person for input`, { retryable: false })
      }
    },
    check: () => session.check(),
    stderr: made.stderr,
    async close() {
      signal?.removeEventListener('abort', close)
      await session.close()
    },
  }
}

function worldTool(
  session: Session,
  serverName: string,
  tool: ServerTool,
  limits: { resultBytes: number; keep(cut: CutResult): void },
): Tool {
  const { name, shown, description, input, output, schema } = tool
  return {
    name: shown,
    description,
    schema,
    spec: { name: shown, description, parameters: input },
    async run(args: Record<string, unknown>, context: ToolContext): Promise<ToolResult> {
      const answer = await session.request(
        { method: 'tools/call', params: { name, arguments: args } },
        callResult,
        {
          signal: context.signal,
          headers: mirroredArguments(input, args),
          ...(context.progress === undefined ? {} : { progress: context.progress }),
        },
      )
      switch (answer.kind) {
        case 'error':
          return toolError('arguments_invalid', cutWithMarker(answer.message, limits.resultBytes).text)
        case 'timeout':
          return toolError('timeout', `The call did not end within ${answer.ms / 1000} s and was given up.`)
        case 'too_large':
          return toolError('result_too_large', 'The result was too large to be read. Ask for less.')
        case 'needs_input':
          return toolError('needs_input', 'The tool asks a person for input, and there is none to ask.')
      }
      const problem = await checkCallResult(answer.result, output)
      if (problem !== undefined)
        throw mcpFault(
          'mcp_bad_result',
          `${serverName}: result of tool ${JSON.stringify(name)}: ${problem.message}`,
          {
            retryable: false,
          },
        )
      return contentForModel(answer.result, {
        maxBytes: limits.resultBytes,
        onCut: (whole) => limits.keep({ tool: name, callId: context.callId, ...whole }),
      })
    },
  }
}
