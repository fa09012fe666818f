import type { Fault, FaultOwner } from './records.ts'

/**
 * Thrown by a world or a grader that knows whose fault a failure is: a box that was lost, a judge that gave no verdict,
 * a site that is down. Anything else that is thrown is the world's or the grader's own fault.
 *
 * @example throw new FaultError({ owner: 'judge', code: 'no_verdict', message: 'the judge refused', retryable: true })
 */
export class FaultError extends Error {
  override readonly name = 'FaultError'
  readonly fault: Omit<Fault, 'stage'>

  constructor(
    fault: { owner: FaultOwner; code: string; message: string; retryable: boolean },
    cause?: unknown,
  ) {
    super(fault.message, cause === undefined ? undefined : { cause })
    this.fault = fault
  }
}
