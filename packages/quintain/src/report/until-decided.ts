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
 * both runs have all its repeats, so that quick tasks do not come before slow ones; a task without a score in one of the
 * runs moves nothing. The p-value may be looked at after every task (see `SequentialComparison`).
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
      const [from, to] = [meanOf(before), meanOf(after)]
      this.comparison.add(from === null || to === null ? null : to - from)
      const state = this.comparison.state()
      if (state.decision !== 'continue') decided = state
    }
    return decided
  }

  /** Tasks that were compared, with a score or without. */
  get tasks(): number {
    return this.next
  }

  state(): SequentialState {
    return this.comparison.state()
  }
}

function meanOf(scores: readonly (number | null)[]): number | null {
  const known = scores.filter((score) => score !== null)
  return known.length === 0 ? null : known.reduce((sum, score) => sum + score, 0) / known.length
}
