import { HttpProblem } from '../../core/http-port.ts'
import { SessionError, type SessionErrorCode } from '../session/session-error.ts'

const statuses: Readonly<Record<SessionErrorCode, number>> = {
  at_capacity: 429,
  draining: 503,
  unknown_split: 400,
  unknown_task: 400,
  seed_refused: 400,
  session_conflict: 409,
  call_conflict: 409,
  session_unknown: 404,
  session_gone: 410,
  busy: 429,
  episode_over: 409,
  infrastructure: 500,
}

/**
 * A refusal as clients know it. `ors-sdk` tries each of them three times, `openreward` those of 429, 502, 503 and 504; none
 * of them has carried anything out, and none leaves anything behind that another try would meet.
 */
export function problemOf(error: SessionError): HttpProblem {
  const status = statuses[error.code]
  return new HttpProblem(
    status,
    error.message,
    status === 429 || status === 503 ? { 'retry-after': '2' } : {},
  )
}

/** What was thrown, as an answer where it is a known refusal. */
export function asProblem(thrown: unknown): unknown {
  return thrown instanceof SessionError ? problemOf(thrown) : thrown
}
