import { FaultError, isThrown } from '../core/index.ts'
import { SeatStop } from '../gateway/index.ts'

/** The end of a seat by a fault that is not the agent's: nobody's score. */
export function platformFault(code: string, message: string, retryable: boolean): SeatStop {
  return new SeatStop({ fault: { owner: 'platform', stage: 'attempt', code, message, retryable } })
}

/** What a box threw, as the end of the seat that it is: a lost box is never the agent's failure. */
export function asSeatStop(thrown: unknown): unknown {
  return isThrown(thrown, FaultError)
    ? new SeatStop({ fault: { ...thrown.fault, stage: 'attempt' } })
    : thrown
}
