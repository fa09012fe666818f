import { binomialProbability } from './binomial.ts'
import { normalQuantile } from './normal.ts'
import type { Defined } from './pass-at-k.ts'
import { areRates } from './power.ts'

export interface Discordance {
  /** psi: share of tasks in which one side succeeds and the other fails, 0 to 1. */
  discordant: number
  alpha?: number
  power?: number
  /**
   * `exact`, when absent: of McNemar's exact test, the one that is reported. `formula`: the large-sample formula with
   * its variance under the difference, psi - delta^2; a few tasks lower.
   */
  test?: 'exact' | 'formula'
}

export type DiscordanceReason = 'exceeds_discordance' | 'no_difference' | 'too_many_tasks' | 'bad_design'

/**
 * Chance that McNemar's exact test finds a true difference of success rates, with one sample of each task on each side.
 * The test is two-sided; only finding the right sign counts.
 */
export function mcnemarPower(
  difference: number,
  tasks: number,
  { discordant, alpha = 0.05 }: Pick<Discordance, 'discordant' | 'alpha'>,
): Defined<DiscordanceReason> {
  const size = Math.abs(difference)
  if (
    !(discordant > 0 && discordant <= 1) ||
    !areRates(alpha, 0.999) ||
    !Number.isInteger(tasks) ||
    tasks < 1
  )
    return { value: null, reason: 'bad_design' }
  if (Number.isNaN(size)) return { value: null, reason: 'bad_design' }
  if (size > discordant + 1e-12) return { value: null, reason: 'exceeds_discordance' }
  const wins = Math.min(1, (discordant + size) / (2 * discordant))
  // Critical losses: the most of m discordant pairs with which the test still rejects. It grows with m, by at most one.
  let critical = -1
  // P(losses <= critical) under even chances, and under the true ones; both are carried from m to m + 1.
  let evenTail = 0
  let lossTail = 0
  let power = 0
  // Pascal's rule: P_{m+1}(X <= c) = P_m(X <= c) - q * P_m(X = c), where q is the chance of one more loss.
  for (let m = 1; m <= tasks; m++) {
    if (critical >= 0) {
      evenTail -= 0.5 * binomialProbability(critical, m - 1, 0.5)
      lossTail -= (1 - wins) * binomialProbability(critical, m - 1, 1 - wins)
    }
    while (critical + 1 <= m / 2) {
      const next = evenTail + binomialProbability(critical + 1, m, 0.5)
      if (2 * next > alpha * (1 + 1e-12)) break
      critical++
      evenTail = next
      lossTail += binomialProbability(critical, m, 1 - wins)
    }
    if (critical >= 0) power += binomialProbability(m, tasks, discordant) * Math.max(0, lossTail)
  }
  return { value: Math.min(1, power) }
}

/**
 * The fewest tasks with which a true difference of success rates is found, one sample of each task on each side.
 * Null with `exceeds_discordance` for a difference above psi: two rates cannot differ on more tasks than differ.
 *
 * The formula: n = (z_(1-alpha/2) sqrt(psi) + z_power sqrt(psi - delta^2))^2 / delta^2.
 * Source: Connor, "Sample Size for Testing Differences in Proportions for the Paired-Sample Design" (Biometrics 43, 1987).
 */
export function requiredTasksPaired(difference: number, options: Discordance): Defined<DiscordanceReason> {
  const { discordant, alpha = 0.05, power = 0.8, test = 'exact' } = options
  const size = Math.abs(difference)
  if (!(discordant > 0 && discordant <= 1) || !areRates(alpha, power))
    return { value: null, reason: 'bad_design' }
  if (!(size > 0)) return { value: null, reason: 'no_difference' }
  if (size > discordant + 1e-12) return { value: null, reason: 'exceeds_discordance' }
  const start = Math.max(1, Math.ceil(formula(size, discordant, alpha, power) - 1e-9))
  // More tasks than can be counted.
  if (!(start <= Number.MAX_SAFE_INTEGER)) return { value: null, reason: 'too_many_tasks' }
  if (test === 'formula' || start > exactTasks) return { value: start }
  // By single tasks where that matters; by a thousandth of them beyond.
  const step = Math.max(1, Math.floor(start / 1000))
  let tasks = start
  while ((mcnemarPower(size, tasks, options).value ?? 1) < power) tasks += step
  return { value: tasks }
}

/** Above so many tasks the exact test and the formula agree to a part in a hundred. */
const exactTasks = 20_000

function formula(size: number, discordant: number, alpha: number, power: number): number {
  const [za, zb] = [normalQuantile(1 - alpha / 2), normalQuantile(power)]
  return ((za * Math.sqrt(discordant) + zb * Math.sqrt(Math.max(0, discordant - size * size))) / size) ** 2
}

/**
 * The smallest true difference of success rates that `tasks` tasks find, one sample of each task on each side. Null with
 * `exceeds_discordance` where not even the largest possible one, psi, is found.
 */
export function smallestDetectablePaired(tasks: number, options: Discordance): Defined<DiscordanceReason> {
  const { discordant, alpha = 0.05, power = 0.8, test = 'exact' } = options
  if (!(discordant > 0 && discordant <= 1) || !areRates(alpha, power))
    return { value: null, reason: 'bad_design' }
  if (!Number.isInteger(tasks) || tasks < 1) return { value: null, reason: 'bad_design' }
  const found = (size: number) =>
    test === 'formula' || tasks > exactTasks
      ? formula(size, discordant, alpha, power) <= tasks
      : (mcnemarPower(size, tasks, options).value ?? 0) >= power
  if (!found(discordant)) return { value: null, reason: 'exceeds_discordance' }
  let low = 0
  let high = discordant
  for (let i = 0; i < 50 && high - low > 1e-7; i++) {
    const middle = (low + high) / 2
    if (found(middle)) high = middle
    else low = middle
  }
  return { value: high }
}
