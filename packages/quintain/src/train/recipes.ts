import { z } from 'zod'
import { canonicalJson, didYouMean, QuintainError } from '../core/index.ts'
import { checkAdam } from './adam-bounds.ts'
import { lossOf } from './batch.ts'
import { resolveLoss } from './losses.ts'
import { type Algorithm, algorithm } from './records.ts'

/** A named configuration of an algorithm. */
export interface Recipe {
  /** What it is, in a line. */
  is: string
  /** Where it comes from: arXiv number, or a page. */
  source: string
  /** What it learns from. */
  learnsFrom: 'rewards' | 'teacher' | 'demonstrations' | 'preferences'
  algorithm: Algorithm
}

/**
 * How much is done and how fast, which a run may change without its recipe being another: sizes of the embedded engine's
 * demonstration, at a careful rate (the demonstration itself takes six times as much). A rate that is too low costs time, one
 * that is too high costs a warm policy. A large model wants one a hundred times smaller.
 */
const run = {
  groups: 24,
  groupSize: 16,
  minibatches: 4,
  epochs: 1,
  refill: 2,
  adam: {
    learningRate: 3e-4,
    decayTo: 0.1,
    beta1: 0.9,
    beta2: 0.99,
    eps: 1e-8,
    weightDecay: 0,
    gradClipNorm: 0.5,
  },
} satisfies Partial<Algorithm>

const centred: Algorithm['advantage'] = { baseline: 'mean', scale: 'none', std: 'population', eps: 0 }

const rewards = {
  ...run,
  advantage: centred,
  loss: { name: 'importance_sampling' },
  normalise: 'token',
  filterZeroVariance: true,
  tolerance: 1e-6,
  maskTruncated: false,
} satisfies Omit<Algorithm, 'recipe'>

const clip = (low: number, high: number) => ({ clip_low_threshold: 1 - low, clip_high_threshold: 1 + high })

const imitation = {
  ...rewards,
  groups: 16,
  groupSize: 1,
  minibatches: 1,
  filterZeroVariance: false,
} satisfies Omit<Algorithm, 'recipe'>

/** The recipes by name; docs/algorithms.md has their formulas, and what each is biased by. */
export const recipes = {
  grpo: {
    is: 'advantages in units of the spread of their group, clipped ratios, mean over each rollout',
    source: 'arXiv 2402.03300',
    learnsFrom: 'rewards',
    algorithm: {
      ...rewards,
      recipe: 'grpo',
      advantage: { ...centred, scale: 'group_std', eps: 1e-6 },
      loss: { name: 'ppo', config: clip(0.2, 0.2) },
      normalise: 'sequence',
    },
  },
  'dr-grpo': {
    is: 'GRPO without the division by spread and by length, which favour some tasks and long failures',
    source: 'arXiv 2503.20783',
    learnsFrom: 'rewards',
    algorithm: {
      ...rewards,
      recipe: 'dr-grpo',
      loss: { name: 'ppo', config: clip(0.2, 0.2) },
      normalise: 'constant',
      constantLength: 256,
    },
  },
  dapo: {
    is: 'GRPO with a higher upper clip, mean over all tokens, dead groups refilled, a penalty for length and no cut rollouts',
    source: 'arXiv 2503.14476',
    learnsFrom: 'rewards',
    algorithm: {
      ...rewards,
      recipe: 'dapo',
      refill: 3,
      advantage: { ...centred, scale: 'group_std', eps: 1e-6 },
      loss: { name: 'ppo', config: clip(0.2, 0.28) },
      overlong: { length: 256, buffer: 64, penalty: 1 },
      maskTruncated: true,
    },
  },
  rloo: {
    is: 'REINFORCE with the mean of the other members as baseline',
    source: 'arXiv 2402.14740',
    learnsFrom: 'rewards',
    algorithm: {
      ...rewards,
      recipe: 'rloo',
      advantage: { ...centred, baseline: 'leave_one_out' },
      normalise: 'constant',
      constantLength: 256,
    },
  },
  gspo: {
    is: 'GRPO with one ratio for each sequence, the geometric mean of those of its tokens, clipped as a whole',
    source: 'arXiv 2507.18071',
    learnsFrom: 'rewards',
    algorithm: {
      ...rewards,
      recipe: 'gspo',
      advantage: { ...centred, scale: 'group_std', eps: 1e-6 },
      loss: { name: 'gspo', config: { clip_low_threshold: 1 - 3e-4, clip_high_threshold: 1 + 4e-4 } },
      normalise: 'sequence',
    },
  },
  cispo: {
    is: 'REINFORCE weighed by a ratio that is clipped and not differentiated, so that no token loses its gradient',
    source: 'arXiv 2506.13585',
    learnsFrom: 'rewards',
    algorithm: {
      ...rewards,
      recipe: 'cispo',
      advantage: { ...centred, scale: 'group_std', eps: 1e-6 },
      loss: { name: 'cispo', config: { clip_low_threshold: 0, clip_high_threshold: 5 } },
    },
  },
  sft: {
    is: 'imitation: cross-entropy of what demonstrations say',
    source: 'maximum likelihood',
    learnsFrom: 'demonstrations',
    algorithm: {
      ...imitation,
      recipe: 'sft',
      loss: { name: 'cross_entropy' },
      adam: { ...run.adam, learningRate: 3e-3, beta2: 0.95, gradClipNorm: 1 },
    },
  },
  dpo: {
    is: 'preferences: of two conversations on one task the better is made likelier than the worse, against a reference',
    source: 'arXiv 2305.18290',
    learnsFrom: 'preferences',
    algorithm: {
      ...imitation,
      recipe: 'dpo',
      loss: { name: 'dpo', config: { beta: 0.1 } },
      adam: { ...run.adam, learningRate: 3e-4, gradClipNorm: 1 },
    },
  },
  distill: {
    is: 'on-policy distillation: the policy samples, a teacher says of each token how likely it would have been',
    source: 'arXiv 2306.13649; thinkingmachines.ai/blog/on-policy-distillation',
    learnsFrom: 'teacher',
    algorithm: {
      ...rewards,
      recipe: 'distill',
      groupSize: 4,
      filterZeroVariance: false,
      advantage: { ...centred, baseline: 'none' },
      teacher: { coefficient: 1, rewards: false },
    },
  },
} as const satisfies Record<string, Recipe>

