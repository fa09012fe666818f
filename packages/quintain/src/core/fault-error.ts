import { type Fault, type FaultOwner, faultOwner } from './records.ts'

/**
 * Thrown by a world or a grader that knows whose fault a failure is: a box that was lost, a judge that gave no verdict,
 * a site that is down. Anything else that is thrown is the world's or the grader's own fault.
 *
 * One that is not whole (see `faultProblem`) is a fault of the code that threw it.
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

/** What is wrong with the fault of a `FaultError`, which untyped code may have made: the field, or undefined for none. */
export function faultProblem(fault: unknown): string | undefined {
  if (typeof fault !== 'object' || fault === null) return 'it has no fault'
  const { owner, code, message, retryable } = fault as Record<string, unknown>
  if (!faultOwner.safeParse(owner).success) return `owner is not one of ${faultOwner.options.join(', ')}`
  if (typeof code !== 'string' || !/^[a-z0-9_-]{1,64}$/.test(code))
    return 'code is not 1 to 64 of a-z, 0-9, "_" and "-"'
  if (typeof message !== 'string') return 'message is no text'
  return typeof retryable === 'boolean' ? undefined : 'retryable is neither true nor false'
}
