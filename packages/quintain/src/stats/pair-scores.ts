/** The score of a task, or the scores of its repeats; null and what is not finite are missing. */
export type TaskScore = number | null | readonly (number | null)[]

/** A task that both sides scored. */
export interface Pair {
  id: string
  /** Mean of the repeats that have a score. */
  a: number
  b: number
}

/** Mean of the scores that a task has; null without any. */
export function taskMean(score: TaskScore): number | null {
  if (score === null || typeof score === 'number') {
    return score !== null && Number.isFinite(score) ? score : null
  }
  let sum = 0
  let n = 0
  for (const one of score) {
    if (one === null || !Number.isFinite(one)) continue
    sum += one
    n++
  }
  if (n === 0) return null
  // Only a sum of numbers near the largest there are is none itself, and then each is divided first.
  return Number.isFinite(sum)
    ? sum / n
    : score.reduce<number>((total, one) => total + (one !== null && Number.isFinite(one) ? one / n : 0), 0)
}

/** Whether two means are one number but for rounding: the same repeats in another order may differ in the last digit. */
export function areEqual(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b))
}

/** Puts the tasks of two sides together by id: pairs in the order of `a`, and the ids that have no score on a side. */
export function pairScores(
  a: ReadonlyMap<string, TaskScore>,
  b: ReadonlyMap<string, TaskScore>,
): { pairs: Pair[]; dropped: string[] } {
  const pairs: Pair[] = []
  const dropped: string[] = []
  for (const [id, score] of a) {
    const left = taskMean(score)
    const right = taskMean(b.get(id) ?? null)
    if (left === null || right === null) dropped.push(id)
    else pairs.push({ id, a: left, b: areEqual(left, right) ? left : right })
  }
  for (const id of b.keys()) if (!a.has(id)) dropped.push(id)
  return { pairs, dropped }
}

/** Whether every score is a zero or a one: a rate, whose range is known. */
export function isBinary(scores: ReadonlyMap<string, TaskScore>): boolean {
  const plain = (score: number | null) =>
    score === null || score === 0 || score === 1 || !Number.isFinite(score)
  for (const score of scores.values()) {
    if (score === null || typeof score === 'number' ? !plain(score) : !score.every(plain)) return false
  }
  return true
}
