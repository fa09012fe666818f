import type { DialectName } from '../core/index.ts'

/** What a path asks for. */
export type Route =
  | { kind: 'call'; dialect: DialectName }
  | { kind: 'count' }
  | { kind: 'models' }
  | { kind: 'model'; id: string }

export interface Address {
  /** The attempt that the path names, where it names one. */
  handle: string | undefined
  route: Route
}

const fixed: Readonly<Record<string, Route>> = {
  'chat/completions': { kind: 'call', dialect: 'chat' },
  responses: { kind: 'call', dialect: 'responses' },
  messages: { kind: 'call', dialect: 'messages' },
  'messages/count_tokens': { kind: 'count' },
  models: { kind: 'models' },
}

/** What there is, for those who ask for something else. */
export const offered =
  'POST /v1/chat/completions, /v1/responses, /v1/messages, /v1/messages/count_tokens; GET /v1/models, /v1/models/NAME'

/**
 * Reads the target of a request: `/r/HANDLE` before it and `/v1` may both be missing. Base URLs are written in many
 * ways, so repeated slashes and a repeated `/v1` are taken for one. Undefined for everything else.
 */
export function readTarget(target: string): Address | undefined {
  const end = target.search(/[?#]/)
  const path = (end < 0 ? target : target.slice(0, end))
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/\/+/g, '/')
  const found = /^(?:\/r\/([A-Za-z0-9_-]{1,64}))?(?:\/v1)*\/(.*?)\/?$/.exec(path)
  if (found === null) return undefined
  const [, handle, rest = ''] = found
  if (Object.hasOwn(fixed, rest)) return { handle, route: fixed[rest]! }
  const id = rest.startsWith('models/') ? decoded(rest.slice('models/'.length)) : undefined
  return id === undefined || id === '' || id.length > 256
    ? undefined
    : { handle, route: { kind: 'model', id } }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
