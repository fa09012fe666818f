import type { Fault } from '../../core/index.ts'

/** Why a session, or a step of one, was refused. */
export type SessionErrorCode =
  /** As many sessions are open as may be; later there may be room. */
  | 'at_capacity'
  /** The server takes no more sessions. */
  | 'draining'
  | 'unknown_split'
  | 'unknown_task'
  /** The environment's worlds are not made from that seed. */
  | 'seed_refused'
  /** A request that says something else than the one that it repeats. */
  | 'session_conflict'
  | 'call_conflict'
  | 'session_unknown'
  /** It was closed, or has expired. */
  | 'session_gone'
  /** More steps wait than a session holds. */
  | 'busy'
  /** Nothing was carried out: the episode had ended. */
  | 'episode_over'
  /** Something failed that is nobody's score; `fault` says what. */
  | 'infrastructure'

/** What `SessionCore` and `Session` throw. The message says what to do and holds nothing secret. */
export class SessionError extends Error {
  override readonly name = 'SessionError'
  readonly code: SessionErrorCode
  readonly fault: Fault | undefined

  constructor(code: SessionErrorCode, message: string, { fault }: { fault?: Fault } = {}) {
    super(message)
    this.code = code
    this.fault = fault
  }
}
