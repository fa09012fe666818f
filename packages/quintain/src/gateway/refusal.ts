import { type DialectName, isThrown, ModelFault } from '../core/index.ts'
import { DialectError, type ReplyError } from '../models/dialects/dialect.ts'
import { SeatStop } from './seat-stop.ts'

/** An answer other than the one that was asked for. Its message is for the program. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly error: ReplyError
  /** Headers that say more. */
  readonly headers: Readonly<Record<string, string>>

  constructor(error: ReplyError, headers: Readonly<Record<string, string>> = {}) {
    super(error.message)
    this.error = error
    this.headers = headers
  }
}

/** What a program is told once its attempt is over. */
export const attemptOver: ReplyError = {
  status: 403,
  code: 'attempt_over',
  message: 'This attempt is over; its model answers no more. Trying again does not help.',
}

/** What is said of a body that did not come to its end, should anybody still listen. */
export function bodyBrokeOff(): Refusal {
  return new Refusal({ status: 400, code: 'invalid_request', message: 'The body broke off.' })
}

/** What a program is told of a defect, which is none of its business. */
export const broken: ReplyError = {
  status: 500,
  code: 'internal',
  message: 'The gateway failed on this request; the log of the run says how.',
}

/** The words by which agents of a dialect know that they are to shorten their history. */
const tooLong: Record<DialectName, string> = {
  chat: "This model's maximum context length is exceeded. Please reduce the length of the messages.",
  responses:
    'Your input exceeds the context window of this model (maximum context length). Please adjust your input and try again.',
  messages: 'prompt is too long: it exceeds the context window of this model',
}

const limits: Record<string, string> = {
  turn_limit: 'All model calls of this attempt are used up',
  token_limit: 'All output tokens of this attempt are used up',
  cost_limit: 'The money of this attempt is used up',
  wall_limit: 'The time of this attempt is used up',
  record_full: 'More was said in this attempt than is held of one',
}

/** Faults that say: too much at once, and not: something is broken. */
export const overloads = /^(?:http_(?:429|503|529)|rate_limit|overloaded)/

/**
 * What a program is told of a call that was not answered; undefined for a defect, of which it is told nothing. No status
 * here is one that official SDKs try again, other than those of a provider's fault, which say `x-should-retry: false`.
 */
export function refusalOf(thrown: unknown, dialect: DialectName): ReplyError | undefined {
  if (isThrown(thrown, Refusal)) return thrown.error
  if (isThrown(thrown, DialectError)) {
    const { code, message, param } = thrown
    return { status: 400, code, message, ...(param === undefined ? {} : { param }) }
  }
  if (!isThrown(thrown, SeatStop) && !isThrown(thrown, ModelFault)) return undefined
  if (isThrown(thrown, ModelFault) && thrown.rejected !== undefined) {
    const { fault, rejected } = thrown
    return { ...rejected, code: fault.code, message: fault.message }
  }
  const { outcome } = thrown
  const stop = isThrown(thrown, SeatStop) ? thrown.stop : undefined
  const fault = outcome === undefined && thrown.fault?.code !== 'cancelled' ? thrown.fault : undefined
  if (fault !== undefined) {
    const status = overloads.test(fault.code) ? 503 : 502
    return { status, code: fault.code, message: `The model gave no answer: ${fault.message}` }
  }
  if (outcome === undefined) return attemptOver
  if (outcome === 'context_overflow')
    return { status: 400, code: 'context_length_exceeded', message: tooLong[dialect] }
  if (outcome === 'refused')
    return {
      status: 400,
      code: 'content_filter',
      message: 'The provider refused this request for its content.',
    }
  const code = stop ?? outcome
  const what = limits[code] ?? 'This attempt has ended'
  return { status: 403, code, message: `${what} (${code}). Trying again does not help.` }
}
