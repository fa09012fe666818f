import { SeatStop } from '../gateway/index.ts'
import { rolloutBaseURL } from './model-fetch.ts'

/** The marks by which any copy of the AI SDK knows its errors. */
const sdkError: unique symbol = Symbol.for('vercel.ai.error')
const apiCallError: unique symbol = Symbol.for('vercel.ai.error.AI_APICallError')

/**
 * A call that this rollout's model did not answer, for the frameworks that ask it in this process. It is an error as the AI
 * SDK knows them: its marks, and "do not retry", since the gateway has. The cause is the end of the seat.
 */
class RefusedCall extends Error {
  override readonly name = 'AI_APICallError'
  readonly url = rolloutBaseURL
  readonly requestBodyValues: unknown
  readonly statusCode: number
  readonly isRetryable = false
  readonly data: { error: { code: string; message: string } }
  readonly [sdkError] = true
  readonly [apiCallError] = true

  constructor(cause: SeatStop, requestBodyValues: unknown) {
    const code = cause.outcome ?? cause.fault?.code ?? 'attempt_over'
    const message = refusalMessage(cause)
    super(message, { cause })
    this.requestBodyValues = requestBodyValues
    this.statusCode = cause.fault === undefined ? 403 : 502
    this.data = { error: { code, message } }
  }
}

/** Why a seat's model is not asked any more, in words for an agent. */
function refusalMessage({ outcome, fault }: SeatStop): string {
  if (outcome !== undefined) return `the rollout has reached its end: ${outcome}`
  return fault === undefined ? 'the rollout is over' : `the model gave no answer: ${fault.message}`
}

/** What a call of the seat's model threw, as its caller is to see it. */
export function asRefusal(thrown: unknown, requestBodyValues: unknown): unknown {
  return thrown instanceof SeatStop ? new RefusedCall(thrown, requestBodyValues) : thrown
}
