import type { EndRecord, EvaluationRecord, StepLine, StepRecord } from '../records.ts'
import { historyOf } from '../training-folder.ts'
import type { StopRules } from './train-options.ts'

/** Why a group was not learned from, after its number: `24 of equal rewards`. */
const whyLeftTexts: Readonly<Record<string, string>> = {
  zero_variance: 'of equal rewards',
  unscored: 'without a score',
  short: 'with too few scores',
  stale: 'too old',
  late: 'too late',
  untrainable: 'without tokens to learn from',
}

/** Why a training ends here. */
export type Stop = Pick<EndRecord, 'reason' | 'says'>

/** So many steps in a row that learn nothing end a training. */
const mostDeadSteps = 3
/** Steps over which success, reward and entropy are averaged before they are called fallen. */
const collapseWindow = 5
/** Success has fallen when it is below this share of its best, which was at least `collapseFrom`; of rollouts and of validation. */
const collapseShare = 0.5
const collapseFrom = 0.2
/** Nats a token below which a policy plays one game. */
const collapsedEntropy = 0.01

/**
 * Whether a training that has written these lines goes on. A pure function of them, so that a training that was killed stops
 * where one that was not does. One that is taken up after its end goes on, unless its budget is spent.
 * `unscored`: why a rollout of the last step has no reward.
 */
export function stopOf(
  lines: readonly StepLine[],
  { budget = {}, plateau, collapse = true }: StopRules,
  unscored?: string,
): Stop | undefined {
  const history = historyOf(lines)
  const steps = history.filter((line): line is StepRecord => line.kind === 'step')
  const last = steps.at(-1)
  if (last === undefined) return undefined
  const spent = budgetStop(steps, last, budget)
  if (spent !== undefined || lines.at(-1)?.kind === 'end') return spent
  return (
    unscoredStop(last, unscored) ??
    deadStop(steps) ??
    (plateau === undefined ? undefined : plateauStop(history, plateau)) ??
    (collapse ? (heldOutStop(history) ?? collapseStop(steps)) : undefined)
  )
}

function unscoredStop(
  { step, rollouts, scored }: StepRecord,
  why = 'the report of the run says why',
): Stop | undefined {
  if (rollouts === 0 || scored > 0) return undefined
  return {
    reason: 'all_unscored',
    says: `None of the ${rollouts} rollouts of step ${step} was scored, so that there is nothing to learn from: ${why.replace(/\.$/, '')}. Mend that, then \`quintain resume\` (--force where the environment was changed for it).`,
  }
}

function deadStop(steps: readonly StepRecord[]): Stop | undefined {
  const last = steps.slice(-mostDeadSteps)
  const isDead = ({ groups }: StepRecord) => groups.length === 0
  if (last.length < mostDeadSteps || !last.every(isDead)) return undefined
  const left = last.map((step) =>
    Object.entries(step.left).map(([why, count]) => `${count} ${whyLeftTexts[why] ?? why}`),
  )
  return {
    reason: 'all_dead',
    says: `${mostDeadSteps} steps in a row had no group to learn from (${left.at(-1)!.join(', ')} in the last). ${deadAdvice(last.at(-1)!)}`,
  }
}

function deadAdvice({ left, success }: StepRecord): string {
  const [why] = Object.entries(left).sort(([, a], [, b]) => b - a)[0] ?? []
  if (why === 'untrainable')
    return 'The policy sampled nothing in them: see in their rollouts (`quintain show`) why, such as a context that what it is told fills.'
  if (why !== 'zero_variance')
    return 'The report of the run says what became of their rollouts (`quintain report`).'
  const same = 'In each, all rollouts came to the same reward.'
  if (success === null) return `${same} Take easier or harder tasks, as that reward says, or larger groups.`
  return success > 0.5
    ? `${same} The tasks are too easy for it: take harder ones.`
    : `${same} The tasks are too hard for it: warm it up by imitation first, take easier ones, or larger groups.`
}

function budgetStop(
  steps: readonly StepRecord[],
  last: StepRecord,
  { seconds, tokens, rollouts }: NonNullable<StopRules['budget']>,
): Stop | undefined {
  const sum = (of: (step: StepRecord) => number) => steps.reduce((all, step) => all + of(step), 0)
  const spent: [string, number, number | undefined][] = [
    ['seconds', last.elapsedS, seconds],
    ['tokens', sum((step) => (step.tokensMean ?? 0) * step.rollouts), tokens],
    ['rollouts', sum((step) => step.rollouts), rollouts],
  ]
  const over = spent.find(([, used, most]) => most !== undefined && used >= most)
  if (over === undefined) return undefined
  return { reason: 'budget', says: `The budget of ${over[2]} ${over[0]} is spent after step ${last.step}.` }
}

