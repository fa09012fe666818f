import { type LeftOut, whyLeftOut } from '../../rows/index.ts'
import type { Choice } from './lineage.ts'
import { passes } from './row-filter.ts'
import type { Member, SlimAttempt, TaskGroup } from './task-groups.ts'

/** Why an attempt gives no rows for trainers. */
export type NoRow =
  | Exclude<LeftOut, 'below_min_reward'>
  | 'filtered'
  | 'not_best'
  | 'short_of_n'
  | 'over_max'
  | 'images'
  | 'broken_up'
  | 'truncated'
  | 'unpaired'
  | 'no_tokens'
  | 'no_calls'

/** A member whose attempt rows are made of. */
export interface Chosen extends Member {
  attempt: SlimAttempt
}

export interface Choosing extends Choice {
  seat: string
  /** Most attempts of a task; all when absent. */
  maxPerTask?: number | undefined
  /** Let in attempts whose grading alone failed, with no reward: rows of text that somebody may use without. */
  unscored: boolean
}

/**
 * The members of a group that rows are made of, in the order of their plan, and why each of the others is not. Only
 * attempts that count are looked at; a fault is nobody's score, so it is never one of them.
 *
 * With `bestOfN`, of every n orders in a row the one with the highest reward is taken, the first among equals. Orders are
 * what is counted, so that a fault does not make the choice another's, and a last stretch of fewer gives none.
 */
export function chooseAttempts(
  { members }: TaskGroup,
  choosing: Choosing,
  leaveOut: (why: NoRow) => void,
): Chosen[] {
  const { bestOfN, maxPerTask = Number.POSITIVE_INFINITY, filter } = choosing
  let chosen = bestOfN === undefined ? members.filter(isUsable) : bestOfEach(bestOfN)
  chosen = chosen.filter((member) => {
    const passed = passes(filter, member)
    if (!passed) leaveOut('filtered')
    return passed
  })
  for (let over = maxPerTask; over < chosen.length; over++) leaveOut('over_max')
  return chosen.slice(0, maxPerTask)

  function isUsable(member: Member): member is Chosen {
    const why = whyUnusable(member, choosing)
    if (why !== undefined) leaveOut(why)
    return why === undefined
  }

  function bestOfEach(n: number): Chosen[] {
    const best: Chosen[] = []
    for (let start = 0; start < members.length; start += n) {
      const stretch = members.slice(start, start + n)
      const usable = stretch.filter(isUsable)
      if (stretch.length < n) {
        for (const _ of usable) leaveOut('short_of_n')
        continue
      }
      const [first, ...others] = usable.toSorted((a, b) => rank(b) - rank(a))
      if (first === undefined) continue
      best.push(first)
      for (const _ of others) leaveOut('not_best')
    }
    return best
  }
}

function rank({ reward }: Chosen): number {
  return reward ?? Number.NEGATIVE_INFINITY
}

function whyUnusable({ status, attempt, reward }: Member, { seat, unscored }: Choosing): NoRow | undefined {
  if (attempt === undefined) return 'pending'
  const why = whyLeftOut(status, attempt, { seat, textOnly: unscored })
  if (why !== undefined) return why as NoRow
  // A seat may have no reward where the attempt has one.
  return reward === null && !unscored ? 'unscored' : undefined
}
