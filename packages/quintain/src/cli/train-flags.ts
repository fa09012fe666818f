import { z } from 'zod'
import { didYouMean, QuintainError } from '../core/index.ts'
import type { EvaluationPlan, Splits, Stragglers } from '../train/loop/index.ts'
import { learnsFrom, type RecipeChanges, recipe, recipes } from '../train/recipes.ts'
import { type Algorithm, algorithm } from '../train/records.ts'

/** What was typed of how to train. */
export interface AlgorithmFlags {
  recipe?: string
  /** `FIELD=VALUE` of the algorithm. */
  set?: string[]
  groups?: number
  groupSize?: number
  minibatches?: number
  epochs?: number
  learningRate?: number
  kl?: number
}

/** The fields of an algorithm by their paths: `advantage.scale`, `loss.name`. */
type Fields = Record<string, unknown>

/**
 * The algorithm of a recipe with what was typed. Throws `options_invalid` for a recipe or a field that is none, or a value that
 * does not do.
 */
export function algorithmOf(flags: AlgorithmFlags): Algorithm {
  const { recipe: name = 'grpo', set = [], groups, groupSize, minibatches, epochs, learningRate, kl } = flags
  if (!Object.hasOwn(recipes, name))
    throw new QuintainError(
      'options_invalid',
      `There is no recipe "${name}"${didYouMean(name, trainRecipes)} Recipes of train: ${trainRecipes.join(', ')}.`,
      { facts: { name, known: trainRecipes } },
    )
  const changes: RecipeChanges = {
    ...(groups === undefined ? {} : { groups }),
    ...(groupSize === undefined ? {} : { groupSize }),
    ...(minibatches === undefined ? {} : { minibatches }),
    ...(epochs === undefined ? {} : { epochs }),
    ...(learningRate === undefined ? {} : { adam: { learningRate } }),
    ...(kl === undefined || kl === 0 ? {} : { kl: { coefficient: kl, where: 'loss', estimator: 'k3' } }),
  }
  if (set.length === 0) return recipe(name, changes)
  const fields: Fields = structuredClone({ ...recipe(name, changes) })
  for (const text of set) setField(fields, text)
  const { recipe: _, ...whole } = fields
  return recipe(name, whole)
}

/**
 * An algorithm whose lengths are those of a policy, where they were not typed: no rollout has more tokens than the context, and
 * the soft penalty of a recipe that has one begins at three quarters of it.
 */
export function fitLengths(algorithm: Algorithm, { set = [] }: AlgorithmFlags, context: number): Algorithm {
  const isTyped = (field: string) => set.some((text) => text.trimStart().startsWith(field))
  const { constantLength, overlong } = algorithm
  return {
    ...algorithm,
    ...(constantLength === undefined || isTyped('constantLength') ? {} : { constantLength: context }),
    ...(overlong === undefined || isTyped('overlong')
      ? {}
      : { overlong: { ...overlong, length: context, buffer: Math.floor(context / 4) } }),
  }
}

/** Sets one field in place. */
function setField(fields: Fields, text: string): void {
  const [, name = '', raw = ''] = /^\s*([\w.]+)\s*=(.*)$/s.exec(text) ?? []
  const path = name.split('.')
  if (name === '' || path.includes('recipe') || path.includes('__proto__'))
    throw new QuintainError(
      'options_invalid',
      `--set ${JSON.stringify(text)}: write FIELD=VALUE of the algorithm, such as advantage.scale=none or adam.beta2=0.95.`,
    )
  refuseUnknownField(path)
  let value: unknown = raw
  try {
    value = JSON.parse(raw)
  } catch {
    // A word.
  }
  // Numbers of one loss mean nothing to another.
  if (name === 'loss.name') fields['loss'] = {}
  let at: Fields = fields
  for (const step of path.slice(0, -1)) {
    const inner = at[step]
    const next: Fields = typeof inner === 'object' && inner !== null ? { ...inner } : {}
    at[step] = next
    at = next
  }
  at[path.at(-1) ?? ''] = value
}

/** Throws `options_invalid` for a path that no algorithm has; what a loss takes is for the loss to say. */
function refuseUnknownField(path: readonly string[]): void {
  let at: z.core.$ZodType = algorithm
  for (const [depth, step] of path.entries()) {
    at = unwrapped(at)
    if (!(at instanceof z.ZodObject)) return
    const shape: Record<string, z.core.$ZodType> = at.shape
    const names = Object.keys(shape).filter((name) => name !== 'recipe')
    const next = names.includes(step) ? shape[step] : undefined
    if (next === undefined) {
      const known = names.map((name) => [...path.slice(0, depth), asTyped(name, shape[name]!)].join('.'))
      throw new QuintainError(
        'options_invalid',
        `--set: an algorithm has no field ${path.join('.')}${didYouMean(step, names)} It has ${known.join(', ')}.`,
        { facts: { field: path.join('.'), known: names } },
      )
    }
    at = next
  }
}

