/** A value as JSON-RPC 2.0 sees it. `malformed` has the id of the request that it seems to answer, if it has one. */
export type Read =
  | { kind: 'request'; id: string | number; method: string }
  | { kind: 'notification'; method: string }
  | { kind: 'result'; id: string | number }
  | { kind: 'error'; id: string | number | undefined }
  | { kind: 'malformed'; id: string | number | undefined }

/** What kind of JSON-RPC message a parsed value is. https://www.jsonrpc.org/specification */
export function readMessage(value: unknown): Read {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return { kind: 'malformed', id: undefined }
  const id = idOf(value['id'])
  if (typeof value['method'] === 'string') {
    const method = value['method']
    if (!('id' in value)) return { kind: 'notification', method }
    return id === undefined ? { kind: 'malformed', id } : { kind: 'request', id, method }
  }
  if ('result' in value === 'error' in value) return { kind: 'malformed', id }
  if ('error' in value) return { kind: isErrorObject(value['error']) ? 'error' : 'malformed', id }
  return id !== undefined && isObject(value['result']) ? { kind: 'result', id } : { kind: 'malformed', id }
}

/** Whether a value may stand in the field `error` of an answer: an integer code and a message. */
export function isErrorObject(value: unknown): value is { code: number; message: string; data?: unknown } {
  return isObject(value) && Number.isInteger(value['code']) && typeof value['message'] === 'string'
}

function idOf(value: unknown): string | number | undefined {
  return typeof value === 'string' || Number.isInteger(value) ? (value as string | number) : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON-RPC messages in a line, or undefined when it is none: a log line of a program that writes on its stdout. */
export function parseLine(line: string): unknown[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  // Revision 2025-03-26 had batches.
  const all = Array.isArray(value) ? value : [value]
  const messages = all.filter((entry) => isObject(entry) && entry['jsonrpc'] === '2.0')
  return messages.length === 0 ? undefined : messages
}
