import { countText, plural, shareText } from '../../report/index.ts'
import { type Settings, settingsIn } from '../loop/settings.ts'
import { unboundedSteps } from '../progress.ts'
import type { Algorithm, TrainingRecord } from '../records.ts'

/** A line of what ran: its name, and what it says. */
export type Fact = readonly [name: string, says: string]

/** An algorithm in words, line by line. */
export function algorithmFacts(algorithm: Algorithm): Fact[] {
  const { recipe, groups, groupSize, minibatches, epochs, filterZeroVariance, refill, overlong } = algorithm
  const { kl, turns, teacher, truncateImportance, maskTruncated } = algorithm
  const facts: (Fact | undefined)[] = [
    ['recipe', recipe],
    [
      'a step',
      `${plural(groups, 'group')} of ${plural(groupSize, 'rollout')}, in ${plural(minibatches, 'minibatch', 'minibatches')}${epochs === 1 ? '' : `, gone through ${countText(epochs)} times`}`,
    ],
    ['advantage', advantageText(algorithm)],
    ['loss', lossText(algorithm)],
    [
      'groups of equal rewards',
      filterZeroVariance
        ? `left out${refill === 1 ? '' : `; up to ${refill} times as many are ordered as a step wants`}`
        : 'learned from',
    ],
    overlong && [
      'long rollouts',
      `lose up to ${overlong.penalty} from ${countText(overlong.length - overlong.buffer)} to ${countText(overlong.length)} tokens`,
    ],
    maskTruncated ? ['rollouts cut for their length', 'not learned from'] : undefined,
    kl && ['reference', `KL times ${kl.coefficient} in the ${kl.where}, by the estimator ${kl.estimator}`],
    turns && [
      'turns',
      `process rewards${turns.component === undefined ? '' : ` of ${turns.component}`} times ${turns.coefficient}, later turns times ${turns.discount}`,
    ],
    teacher && [
      'teacher',
      `its log-probabilities times ${teacher.coefficient}, ${teacher.rewards ? 'beside' : 'instead of'} the reward`,
    ],
    truncateImportance === undefined
      ? undefined
      : ['sampler against learner', `weights of tokens cut at ${truncateImportance}`],
    ['optimiser', optimiserText(algorithm)],
  ]
  return facts.filter((fact) => fact !== undefined)
}

function advantageText({ advantage: { baseline, scale, std } }: Algorithm): string {
  const less = {
    mean: 'reward less the mean of its group',
    leave_one_out: 'reward less the mean of the other members of its group',
    none: 'the reward itself',
  }[baseline]
  if (scale === 'none') return less
  return `${less}, divided by the ${std} standard deviation of the ${scale === 'group_std' ? 'group' : 'batch'}`
}

function lossText({ loss: { name, config = {} }, normalise, constantLength }: Algorithm): string {
  const numbers = Object.entries(config).map(([key, value]) => `${key.replaceAll('_', ' ')} ${value}`)
  const over = {
    token: 'mean over all tokens of a minibatch',
    sequence: 'mean over the tokens of each rollout, then over rollouts',
    constant: `sum over tokens, divided by ${countText(constantLength ?? 1)} a rollout`,
  }[normalise]
  return `${name.replaceAll('_', ' ')}${numbers.length === 0 ? '' : ` (${numbers.join(', ')})`}; ${over}`
}

function optimiserText({ adam }: Algorithm): string {
  const { learningRate, decayTo, beta1, beta2, weightDecay, gradClipNorm } = adam
  const falling = decayTo === 1 ? '' : `, falling to ${shareText(decayTo)} of it`
  const decay = weightDecay === 0 ? '' : `, weight decay ${weightDecay}`
  return `Adam at ${learningRate}${falling}; betas ${beta1} and ${beta2}${decay}; gradient cut at norm ${gradClipNorm}`
}

/** What else a training was asked for, and its steps in all, in words; nothing where that cannot be read. */
export function settingFacts({ options, splits }: TrainingRecord, steps: number): Fact[] {
  const parts = splits.parts ?? []
  const nameOf = (role: 'validation' | 'test') =>
    splits[role] === null
      ? `no ${role} tasks`
      : parts.includes(role)
        ? `${role} a part of ${splits.train} drawn by the seed`
        : `${role} ${splits[role]}`
  const facts: Fact[] = [['tasks', `train ${splits.train}, ${nameOf('validation')}, ${nameOf('test')}`]]
  const settings = settingsIn(options)
  if (settings === undefined) return facts
  return [
    ...facts,
    ['sampling', samplingText(settings)],
    ['rollouts', playingText(settings)],
    ['measured', measuredText(settings)],
    ['ends', endText(settings, steps)],
    [
      'checkpoints',
      `every ${plural(settings.checkpointEvery, 'step')}; ${settings.keep === 'all' ? 'all are kept' : 'the best and the last are kept'}`,
    ],
    ...(settings.shadow === undefined ? [] : [['shadow verifier', settings.shadow] as const]),
  ]
}

function samplingText({ sampling: { temperature, topP, maxTokens, stop } }: Settings): string {
  return [
    `temperature ${temperature}`,
    ...(topP === undefined ? [] : [`top p ${topP}`]),
    ...(maxTokens === undefined ? [] : [`at most ${plural(maxTokens, 'token')} a reply`]),
    ...(stop === undefined ? [] : [`stops at ${stop.map((text) => JSON.stringify(text)).join(', ')}`]),
  ].join(', ')
}

function playingText({ mode, stragglers, curriculum }: Settings): string {
  const ahead = mode === 'sync' ? 'stand still while it learns' : `at most ${plural(mode.async, 'step')} old`
  const late =
    stragglers === 'wait'
      ? 'all are waited for'
      : {
          over_order: 'the first whole groups of more than are wanted are taken',
          resume_long: 'long ones go on into the next step',
          partial_groups: 'groups are taken in part',
        }[stragglers.policy]
  return `${ahead}; ${late}; tasks drawn ${curriculum === 'uniform' ? 'uniformly' : 'by pools of how often they are solved'}`
}

function measuredText({ evaluate }: Settings): string {
  if (evaluate === false) return 'nothing'
  return `every ${plural(evaluate.every, 'step')}, at temperature 1${evaluate.greedy === false ? '' : ' and greedy'}`
}

function endText({ budget = {}, plateau, collapse }: Settings, steps: number): string {
  const { seconds, tokens, rollouts } = budget
  return [
    steps >= unboundedSteps ? 'with its budget' : `after ${plural(steps, 'step')}`,
    ...(seconds === undefined ? [] : [`${countText(seconds)} seconds of steps`]),
    ...(tokens === undefined ? [] : [plural(tokens, 'sampled token')]),
    ...(rollouts === undefined ? [] : [plural(rollouts, 'rollout')]),
    ...(plateau === undefined ? [] : [`${plural(plateau, 'measurement')} without a better one`]),
    ...(collapse ? ['a collapse'] : []),
  ].join(', or ')
}
