import {
  type Fault,
  type HarnessResult,
  type Model,
  ModelFault,
  QuintainError,
  type Seat,
} from '../core/index.ts'
import { redactedMessage } from '../core/redacted-message.ts'

/** Whose fault a failed call is, in words without secrets: scripts know the secret, and providers quote keys. */
export function faultOfCall(
  thrown: unknown,
  { seat, model, redact }: { seat: Seat; model: { id: string }; redact(text: string): string },
): Fault {
  const fault: Fault =
    thrown instanceof ModelFault
      ? { ...thrown.fault, message: redactedMessage(redact, thrown) }
      : {
          owner: 'platform',
          stage: 'model',
          code: 'client_threw',
          message: `the client of ${model.id} threw: ${redactedMessage(redact, thrown)}`,
          retryable: false,
        }
  // What fails behind a simulated user or an opponent is never booked with the agent's own provider.
  return seat === 'agent' ? fault : { ...fault, owner: 'simulator' }
}

/** What a call is that failed and is being tried again, should the rollout end before it is answered. */
export function notYetRecovered(seat: Seat): Fault {
  return {
    owner: seat === 'agent' ? 'provider' : 'simulator',
    stage: 'model',
    code: 'unrecovered',
    message: 'a model call had failed and was being tried again when the rollout ended',
    retryable: true,
  }
}

/** A simulated user or an opponent that breaks off is a fault; it says nothing of the agent. */
export function failureOfOtherSeat(seat: Seat, { outcome, stop }: HarnessResult): Fault | undefined {
  if (outcome === 'completed' || outcome === 'env_done') return undefined
  const message = `the part of seat "${seat}" ended as ${outcome}${stop === undefined ? '' : ` (${stop})`}`
  return { owner: 'simulator', stage: 'model', code: outcome, message, retryable: true }
}

/** A seat other than the agent's of which no more can be held. */
export function saysTooMuch(seat: Seat): Fault {
  const message = `seat "${seat}" said more in one rollout than is held of one`
  return { owner: 'simulator', stage: 'model', code: 'record_full', message, retryable: true }
}

/** A seat whose calls no limit of the task bounds asks without end. */
export function tooManyTurns(seat: Seat, turns: number): Fault {
  const message = `seat "${seat}" made ${turns} model calls in one rollout`
  return { owner: 'simulator', stage: 'model', code: 'too_many_turns', message, retryable: true }
}

/** A limit on what has no price would be no limit. */
export function priceUnknown({ id, priced }: Pick<Model, 'id' | 'priced'>): Fault {
  const why =
    priced === true
      ? `a reply of ${id} had no usage that its price could be put on; have its server tell the usage`
      : `the price of ${id} is unknown; give it a price`
  const message = `limit costUsd cannot be kept: ${why}, or lift the limit with costUsd: Infinity`
  return { owner: 'platform', stage: 'model', code: 'price_unknown', message, retryable: false }
}

export function noModel(seat: Seat): QuintainError {
  return new QuintainError(
    'needs_unmet',
    `The agent in seat "${seat}" asked for a model, and this run gives it none; say which (model: 'NAME', or -m NAME).`,
  )
}
