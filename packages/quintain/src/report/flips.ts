import type { ScoredTask } from './scored-run.ts'

/**
 * How a task changed from one run to another.
 *
 * `fixed`: no attempt succeeded before, and every one does now; `broken` is the reverse. `unstable`: the attempts of one
 * run, at least, disagree among themselves, so that the change may be luck. Where an environment does not say what
 * success is, only the mean reward speaks: `higher` and `lower`.
 */
export type FlipKind = 'fixed' | 'broken' | 'unstable' | 'higher' | 'lower'

export interface Flip {
  task: string
  kind: FlipKind
  /** Successes (or the sum of rewards) and the scored attempts of them, before and after. */
  from: { sum: number; n: number }
  to: { sum: number; n: number }
}

const flipKinds = ['broken', 'fixed', 'unstable', 'lower', 'higher'] as const satisfies readonly FlipKind[]

function tally(scores: readonly number[]): { sum: number; n: number } {
  return { sum: scores.reduce((sum, score) => sum + score, 0), n: scores.length }
}

function successFlip(before: readonly number[], after: readonly number[]): FlipKind | undefined {
  const [from, to] = [tally(before), tally(after)]
  const whole = ({ sum, n }: { sum: number; n: number }) => sum === 0 || sum === n
  if (!whole(from) || !whole(to)) return 'unstable'
  if ((from.sum === 0) === (to.sum === 0)) return undefined
  return from.sum === 0 ? 'fixed' : 'broken'
}

/** Tasks of both runs that do not stand as they stood, those that broke first; the largest changes first within a kind. */
export function flipsOf(
  pairs: Iterable<readonly [before: ScoredTask, after: ScoredTask]>,
  measure: 'success' | 'reward',
): Flip[] {
  const flips: Flip[] = []
  for (const [before, after] of pairs) {
    const [a, b] =
      measure === 'success' ? [before.successes, after.successes] : [before.rewards, after.rewards]
    if (a.length === 0 || b.length === 0) continue
    const [from, to] = [tally(a), tally(b)]
    const change = to.sum / to.n - from.sum / from.n
    const kind =
      measure === 'success' ? successFlip(a, b) : change > 0 ? 'higher' : change < 0 ? 'lower' : undefined
    if (kind !== undefined) flips.push({ task: before.id, kind, from, to })
  }
  const change = ({ from, to }: Flip) => Math.abs(to.sum / to.n - from.sum / from.n)
  return flips.sort((x, y) => flipKinds.indexOf(x.kind) - flipKinds.indexOf(y.kind) || change(y) - change(x))
}
