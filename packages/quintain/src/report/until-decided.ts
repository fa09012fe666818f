import { SequentialComparison, type SequentialState } from '../stats/index.ts'

/** A result of one of two runs over one plan. */
export interface SideResult {
  /** 0 for the first run, 1 for the second. */
  side: 0 | 1
  /** Place of the order in the plan, in which the repeats of a task stand together. */
  seq: number
  /** Zero to one; null for an order that ended without a score. */
  score: number | null
}

/**
 * Compares two runs while they go on, and says when enough is known. Tasks are taken in the order of the plan, each when
 * both runs have all its repeats, so that quick tasks do not come before slow ones. A result that is missing counts at its
 * worst for whatever would be decided: failures that never come back must not make a run look better. The p-value may be
 * looked at after every task (see `SequentialComparison`). Scores lie from 0 to 1.
 */
export class UntilDecided {
  private readonly repeats: number
  private readonly comparison: SequentialComparison
  /** Of each task that is not compared yet, the results of both sides. */
  private readonly open = new Map<number, [(number | null)[], (number | null)[]]>()
  private next = 0

  constructor({ repeats, alpha = 0.05, margin = 0 }: { repeats: number; alpha?: number; margin?: number }) {
    this.repeats = repeats
    this.comparison = new SequentialComparison({ level: 1 - alpha, margin })
  }

  /** Takes a result; gives the state once the comparison is decided. */
  add({ side, seq, score }: SideResult): SequentialState | undefined {
    const at = Math.floor(seq / this.repeats)
    const task = this.open.get(at) ?? [[], []]
    this.open.set(at, task)
    task[side].push(score)
    let decided: SequentialState | undefined
    for (
      let found = this.open.get(this.next);
      decided === undefined && found !== undefined;
      found = this.open.get(this.next)
    ) {
      const [before, after] = found
      if (before.length < this.repeats || after.length < this.repeats) break
      this.open.delete(this.next++)
      const [from, to] = [boundsOf(before), boundsOf(after)]
      this.comparison.addBetween(to[0] - from[1], to[1] - from[0])
      const state = this.comparison.state()
      if (state.decision !== 'continue') decided = state
    }
    return decided
  }

  /** Tasks that were compared, those with results that are missing among them. */
  get tasks(): number {
    return this.next
  }

  state(): SequentialState {
    return this.comparison.state()
  }
}

/** The mean of the repeats if all that is missing had failed, and had succeeded. */
function boundsOf(scores: readonly (number | null)[]): [lowest: number, highest: number] {
  const known = scores.filter((score) => score !== null && Number.isFinite(score))
  const sum = known.reduce<number>((total, score) => total + (score ?? 0), 0)
  return [sum / scores.length, (sum + scores.length - known.length) / scores.length]
}
