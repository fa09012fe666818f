import { HttpProblem } from '../../core/http-port.ts'
import type { SessionError } from '../session/session-error.ts'

/**
 * A refusal of the core as this protocol says it. Clients try again at 429 and from 500 up; what a client got wrong is 4xx
 * and final.
 */
export function refusal({ code, message, fault }: SessionError): HttpProblem {
  switch (code) {
    case 'at_capacity':
    case 'draining':
      return new HttpProblem(503, message, { 'retry-after': '5' })
    case 'busy':
      return new HttpProblem(429, message, { 'retry-after': '1' })
    case 'unknown_split':
    case 'unknown_task':
    case 'seed_refused':
      return new HttpProblem(422, message)
    case 'session_conflict':
    case 'call_conflict':
      return new HttpProblem(409, message)
    case 'episode_over':
      return new HttpProblem(409, 'Not carried out: the episode is over.')
    case 'session_unknown':
    case 'session_gone':
      return new HttpProblem(404, message)
    case 'infrastructure':
      return new HttpProblem(fault?.retryable === true ? 503 : 500, message)
  }
}