export type RecipeName = keyof typeof recipes

/** Changes to a recipe; `advantage` and `adam` field by field. */
export type RecipeChanges = Partial<Omit<Algorithm, 'recipe' | 'advantage' | 'adam'>> & {
  advantage?: Partial<Algorithm['advantage']>
  adam?: Partial<Algorithm['adam']>
}

/** Groups of a minibatch at the least, where nothing is said of minibatches: of fewer a gradient is mostly chance. */
export const leastGroups = 4

/** What says how much and how fast: changing it leaves a recipe what it is. */
const sizes = ['groups', 'groupSize', 'minibatches', 'epochs', 'refill', 'adam', 'constantLength'] as const

/**
 * The algorithm of a recipe with changes. It keeps the name of the recipe as long as only its sizes and the optimiser are
 * changed, and is `custom (NAME)` else. With `groups` and without `minibatches` there are at most as many minibatches as leave each
 * four groups. Throws `options_invalid` for a name that is none, and for numbers that go together with
 * nothing.
 *
 * @example recipe('grpo', { groups: 8, adam: { learningRate: 1e-4 } })
 */
export function recipe(name: string, changes: RecipeChanges = {}): Algorithm {
  const known: readonly string[] = Object.keys(recipes)
  if (!isRecipe(name)) {
    throw new QuintainError(
      'options_invalid',
      `There is no recipe "${name}"${didYouMean(name, known)} There are ${known.join(', ')}.`,
      { facts: { name, known } },
    )
  }
  const base: Algorithm = recipes[name].algorithm
  const changed = checkAlgorithm({
    ...base,
    ...(changes.groups === undefined ? {} : { minibatches: minibatchesOf(base, changes.groups) }),
    ...changes,
    advantage: { ...base.advantage, ...changes.advantage },
    adam: { ...base.adam, ...changes.adam },
  })
  return essence(changed) === essence(base) ? changed : { ...changed, recipe: `custom (${name})` }
}

/** Times its groups that a step may order at the most. */
const mostRefill = 100

function minibatchesOf({ minibatches }: Algorithm, groups: number): number {
  return Math.max(1, Math.min(minibatches, Math.floor(groups / leastGroups)))
}

function isRecipe(name: string): name is RecipeName {
  return Object.hasOwn(recipes, name)
}

function essence(whole: Algorithm): string {
  return canonicalJson({ ...whole, ...Object.fromEntries(sizes.map((name) => [name, null])) })
}

/** What an algorithm learns from. */
export function learnsFrom({ loss, teacher }: Algorithm): Recipe['learnsFrom'] {
  if (loss.name === 'cross_entropy') return 'demonstrations'
  if (loss.name === 'dpo') return 'preferences'
  return teacher !== undefined && !teacher.rewards ? 'teacher' : 'rewards'
}

/**
 * An algorithm from data, such as a `train.json` or what somebody typed. Throws `options_invalid`, naming the field, for what
 * is none, and for numbers that contradict each other.
 */
export function checkAlgorithm(value: unknown): Algorithm {
  const parsed = z.strictObject(algorithm.shape).safeParse(value)
  if (!parsed.success) throw invalid(z.prettifyError(parsed.error))
  const checked = parsed.data
  const { advantage, normalise, constantLength, overlong, adam, refill } = checked
  resolveLoss(lossOf(checked))
  if (advantage.baseline === 'none' && advantage.scale !== 'none') {
    throw invalid(
      'rewards are divided by their spread without a baseline. Set `advantage.scale` to "none", or take a baseline.',
    )
  }
  if (normalise === 'constant' && !(constantLength !== undefined && constantLength > 0)) {
    throw invalid(
      '`normalise` is "constant" without a `constantLength` above 0. Give the most tokens of a rollout.',
    )
  }
  if (overlong !== undefined && !(overlong.length >= overlong.buffer && overlong.buffer >= 0)) {
    throw invalid(`\`overlong.buffer\` ${overlong.buffer} must lie from 0 to its length ${overlong.length}.`)
  }
  if (refill > mostRefill) {
    throw invalid(
      `\`refill\` is ${refill}: a step whose groups all come out alike would order without an end. Give at most ${mostRefill}.`,
    )
  }
  checkAdam(adam)
  if (!(adam.learningRate > 0))
    throw invalid(`\`adam.learningRate\` is ${adam.learningRate}; it must be above 0.`)
  return checked
}

function invalid(what: string): QuintainError {
  return new QuintainError('options_invalid', `This algorithm cannot be: ${what}`)
}
