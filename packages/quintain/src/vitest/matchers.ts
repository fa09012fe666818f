import { expect } from 'vitest'
import type { RunResult } from '../evaluate.ts'
import { estimateText, shareText } from '../report/index.ts'

interface QuintainMatchers<R = unknown> {
  /** The lower end of the 95 % interval of the success rate is at least `rate`; below full coverage it never is. */
  toReachSuccess(rate: number): R
  /** At least this share of the orders was scored; 1 when absent. */
  toHaveCoverage(share?: number): R
}

declare module 'vitest' {
  // The parameters must be named as Vitest names them.
  interface Matchers<R extends void | Promise<void>, T> extends QuintainMatchers<R> {}
}

function isRunResult(value: unknown): value is Pick<RunResult, 'success' | 'coverage'> {
  return typeof value === 'object' && value !== null && 'success' in value && 'coverage' in value
}

function noResult() {
  return { pass: false, message: () => 'expected the result of evaluate() or resume()' }
}

expect.extend({
  toReachSuccess(run: unknown, rate: number) {
    if (!isRunResult(run)) return noResult()
    const { success } = run
    const pass = success.value !== null && success.interval[0] >= rate
    return {
      pass,
      message: () =>
        `expected the lower end of the interval ${pass ? 'below' : 'to reach'} ${rate}: ${estimateText('success', success)}`,
      actual: success.interval[0],
      expected: rate,
    }
  },
  toHaveCoverage(run: unknown, share = 1) {
    if (!isRunResult(run)) return noResult()
    const coverage = run.coverage ?? 0
    return {
      pass: coverage >= share,
      message: () =>
        `expected ${shareText(share)} of the orders to be scored, and ${shareText(run.coverage)} were`,
      actual: coverage,
      expected: share,
    }
  },
})
