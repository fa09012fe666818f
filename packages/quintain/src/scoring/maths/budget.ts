import type { MathReason } from './math-policy.ts'

/** Thrown inside a comparison that has to be given up; never leaves it. */
export class MathLimit extends Error {
  override readonly name = 'MathLimit'
  readonly reason: Extract<MathReason, 'too_large' | 'deadline'>

  constructor(reason: 'too_large' | 'deadline') {
    super(reason)
    this.reason = reason
  }
}

/** Work between two looks at the clock. */
const workPerLook = 512
/** Terms of one polynomial. */
export const mostTerms = 400
/** Bits of one whole number. */
export const mostBits = 200_000
/** Work of one comparison, whatever the clock says: a slow machine gives the same verdicts. */
const mostWork = 2_000_000

/** What one comparison may spend: a count of steps that is the same on every machine, and a wall clock behind it. */
export class Budget {
  private work = 0
  private next = workPerLook
  private readonly end: number

  constructor(deadlineMs: number) {
    this.end = performance.now() + deadlineMs
  }

  spend(steps = 1): void {
    this.work += steps
    if (this.work < this.next) return
    this.next = this.work + workPerLook
    if (this.work > mostWork) throw new MathLimit('too_large')
    if (performance.now() > this.end) throw new MathLimit('deadline')
  }
}
