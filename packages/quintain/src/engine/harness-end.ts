import {
  type Content,
  content,
  FaultError,
  faultProblem,
  type HarnessResult,
  isThrown,
  messageOf,
  outcome,
  QuintainError,
  stackOf,
} from '../core/index.ts'
import { redactedMessage } from '../core/redacted-message.ts'
import { SeatStop } from '../gateway/index.ts'
import { kindOf } from './given.ts'
import type { PlayFailure } from './play.ts'
import { hideKeys } from './redact.ts'

/**
 * What a harness gave, as plain data; a `TypeError`, which is its program's failure, for what is no result. `said` is its
 * answer when it names none.
 */
export function checkedResult(given: unknown, name: string, said: Content | undefined): HarnessResult {
  const refuse = (what: string): never => {
    throw new TypeError(`harness ${name} gave ${what}; it gives { outcome, stop?, answer? }`)
  }
  if (typeof given !== 'object' || given === null) return refuse(kindOf(given))
  const { outcome: how, stop, answer = said } = given as Partial<Record<keyof HarnessResult, unknown>>
  const known = outcome.exclude(['cancelled']).safeParse(how)
  if (!known.success) return refuse('an outcome that is none')
  if (stop !== undefined && typeof stop !== 'string') return refuse('a "stop" that is no text')
  const heard = content.optional().safeParse(answer)
  if (!heard.success) return refuse('an answer that is neither text nor parts')
  return {
    outcome: known.data,
    ...(stop === undefined ? {} : { stop }),
    ...(heard.data === undefined ? {} : { answer: heard.data }),
  }
}

/** Whose doing it is that a harness threw; `over` is aborted once its attempt is over, and then it is nobody's. */
export function failureOf(thrown: unknown, over: AbortSignal): PlayFailure {
  if (over.aborted) return { by: 'over' }
  const text = hideKeys(stackOf(thrown))
  const message = redactedMessage(hideKeys, thrown)
  // A limit is in the account of the seat; a fault may be one that the harness has named.
  if (isThrown(thrown, SeatStop))
    return thrown.fault === undefined
      ? { by: 'over' }
      : { by: 'fault', fault: { ...thrown.fault, message }, text }
  if (isThrown(thrown, FaultError) && faultProblem(thrown.fault) === undefined) {
    const { owner, code, retryable } = thrown.fault
    return { by: 'fault', fault: { owner, stage: 'agent', code, message, retryable }, text }
  }
  if (QuintainError.isInstance(thrown)) {
    const { code } = thrown
    return {
      by: 'fault',
      fault: { owner: 'platform', stage: 'agent', code, message, retryable: false },
      text,
    }
  }
  return { by: 'agent', message: hideKeys(messageOf(thrown)), stack: text }
}
