import type { Fault } from '../../core/index.ts'
import type { CoreStats, Settled } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'

/** Codes of `error` frames, as the reference server has them. */
export type RefusalCode =
  | 'INVALID_JSON'
  | 'UNKNOWN_TYPE'
  | 'VALIDATION_ERROR'
  | 'EXECUTION_ERROR'
  | 'CAPACITY_REACHED'
  | 'FACTORY_ERROR'
  | 'SESSION_ERROR'

/** A request that is answered by an error. The message is shown to clients and holds nothing secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  /** More keys of the error's data. */
  readonly more: Readonly<Record<string, unknown>>

  constructor(code: RefusalCode, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.more = more
  }
}

export function invalid(message: string): Refusal {
  return new Refusal('VALIDATION_ERROR', message, { errors: [{ msg: message }] })
}

/** What the core refuses, in the words of this protocol. `reason` is our own code, which other servers do not send. */
export function refusalOf(
  { code, message, fault }: SessionError,
  { open, most }: CoreStats,
  opening = false,
): Refusal {
  switch (code) {
    case 'at_capacity':
      return new Refusal('CAPACITY_REACHED', message, { active_sessions: open, max_sessions: most })
    case 'draining':
    case 'session_gone':
    case 'session_unknown':
      return new Refusal('SESSION_ERROR', message, { reason: code })
    case 'infrastructure':
      if (fault === undefined) return new Refusal('EXECUTION_ERROR', message, { reason: code })
      return failure(fault, opening)
    default:
      return new Refusal('EXECUTION_ERROR', message, { reason: code })
  }
}

/** A fault is nobody's score, so it is never an observation: a reward of null would be summed as 0. */
export function failure({ owner, stage, code, retryable }: Fault, opening = false): Refusal {
  return new Refusal(
    opening ? 'FACTORY_ERROR' : 'EXECUTION_ERROR',
    `The episode failed for a reason that is nobody's score (${owner}: ${code}, in ${stage}); do not count it.`,
    { reason: 'infrastructure', fault: { owner, stage, code, retryable } },
  )
}

/** An episode without a number. */
export function unscored({ reason }: Extract<Settled, { kind: 'unscored' }>): Refusal {
  return new Refusal(
    'EXECUTION_ERROR',
    `The episode is over and has no score (${reason}); do not count it.`,
    { reason: 'unscored', unscored: reason },
  )
}

/** Whatever was thrown while a request was answered. What nobody foresaw is told to the log and not to the client. */
export function refusalFor(thrown: unknown, stats: CoreStats, log: (line: string) => void): Refusal {
  if (thrown instanceof Refusal) return thrown
  if (thrown instanceof SessionError) return refusalOf(thrown, stats)
  log(`openenv: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`)
  return new Refusal('EXECUTION_ERROR', 'The server failed; its log says why.', { reason: 'internal' })
}
