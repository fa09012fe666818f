import type { HttpAnswer } from '../../core/http-port.ts'
import type { SessionError, SessionErrorCode } from '../session/session-error.ts'

const statusOf: Readonly<Record<SessionErrorCode, number>> = {
  at_capacity: 429,
  busy: 429,
  draining: 503,
  unknown_split: 404,
  unknown_task: 404,
  session_unknown: 404,
  session_gone: 410,
  seed_refused: 422,
  session_conflict: 409,
  call_conflict: 409,
  episode_over: 409,
  infrastructure: 502,
}

/** Those after which the same request may do better. */
const passing: ReadonlySet<SessionErrorCode> = new Set(['at_capacity', 'busy'])

/** A refusal as the native door says it: the code is what clients go by, the status is for what lies between. */
export function refusal({ code, message, fault }: SessionError): HttpAnswer {
  return {
    status: statusOf[code],
    ...(passing.has(code) ? { headers: { 'retry-after': '1' } } : {}),
    json: { error: { code, message, ...(fault === undefined ? {} : { fault }) } },
  }
}

const codeOf: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'too_long',
  421: 'wrong_host',
}

/** The body of what is refused before it reaches a session, or could not be answered at all. */
export function problemBody(status: number, message: string): unknown {
  return { error: { code: codeOf[status] ?? 'server_failed', message } }
}
