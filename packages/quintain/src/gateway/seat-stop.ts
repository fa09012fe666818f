import type { Fault, Outcome } from '../core/index.ts'

/** Why a seat's part is over. */
export interface SeatEnd {
  outcome?: Exclude<Outcome, 'cancelled'> | undefined
  fault?: Fault | undefined
  stop?: string | undefined
}

/** The end of a seat's part that its harness did not choose: a limit, or a model that gave no answer. */
export class SeatStop extends Error {
  override readonly name = 'SeatStop'
  readonly outcome: Exclude<Outcome, 'cancelled'> | undefined
  readonly fault: Fault | undefined
  /** A word for it, where the outcome says too little. */
  readonly stop: string | undefined

  constructor(end: SeatEnd) {
    super(end.outcome ?? end.fault?.message ?? 'the rollout is over')
    this.outcome = end.outcome
    this.fault = end.fault
    this.stop = end.stop
  }
}

/** Told to whatever of a rollout still runs when it is over. One for all: making an error costs more than a turn. */
export const rolloutOver = new SeatStop({})