/** A field of the algorithm as it is typed: `groups`, `adam.FIELD`, and `config.NAME` where any name may stand. */
function asTyped(name: string, type: z.core.$ZodType): string {
  const inner = unwrapped(type)
  if (inner instanceof z.ZodRecord) return `${name}.NAME`
  return inner instanceof z.ZodObject ? `${name}.FIELD` : name
}

function unwrapped(type: z.core.$ZodType): z.core.$ZodType {
  return type instanceof z.ZodOptional ? type.unwrap() : type
}

/** Refuses a recipe that learns from something else than rollouts, and says which command does. */
export function refuseOffline(algorithm: Algorithm): void {
  const from = learnsFrom(algorithm)
  if (from !== 'demonstrations' && from !== 'preferences') return
  const command = from === 'demonstrations' ? 'sft' : 'dpo'
  throw new QuintainError(
    'usage',
    `The recipe ${algorithm.recipe} learns from ${from}, not from rollouts: npx quintain ${command}. Recipes of train: ${trainRecipes.join(', ')}.`,
  )
}

/** Recipes that learn from rollouts. */
export const trainRecipes: readonly string[] = Object.entries(recipes)
  .filter(([, { learnsFrom: from }]) => from === 'rewards' || from === 'teacher')
  .map(([name]) => name)

/** `wait`, `over-order=8`, `resume-long=0.75`, `partial-groups=2,0.75`. Throws `usage`. */
export function parseStragglers(text: string): Stragglers {
  const [, name = '', first = '', second = ''] = /^([a-z-]+)(?:=([\d.]+)(?:,([\d.]+))?)?$/.exec(text) ?? []
  if (text === 'wait') return 'wait'
  const [a, b] = [Number(first), Number(second)]
  if (name === 'over-order' && first !== '' && second === '') return { policy: 'over_order', extra: a }
  if (name === 'resume-long' && first !== '' && second === '') return { policy: 'resume_long', share: a }
  if (name === 'partial-groups' && second !== '') return { policy: 'partial_groups', atLeast: a, share: b }
  throw new QuintainError(
    'usage',
    `--stragglers ${JSON.stringify(text)}: write wait, over-order=EXTRA_GROUPS, resume-long=SHARE or partial-groups=AT_LEAST,SHARE.`,
  )
}

export interface SplitFlags {
  split?: string
  validationSplit?: string
  testSplit?: string
}

/** Which tasks are for what; `none` is none, and a share is of the training split. */
export function splitsOf({ split, validationSplit, testSplit }: SplitFlags): Splits {
  return {
    ...(split === undefined ? {} : { train: split }),
    ...(validationSplit === undefined ? {} : { validation: splitOf(validationSplit) }),
    ...(testSplit === undefined ? {} : { test: splitOf(testSplit) }),
  }
}

function splitOf(text: string): string | { share: number } | false {
  if (text === 'none') return false
  const share = shareOf(text)
  return Number.isNaN(share) ? text : { share }
}

function shareOf(text: string): number {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)
  if (percent) return Number(percent[1]) / 100
  return /^0\.\d+$/.test(text) ? Number(text) : Number.NaN
}

export interface EvaluationFlags {
  evalEvery?: number
  evalTasks?: number
  testTasks?: number
  testRepeats?: number
}

/** Measurements on the way, as many as a curve needs, when nothing is typed. */
const measurements = 8

/** What is measured when. */
export function evaluationOf(
  { evalEvery, evalTasks, testTasks, testRepeats }: EvaluationFlags,
  steps: number | undefined,
): EvaluationPlan {
  return {
    every: evalEvery ?? (steps === undefined ? 20 : Math.max(1, Math.ceil(steps / measurements))),
    ...(evalTasks === undefined ? {} : { validation: { tasks: evalTasks }, train: { tasks: evalTasks } }),
    ...(testTasks === undefined && testRepeats === undefined
      ? {}
      : {
          test: {
            ...(testTasks === undefined ? {} : { tasks: testTasks }),
            ...(testRepeats === undefined ? {} : { repeats: testRepeats }),
          },
        }),
  }
}
