import { scoreText, shareText } from '../report/index.ts'
import type { StepRecord } from './records.ts'
import type { Watch } from './watches.ts'
import { atFirst, few, lately, riseOf, valuesOf } from './watches-window.ts'

/** Every rollout of the latest step was cut for its length, and none earned anything. */
export const allTruncated: Watch = {
  name: 'all_truncated',
  threshold: 1,
  of: 'share of rollouts cut for their length, in a step without any reward',
  because:
    'whatever the policy writes is cut before it counts, so there is nothing to learn from, however long one waits',
  look({ steps }) {
    const step = steps.at(-1)
    if (step === undefined || step.truncated !== 1 || step.rewardMean === null || step.rewardMean > 0)
      return undefined
    return 'Every rollout was cut at its length and none was rewarded: nothing can be learned. Allow longer replies (--max-tokens, or the limits of the environment), or begin from a policy that ends its replies.'
  },
}

/** Many rollouts are cut. */
export const truncation: Watch = {
  name: 'truncation',
  threshold: 0.2,
  of: 'share of rollouts cut for their length, over the last steps',
  because:
    'a cut rollout is scored on what it did not get to say; one in five is a reward for shortness more than for skill',
  look({ steps }) {
    const now = lately(steps, 'truncated')
    if (now === undefined || now < truncation.threshold) return undefined
    return `${shareText(now)} of the rollouts are cut for their length, and are graded on what there was until then. Allow longer replies, mask what is cut (--recipe dapo does), or penalise length softly before the cut.`
  },
}

/** Rollouts grow, and the reward does not. */
export const lengthGrowth: Watch = {
  name: 'length_growth',
  threshold: 1.5,
  of: 'tokens of a rollout over the last steps, against the first, while the reward does not rise',
  because:
    'longer answers that earn more are learning; half as long again for nothing is what a loss normalised per rollout does to wrong answers (arXiv 2503.20783)',
  look({ steps }) {
    const [first, now] = [atFirst(steps, 'tokensMean'), lately(steps, 'tokensMean')]
    if (first === undefined || now === undefined || !(now > lengthGrowth.threshold * first)) return undefined
    const reward = riseOf(steps, ({ rewardMean }) => rewardMean)
    if (reward === undefined || reward.to - reward.from > 2 * reward.error) return undefined
    return `Rollouts grew from ${scoreText(first, 0)} to ${scoreText(now, 0)} tokens while the reward did not rise (${scoreText(reward.from)} to ${scoreText(reward.to)}). Normalise over all tokens of the batch or by a constant (--recipe dr-grpo), not per rollout, or penalise length.`
  },
}

/** Most groups have members that all earned the same. */
export const deadGroups: Watch = {
  name: 'dead_groups',
  threshold: 0.8,
  of: 'share of groups whose members all earned the same, over the last steps',
  because: 'below a fifth of live groups a step learns from a handful of tasks, at the price of all',
  look({ steps }) {
    const now = lately(steps, 'deadGroups')
    if (now === undefined || now < deadGroups.threshold) return undefined
    return `In ${shareText(now)} of the groups all members earned the same, and such groups teach nothing. ${deadAdvice(steps)}`
  },
}

function deadAdvice(steps: readonly StepRecord[]): string {
  const success = lately(steps, 'success')
  if (success !== undefined && success > 0.8)
    return `Success is ${scoreText(success)}: most tasks are solved each time. Harder tasks, or an end.`
  const reward = valuesOf(steps.slice(-few), 'rewardMean')
  if (success !== undefined ? success < 0.2 : reward.every((value) => value === 0))
    return 'Most tasks are never solved: easier tasks first (a curriculum), a better warm start (npx quintain sft), or larger groups.'
  return 'Larger groups tell members apart, and so does a reward with steps in between.'
}

/** Replies that are no valid calls, many or more than at first. */
export const malformedCalls: Watch = {
  name: 'malformed',
  threshold: 0.1,
  of: 'share of rollouts with a malformed reply, where it is half as high again as at first; from 0.5 in any case',
  because: 'one in ten is no accident any more; half of all hide whatever else the policy does',
  look({ steps }) {
    const now = lately(steps, 'malformed')
    if (now === undefined || now < malformedCalls.threshold) return undefined
    const first = atFirst(steps, 'malformed')
    if (now < 0.5 && (first === undefined || now <= 1.5 * first)) return undefined
    const before = first === undefined ? '' : `, ${shareText(first)} at first`
    return `${shareText(now)} of the rollouts hold a reply without an end or a call that cannot be read${before}. See what the environment answers to one: where it costs nothing, the policy has no reason to stop. A longer warm start (npx quintain sft) teaches the form.`
  },
}

/** Many rollouts have no score. */
export const unscored: Watch = {
  name: 'unscored',
  threshold: 0.1,
  of: 'share of rollouts without a score, over the last steps',
  because: 'what has no score is left out of its group, and what is left out is rarely left out by chance',
  look({ steps }) {
    const latest = steps.slice(-few)
    const rollouts = latest.reduce((sum, step) => sum + step.rollouts, 0)
    const scored = latest.reduce((sum, step) => sum + step.scored, 0)
    if (latest.length < few || rollouts === 0 || !(1 - scored / rollouts > unscored.threshold))
      return undefined
    return `${shareText(1 - scored / rollouts)} of the rollouts have no score and are not trained on. npx quintain report RUN says why: faults of the world or the grader, or rewards that decline to give a number.`
  },
}
