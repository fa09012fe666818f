import { isLevel, type Scope } from './scope.ts'

export interface SequentialState {
  /** Tasks seen, and tasks with results that are missing: those of `add(null)` moved nothing and are not in `n`. */
  n: number
  missing: number
  /** Of a task that is known within bounds the middle is taken. */
  mean: number | null
  /** The evidence against "no difference": largest capital so far of a gambler who bets on one, starting with 1. */
  e: number
  /** 1 / e, at most 1: a p-value that may be looked at after every task and acted on at once. */
  p: number | null
  /** Holds the true mean difference at every moment at once with the given level; null before the first difference. */
  interval: [number, number] | null
  level: number
  scope: Scope
  /**
   * `higher`, `lower`: the difference is not zero, at an error rate of 1 - level. `small`: it lies inside the margin.
   * `continue`: not decided. `invalid`: a difference lay outside the declared range, or the range is none, so nothing can be said.
   */
  decision: 'continue' | 'higher' | 'lower' | 'small' | 'invalid'
  reason?: 'out_of_range' | 'bad_range' | 'level_out_of_range' | 'no_scores'
}

export interface SequentialOptions {
  level?: number
  /** The largest difference there can be, either way; 1 for scores from 0 to 1. */
  largest?: number
  /** Differences smaller than this are of no interest: the comparison may stop when the true one must be smaller. */
  margin?: number
}

/** Bets, as shares of the largest bet that cannot ruin: large ones win fast on large differences, small ones on small. */
const stakes = Float64Array.from({ length: 16 }, (_, j) => 0.95 * 2 ** (-j / 2.5))

/**
 * A paired comparison that may be stopped at any time: after each task its difference a - b goes in, and when `decision`
 * is not `continue` nothing more need be run. Looking after every task costs nothing in validity, as it would with a
 * fixed-n test: under "no difference" the chance that p ever falls to alpha is at most alpha.
 *
 * Tasks must come in an order that does not depend on their results, best a shuffled one; the differences must lie in
 * [-largest, largest]. Give the mean of a task's repeats, not each repeat. Ties and pass/fail need no other treatment.
 *
 * The test is a mixture of hedged capital processes with constant bets, and the interval is its confidence sequence.
 * Source: Waudby-Smith and Ramdas, "Estimating Means of Bounded Random Variables by Betting" (JRSS B 86, 2024).
 *
 * @example
 * const test = new SequentialComparison()
 * for (const difference of [1, 0, 1, 1]) test.add(difference)
 * test.state().decision
 */
export class SequentialComparison {
  readonly #level: number
  readonly #largest: number
  readonly #margin: number
  /** How often each difference came, at its lowest and its highest: the capital does not depend on their order. */
  readonly #lows = new Map<number, number>()
  readonly #highs = new Map<number, number>()
  readonly #up = new Float64Array(stakes.length)
  readonly #down = new Float64Array(stakes.length)
  #n = 0
  #missing = 0
  #sum = 0
  #logE = 0
  #outside = false
  /** The interval of the moment at which the difference was first proven; later ones may only be narrower. */
  #proven: [number, number] | undefined

  constructor({ level = 0.95, largest = 1, margin = 0 }: SequentialOptions = {}) {
    this.#level = level
    this.#largest = largest
    this.#margin = margin
  }

  /** Takes the difference of the next task; null for one whose result is missing. */
  add(difference: number | null): void {
    if (difference === null || Number.isNaN(difference)) {
      this.#missing++
      return
    }
    this.#take(difference, difference)
  }

  /**
   * Takes a task of whose difference only bounds are known, since results of it are missing: it counts at its lowest
   * against "higher", and at its highest against "lower", so that nothing that is missing can decide.
   */
  addBetween(lowest: number, highest: number): void {
    if (!(lowest <= highest)) this.#outside = true
    else this.#take(lowest, highest)
    if (lowest < highest) this.#missing++
  }