function plateauStop(history: readonly StepLine[], evaluations: number): Stop | undefined {
  const measured = validationsIn(history)
  const best = bestOf(measured)
  if (best === undefined) return undefined
  const since = measured.slice(measured.indexOf(best) + 1).length
  if (since < evaluations) return undefined
  return {
    reason: 'plateau',
    says: `Validation has not been above ${shown(scoreOf(best))} of step ${best.step} in ${since} evaluations.`,
  }
}

function collapseStop(steps: readonly StepRecord[]): Stop | undefined {
  if (steps.length < 2 * collapseWindow) return undefined
  const successes = windows(steps, ({ success }) => success)
  const best = Math.max(...successes.flatMap((value) => value ?? []))
  const now = successes.at(-1)
  if (now != null && best >= collapseFrom && now < collapseShare * best) {
    return {
      reason: 'collapse',
      says: `Success has fallen to ${shown(now)} from ${shown(best)} (means of ${collapseWindow} steps). Begin again from the best checkpoint with a lower learning rate, a clip of the ratio, or a KL term.`,
    }
  }
  const rewards = windows(steps, ({ rewardMean }) => rewardMean)
  const entropy = windows(steps, (step) => step.entropy).at(-1)
  const reward = rewards.at(-1)
  const spread = windows(steps, ({ rewardSpread }) => rewardSpread).at(-1) ?? 0
  const bestReward = Math.max(...rewards.flatMap((value) => value ?? []))
  if (
    entropy != null &&
    entropy < collapsedEntropy &&
    reward != null &&
    reward < bestReward - Math.max(spread, 1e-9)
  ) {
    return {
      reason: 'collapse',
      says: `It plays one game only (entropy ${shown(entropy)} nats a token) while rewards fall: ${shown(reward)} from ${shown(bestReward)}. Begin again from the best checkpoint with a lower learning rate or a KL term.`,
    }
  }
  return undefined
}

/** Held-out success far below the best that was measured, the policy as it began included; its interval is past doubt. */
function heldOutStop(history: readonly StepLine[]): Stop | undefined {
  const measured = validationsIn(history)
  const [best, now] = [bestOf(measured), measured.at(-1)]
  if (best?.success == null || best.interval === null || now?.success == null || now.interval === null)
    return undefined
  if (best.success < collapseFrom || now.interval[1] >= collapseShare * best.interval[0]) return undefined
  return {
    reason: 'collapse',
    says: `Success on validation tasks has fallen to ${shown(now.success)} (step ${now.step}) from ${shown(best.success)} (step ${best.step}). Begin again from the best checkpoint with a lower learning rate, or more groups a step.`,
  }
}

/** Means over each window of steps; null where a step does not say it. */
function windows(steps: readonly StepRecord[], of: (step: StepRecord) => number | null): (number | null)[] {
  return steps.slice(collapseWindow - 1).map((_, at) => {
    const values = steps.slice(at, at + collapseWindow).flatMap((step) => of(step) ?? [])
    return values.length < collapseWindow
      ? null
      : values.reduce((sum, value) => sum + value, 0) / collapseWindow
  })
}

/** Evaluations by which the checkpoint is chosen: of validation tasks, at temperature 1. */
export function validationsIn(history: readonly StepLine[]): EvaluationRecord[] {
  return history.filter(
    (line): line is EvaluationRecord =>
      line.kind === 'evaluation' && line.role === 'validation' && line.temperature === 1,
  )
}

/**
 * The best of them; undefined where none has a value. Of equals the earliest, but for the start: what was learned is not
 * thrown away for a policy that is no better.
 */
export function bestOf(validations: readonly EvaluationRecord[]): EvaluationRecord | undefined {
  let best: { value: number; at: EvaluationRecord } | undefined
  for (const at of validations) {
    const value = scoreOf(at)
    if (value === null) continue
    if (best === undefined || value > best.value || (value === best.value && best.at.step === 0)) {
      best = { value, at }
    }
  }
  return best?.at
}

/** Success, or the reward where the environment does not say what success is. */
function scoreOf({ success, reward }: EvaluationRecord): number | null {
  return success ?? reward
}

function shown(value: number | null): string {
  return value === null ? 'nothing' : String(Math.round(value * 1000) / 1000)
}
