import { nestsTooDeep } from '../../core/index.ts'

/** Bytes of one frame, in either direction: the client's own limit. */
export const frameLimit = 16 * 2 ** 20
/** What clients before `hud` 0.6.16 can read: they take no longer line. */
export const oldFrameLimit = 64 * 2 ** 10

export type FrameId = string | number

/** Codes of JSON-RPC, as HUD uses them. */
export const rpc = {
  notJson: -32700,
  /** The request makes no sense now: no task, a session that is unknown or held by somebody. */
  invalid: -32600,
  unknownMethod: -32601,
  badParams: -32602,
  failed: -32000,
} as const

/** A refusal, with its code. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  /** Our own code of what is the matter, for whoever looks at `data`. */
  readonly reason: string | undefined

  constructor(code: number, message: string, reason?: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

export interface Frame {
  /** Undefined: no reply is wanted. */
  id: FrameId | undefined
  method: string
  params: Record<string, unknown>
}

/** A frame that is no request; `id` is what can be answered to. */
export interface BadFrame {
  id: FrameId | null
  error: RpcError
}

/** Reads one line. */
export function readFrame(line: string): Frame | BadFrame {
  const bad = (code: number, message: string, id: FrameId | null = null): BadFrame => ({
    id,
    error: new RpcError(code, message),
  })
  if (nestsTooDeep(line)) return bad(rpc.notJson, 'The frame nests too deep.')
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return bad(rpc.notJson, 'The frame is not valid JSON.')
  }
  if (!isObject(value)) return bad(rpc.invalid, 'A frame is one JSON object; batches are not taken.')
  const { id = null, method, params = null } = value
  if (id !== null && !isId(id)) return bad(rpc.invalid, 'The id of a request is a text or a whole number.')
  if (typeof method !== 'string') return bad(rpc.invalid, '"method" must be a text.', id)
  if (params !== null && !isObject(params))
    return bad(rpc.badParams, `${shown(method)}: "params" must be an object.`, id)
  return { id: id ?? undefined, method, params: params ?? {} }
}

export function isBad(frame: Frame | BadFrame): frame is BadFrame {
  return 'error' in frame
}

export function replyFrame(id: FrameId, result: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`
}

export function errorFrame(id: FrameId | null, { code, message, reason }: RpcError): string {
  const data = reason === undefined ? {} : { data: { reason } }
  return `${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, ...data } })}\n`
}

/** Somebody else's name in a message of ours. */
export function shown(name: string): string {
  return name.length > 80 ? `${JSON.stringify(name.slice(0, 80))}…` : JSON.stringify(name)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isId(id: unknown): id is FrameId {
  return (typeof id === 'string' && id.length <= 256) || Number.isSafeInteger(id)
}