  #take(lowest: number, highest: number): void {
    const [low, high] = [lowest / this.#largest, highest / this.#largest]
    if (!isPositive(this.#largest) || !(Math.abs(low) <= 1 + 1e-12) || !(Math.abs(high) <= 1 + 1e-12)) {
      this.#outside = true
      return
    }
    this.#n++
    this.#sum += (lowest + highest) / 2
    this.#lows.set(lowest, (this.#lows.get(lowest) ?? 0) + 1)
    this.#highs.set(highest, (this.#highs.get(highest) ?? 0) + 1)
    for (const [j, stake] of stakes.entries()) {
      this.#up[j]! += Math.log1p(stake * low)
      this.#down[j]! += Math.log1p(-stake * high)
    }
    // Each half of the capital alone, so that p and the interval, which is made of the halves, never disagree.
    this.#logE = Math.max(this.#logE, Math.max(logMean(this.#up), logMean(this.#down)) - Math.LN2)
    if (this.#proven === undefined && isLevel(this.#level) && this.#logE >= -Math.log(1 - this.#level)) {
      this.#proven = this.#bounds()
    }
  }

  /** 1 / e, at most 1, as in `state`, which also works out the interval and so costs more. */
  get p(): number | null {
    return this.#n === 0 || this.#outside || !isLevel(this.#level)
      ? null
      : Math.exp(-Math.min(700, this.#logE))
  }

  /** Where the comparison stands. */
  state(): SequentialState {
    const e = Math.exp(Math.min(700, this.#logE))
    const facts = {
      n: this.#n,
      missing: this.#missing,
      mean: this.#n === 0 ? null : this.#sum / this.#n,
      e,
      level: this.#level,
      scope: 'new tasks',
    } as const
    if (!isPositive(this.#largest))
      return { ...facts, p: null, interval: null, decision: 'invalid', reason: 'bad_range' }
    if (this.#outside)
      return { ...facts, p: null, interval: null, decision: 'invalid', reason: 'out_of_range' }
    if (!isLevel(this.#level))
      return { ...facts, p: null, interval: null, decision: 'invalid', reason: 'level_out_of_range' }
    if (this.#n === 0) return { ...facts, p: null, interval: null, decision: 'continue', reason: 'no_scores' }
    const interval = this.#bounds()
    if (this.#proven !== undefined) {
      interval[0] = Math.max(interval[0], this.#proven[0])
      interval[1] = Math.min(interval[1], this.#proven[1])
    }
    return { ...facts, p: this.p, interval, decision: this.#decide(interval) }
  }

  #decide([low, high]: readonly [number, number]): SequentialState['decision'] {
    if (this.#proven !== undefined) return this.#proven[0] >= 0 ? 'higher' : 'lower'
    return low > -this.#margin && high < this.#margin ? 'small' : 'continue'
  }

  /** The means that no bet has refuted at the level. Capital against a mean falls as the mean moves away, so bisection finds them. */
  #bounds(): [number, number] {
    // From 0 to 1, as the betting literature has it.
    const share = (difference: number) => Math.min(1, Math.max(0, (difference / this.#largest + 1) / 2))
    const values = [...this.#lows].map(([difference, count]) => ({ x: share(difference), count }))
    const mirrored = [...this.#highs].map(([difference, count]) => ({ x: 1 - share(difference), count }))
    const refuted = Math.LN2 - Math.log(1 - this.#level)
    const scale = (x: number) => (2 * x - 1) * this.#largest
    return [scale(lowerBound(values, refuted)), scale(1 - lowerBound(mirrored, refuted))]
  }
}

const isPositive = (value: number) => value > 0 && value < Number.POSITIVE_INFINITY

/** The smallest mean in [0, 1] against which the bets on a larger one have not won enough. */
function lowerBound(values: readonly { x: number; count: number }[], refuted: number): number {
  let low = 0
  let high = 1
  const logs = new Float64Array(stakes.length)
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2
    for (const [j, stake] of stakes.entries()) {
      let log = 0
      for (const { x, count } of values) log += count * Math.log1p(stake * (x / middle - 1))
      logs[j] = log
    }
    if (logMean(logs) >= refuted) low = middle
    else high = middle
  }
  return low
}

/** log of the mean of exponentials. */
function logMean(logs: Float64Array): number {
  const top = Math.max(...logs)
  let sum = 0
  for (const log of logs) sum += Math.exp(log - top)
  return top + Math.log(sum / logs.length)
}
