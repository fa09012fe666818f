import { QuintainError } from '../core/index.ts'
import type { TokenRow } from '../rows/index.ts'
import { groupAdvantages, trainableReward } from './advantages.ts'
import type { Algorithm } from './records.ts'
import { turnAdvantages } from './turn-advantages.ts'

/** A rollout as it comes out of a run, with what it is trained by. */
export interface GradedRollout {
  order: string
  /** Of `trainingRows`; none where the agent sampled nothing that is known. */
  rows: readonly TokenRow[]
  /** Null where nobody scored it. */
  reward: number | null
  /** Process rewards, one for each call of the agent, in order. */
  steps?: readonly number[]
  /** Places of those calls in the trajectory; the calls of `rows` when absent, which lack those without known tokens. */
  calls?: readonly number[]
  /** It was cut for its length, or an output of it was. */
  truncated: boolean
  /** Sampled tokens. */
  tokens: number
}

/** Rollouts of one task, which are compared with each other. */
export interface GradedGroup {
  id: string
  task: string
  members: readonly GradedRollout[]
}

/**
 * Why nothing of a group is trained on. `unscored`: no member has a reward. `short`: one only has, so that there is nothing
 * to compare. `zero_variance`: all have the same. `untrainable`: no member that may be trained on has sampled tokens.
 */
export type LeftReason = 'unscored' | 'short' | 'zero_variance' | 'untrainable'

/**
 * Which groups there is something to learn from. Rewards within `algorithm.tolerance` are the same; penalties for length
 * are not looked at, as DAPO does not (arXiv 2503.14476): a group that always succeeds is none the better for its lengths.
 * Without `filterZeroVariance` groups whose rewards do not differ are kept, and only make the batch that is divided by
 * larger. With a teacher alone rewards are not asked for.
 *
 * Throws `reward_invalid` for a reward or a step that is no number to train with, and `datum_invalid` for a row without a token to
 * train on; both name the order.
 */
export function sortGroups(
  groups: readonly GradedGroup[],
  algorithm: Algorithm,
): { kept: GradedGroup[]; left: { group: GradedGroup; why: LeftReason }[] } {
  const kept: GradedGroup[] = []
  const left: { group: GradedGroup; why: LeftReason }[] = []
  for (const group of groups) {
    const why = whyLeft(group, algorithm)
    if (why === undefined) kept.push(group)
    else left.push({ group, why })
  }
  return { kept, left }
}

function whyLeft(group: GradedGroup, algorithm: Algorithm): LeftReason | undefined {
  checkMembers(group)
  if (!group.members.some((member) => isTrained(member, algorithm))) {
    return needsReward(algorithm) && group.members.every(({ reward }) => reward === null)
      ? 'unscored'
      : 'untrainable'
  }
  if (!needsReward(algorithm) || !algorithm.filterZeroVariance) return undefined
  const compared = groupAdvantages(
    group.members.map(({ reward }) => reward),
    {
      ...algorithm.advantage,
      tolerance: algorithm.tolerance,
    },
  )
  if (algorithm.advantage.baseline === 'none' || !compared.zeroVariance || algorithm.teacher !== undefined) {
    return undefined
  }
  if (
    turnsOf(group, algorithm)
      .flat()
      .some((advantage) => advantage !== 0)
  )
    return undefined
  return compared.scored === 1 ? 'short' : 'zero_variance'
}

/** Whether the tokens of a member are trained on: it is scored where that matters, has some, and was not cut where those are masked. */
export function isTrained(member: GradedRollout, algorithm: Algorithm): boolean {
  if (member.reward === null && needsReward(algorithm)) return false
  if (member.truncated && algorithm.maskTruncated) return false
  return member.rows.length > 0
}

/** Advantages of the turns of each member; none where the algorithm looks at rollouts only. */
export function turnsOf({ members }: GradedGroup, algorithm: Algorithm): number[][] {
  const { turns, advantage, tolerance } = algorithm
  if (turns === undefined) return members.map(() => [])
  const steps = members.map(({ steps = [], reward }) => (reward === null ? null : steps))
  const { discount, coefficient } = turns
  return turnAdvantages(steps, { ...advantage, scale: 'none', tolerance, discount }).map((own) =>
    own.map((turn) => coefficient * turn),
  )
}

/**
 * How many more groups to order for a step that wants `algorithm.groups`, of which `kept` came out well and `ordered` were
 * ordered in all. 0 once `refill` times as many as are wanted were ordered: the step then makes do with what it has.
 */
export function refillOf(algorithm: Algorithm, { kept, ordered }: { kept: number; ordered: number }): number {
  const budget = Math.floor(algorithm.groups * algorithm.refill) - ordered
  return Math.max(0, Math.min(algorithm.groups - kept, budget))
}

/** False where a teacher's word is all there is to learn from. */
function needsReward({ teacher }: Algorithm): boolean {
  return teacher === undefined || teacher.rewards
}

function checkMembers({ members }: GradedGroup): void {
  for (const { order, reward, steps = [], rows } of members) {
    if (reward !== null) trainableReward(reward, `order ${order}`)
    for (const [turn, step] of steps.entries()) trainableReward(step, `turn ${turn} of order ${order}`)
    for (const { row, mask } of rows) {
      // The first token of a row is nobody's target: it has nothing before it to be predicted from.
      if (mask.indexOf(1, 1) > 0) continue
      throw new QuintainError(
        'datum_invalid',
        `Row ${row} of order ${order} has no token to train on. Leave such rows out: a mask of zeros trains nothing, silently.`,
        { facts: { order, row } },
      )
    }
  }
}
