import { type Graded, isUnscored } from './environment.ts'

/** A reward value that was checked: a finite number, its steps if it had any, or a reason why there is none. */
export type CheckedReward =
  | {
      ok: true
      value: number | null
      steps?: number[]
      reason?: string
      checks?: { expected: number; run: number }
      explain?: unknown
    }
  | { ok: false; code: 'reward_not_a_number' | 'reward_not_finite' | 'checks_missing'; detail: string }

function describe(value: unknown): string {
  if (value === undefined) return 'nothing (undefined)'
  if (value === null) return 'null'
  if (typeof value === 'number') return String(value)
  if (Array.isArray(value)) return 'a list with something other than finite numbers in it'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/**
 * Checks what a reward function returned. There are no sentinels: NaN, Infinity, booleans, text and nothing are a
 * grader's fault, not a score. Steps are summed.
 */
export function checkReward(value: unknown): CheckedReward {
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return { ok: true, value }
    return { ok: false, code: 'reward_not_finite', detail: String(value) }
  }
  if (isUnscored(value))
    return { ok: true, value: null, reason: String(value.reason ?? '') || 'no_reason_given' }
  if (Array.isArray(value)) return checkSteps(value)
  if (typeof value === 'object' && value !== null && 'value' in value) {
    const graded = value as Graded
    const { checks } = graded
    if (checks !== undefined) {
      // Checks that were not counted are checks that did not run.
      if (!isCount(checks?.expected) || !isCount(checks.run)) {
        return {
          ok: false,
          code: 'checks_missing',
          detail: 'checks are not { expected, run } in whole numbers',
        }
      }
      if (checks.run < checks.expected) {
        return { ok: false, code: 'checks_missing', detail: `${checks.run} of ${checks.expected} checks ran` }
      }
    }
    const nested =
      typeof graded.value === 'object' && !Array.isArray(graded.value) && !isUnscored(graded.value)
    if (nested) return { ok: false, code: 'reward_not_a_number', detail: `value: ${describe(graded.value)}` }
    const inner = checkReward(graded.value)
    if (!inner.ok) return inner
    return {
      ...inner,
      ...(checks === undefined ? {} : { checks: { expected: checks.expected, run: checks.run } }),
      ...(graded.explain === undefined ? {} : { explain: graded.explain }),
    }
  }
  return { ok: false, code: 'reward_not_a_number', detail: describe(value) }
}

function checkSteps(value: readonly unknown[]): CheckedReward {
  if (value.length === 0) return { ok: false, code: 'reward_not_a_number', detail: 'an empty list' }
  // A copy first, so that holes are undefined like any other missing step.
  const steps: unknown[] = Array.from(value)
  if (!steps.every((step) => typeof step === 'number')) {
    return { ok: false, code: 'reward_not_a_number', detail: describe(value) }
  }
  if (!steps.every(Number.isFinite)) return { ok: false, code: 'reward_not_finite', detail: describe(value) }
  const sum = steps.reduce((all, step) => all + step, 0)
  if (!Number.isFinite(sum))
    return { ok: false, code: 'reward_not_finite', detail: 'steps whose sum is not finite' }
  return { ok: true, value: sum, steps }
}
