export { type CoreOptions, openSessionCore } from './open-core.ts'
export type * from './session.ts'
export { SessionError, type SessionErrorCode } from './session-error.ts'
