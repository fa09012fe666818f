import { noncentralTCdf } from './noncentral-t.ts'
import { normalCdf, normalQuantile } from './normal.ts'
import type { Defined } from './pass-at-k.ts'
import type { Scope } from './scope.ts'
import { studentTQuantile } from './student-t.ts'

/** What the scores are like, and what is compared with what. Variances are of scores, in score units squared. */
export interface Design {
  /** `paired`: two policies on the same tasks, by task. `constant`: one policy against a fixed number. */
  kind: 'paired' | 'constant'
  /** Variance between tasks: of their true means for `constant`, of the true differences for `paired`. */
  between: number
  /** Variance of the repeats of a task, mean over tasks. */
  within: number
  /** The same of the other policy; as `within` when absent. `paired` only. */
  withinOther?: number
  /** Scored repeats of each task, and of the other policy (as `repeats` when absent). May be Infinity. */
  repeats: number
  repeatsOther?: number
  /** `these tasks again` leaves out the variance between tasks: the question is whether it differs on these very tasks. */
  scope?: Scope
}

export interface PowerOptions {
  /** Two-sided error rate; 0.05 when absent. */
  alpha?: number
  /** Chance to find a difference that is there; 0.8 when absent. */
  power?: number
  /** Largest difference there can be, so that what lies beyond it is told as infeasible; 1 for rates. No limit when absent. */
  largest?: number
  /** `t`, when absent: exact for a t test of normal means. `normal`: the published formula, a little low for few tasks. */
  reference?: 't' | 'normal'
}

export type PowerReason = 'single_task' | 'beyond_largest' | 'no_variance' | 'bad_design'

/** Variance of one task's mean or difference: omega^2 + sigma^2/K, or omega_d^2 + sigma_A^2/K_A + sigma_B^2/K_B. */
export function taskVariance(design: Design): number {
  const { kind, between, within, repeats, withinOther = within, repeatsOther = repeats } = design
  const { scope = 'new tasks' } = design
  const noise = within / repeats + (kind === 'paired' ? withinOther / repeatsOther : 0)
  return (scope === 'new tasks' ? between : 0) + noise
}

/** Whether an error rate and a power can be computed with: between a millionth of a millionth and one, power above alpha. */
export function areRates(alpha: number, power: number): boolean {
  return alpha >= 1e-12 && power > alpha && power <= 1 - 1e-12
}

function checked(design: Design, { alpha = 0.05, power = 0.8 }: PowerOptions): PowerReason | undefined {
  const { between, within, repeats, withinOther = 0, repeatsOther = repeats } = design
  const variances = [between, within, withinOther].every(
    (value) => value >= 0 && value < Number.POSITIVE_INFINITY,
  )
  if (!variances || !(repeats > 0) || !(repeatsOther > 0)) return 'bad_design'
  if (!areRates(alpha, power)) return 'bad_design'
  // Below that a spread is rounding, and its root over the tasks may be zero.
  return taskVariance(design) > 1e-200 ? undefined : 'no_variance'
}

/** Chance that a two-sided t test over `tasks` tasks finds a true difference. 0 to 1, or null with the reason. */
export function powerOf(
  difference: number,
  tasks: number,
  design: Design,
  options: PowerOptions = {},
): Defined<PowerReason> {
  const reason = checked(design, options)
  if (reason !== undefined) return { value: null, reason }
  if (!(tasks >= 2)) return { value: null, reason: 'single_task' }
  if (tasks === Number.POSITIVE_INFINITY) return { value: null, reason: 'bad_design' }
  const effect = Math.abs(difference) / Math.sqrt(taskVariance(design) / tasks)
  return { value: chance(effect, tasks, options) }
}

/** Chance of a significant result when the standardised effect is `effect`. */
function chance(effect: number, tasks: number, { alpha = 0.05, reference = 't' }: PowerOptions): number {
  // At a hundred thousand tasks t and normal are one to six digits, and far out everything is found.
  if (reference === 'normal' || tasks > 100_000 || effect > 30) {
    const critical = normalQuantile(1 - alpha / 2)
    // The published formula leaves out the other tail: finding the difference with the wrong sign is no success.
    return normalCdf(effect - critical)
  }
  const critical = studentTQuantile(1 - alpha / 2, tasks - 1)
  return 1 - noncentralTCdf(critical, tasks - 1, effect)
}

/**
 * The smallest true difference that `tasks` tasks find with the given power. Null with a reason where there is none:
 * `beyond_largest` says that no difference that can be is large enough.
 *
 * With `reference: 'normal'` this is (z_(1-alpha/2) + z_power) * sqrt(task variance / tasks), as in Miller, "Adding
 * Error Bars to Evals" (arXiv 2411.00640), section 5.
 */
export function smallestDetectable(
  tasks: number,
  design: Design,
  options: PowerOptions = {},
): Defined<PowerReason> {
  const reason = checked(design, options)
  if (reason !== undefined) return { value: null, reason }
  if (!(tasks >= 2)) return { value: null, reason: 'single_task' }
  if (tasks === Number.POSITIVE_INFINITY) return { value: null, reason: 'bad_design' }
  const { alpha = 0.05, power = 0.8, largest = Number.POSITIVE_INFINITY, reference = 't' } = options
  const effect =
    reference === 'normal'
      ? normalQuantile(1 - alpha / 2) + normalQuantile(power)
      : effectFor(tasks, power, options)
  const value = effect * Math.sqrt(taskVariance(design) / tasks)
  return value > largest ? { value: null, reason: 'beyond_largest' } : { value }
}

function effectFor(tasks: number, power: number, options: PowerOptions): number {
  let low = 0
  let high = 4
  while (chance(high, tasks, options) < power && high < 1e6) high *= 2
  for (let i = 0; i < 60 && high - low > 1e-9 * high; i++) {
    const middle = (low + high) / 2
    if (chance(middle, tasks, options) < power) low = middle
    else high = middle
  }
  return high
}

/**
 * The fewest tasks that find a true difference with the given power. Null with a reason where no number does.
 *
 * With `reference: 'normal'` this is (z_(1-alpha/2) + z_power)^2 * task variance / difference^2, rounded up.
 */
export function requiredTasks(
  difference: number,
  design: Design,
  options: PowerOptions = {},
): Defined<PowerReason | 'no_difference' | 'too_many_tasks'> {
  const reason = checked(design, options)
  if (reason !== undefined) return { value: null, reason }
  const { alpha = 0.05, power = 0.8, largest = Number.POSITIVE_INFINITY, reference = 't' } = options
  const size = Math.abs(difference)
  if (!(size > 0)) return { value: null, reason: 'no_difference' }
  if (size > largest) return { value: null, reason: 'beyond_largest' }
  const factor = (normalQuantile(1 - alpha / 2) + normalQuantile(power)) ** 2
  const exact = (factor * taskVariance(design)) / (size * size)
  // A quotient that is whole but for rounding is not rounded up.
  const start = Math.max(2, Math.ceil(exact - 1e-9 * exact))
  // More tasks than can be counted.
  if (!(start <= Number.MAX_SAFE_INTEGER)) return { value: null, reason: 'too_many_tasks' }
  if (reference === 'normal') return { value: start }
  let tasks = start
  while (tasks < 100_000 && (powerOf(size, tasks, design, options).value ?? 1) < power) tasks++
  return { value: tasks }
}
