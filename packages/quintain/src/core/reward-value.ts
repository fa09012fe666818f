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
  return `a ${typeof value}`
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
  if (isUnscored(value)) return { ok: true, value: null, reason: value.reason }
  if (Array.isArray(value)) {
    if (value.length === 0) return { ok: false, code: 'reward_not_a_number', detail: 'an empty list' }
    if (!value.every((step) => typeof step === 'number')) {
      return { ok: false, code: 'reward_not_a_number', detail: describe(value) }
    }
    if (!value.every(Number.isFinite))
      return { ok: false, code: 'reward_not_finite', detail: describe(value) }
    return { ok: true, value: value.reduce((sum, step) => sum + step, 0), steps: value.slice() }
  }
  if (typeof value === 'object' && value !== null && 'value' in value) {
    const graded = value as Graded
    const { checks } = graded
    if (checks !== undefined && !(checks.run >= checks.expected)) {
      return { ok: false, code: 'checks_missing', detail: `${checks.run} of ${checks.expected} checks ran` }
    }
    const inner = checkReward(graded.value)
    if (!inner.ok) return inner
    return {
      ...inner,
      ...(checks === undefined ? {} : { checks }),
      ...(graded.explain === undefined ? {} : { explain: graded.explain }),
    }
  }
  return { ok: false, code: 'reward_not_a_number', detail: describe(value) }
}
