import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalJson, didYouMean, type Need, QuintainError } from '../../core/index.ts'
import { runFiles } from '../../core/run-folder.ts'
import type { EngineCapabilities, Learner } from '../engine.ts'
import { learnsFrom } from '../recipes.ts'
import type { Algorithm, TrainingRecord } from '../records.ts'
import type { Renderer } from '../renderer.ts'
import type { Settings } from './settings.ts'
import type { Sitting } from './train-options.ts'

/** What a loop is made of, whichever way it began. */
interface Parts extends Pick<Sitting, 'reference' | 'teacher'> {
  learner: Learner
  renderer: Renderer
  algorithm: Algorithm
}

/**
 * Refuses, before anything is opened, what no loop can be made of: `options_invalid` for an algorithm that learns from
 * something else than rollouts, groups of one, and a reference or teacher that is missing; `training_mismatch` for a
 * renderer, reference or teacher of another vocabulary than the learner's, and a reference or teacher with less context.
 */
export function checkParts({ learner, renderer, algorithm, reference, teacher }: Parts): void {
  const from = learnsFrom(algorithm)
  if (from === 'demonstrations' || from === 'preferences') {
    throw invalid(
      `The recipe ${algorithm.recipe} learns from ${from}, not from rollouts. Use \`quintain sft\`, or a recipe such as grpo.`,
    )
  }
  const compares = from === 'rewards' && algorithm.advantage.baseline !== 'none'
  if (compares && algorithm.groupSize < 2) {
    throw invalid(
      'A group of one has nothing to be compared with, so nothing would be learned. Give a group size of 2 or more (16 is usual), or the baseline `none`.',
    )
  }
  if (algorithm.kl !== undefined && reference === undefined) {
    throw invalid(
      'The algorithm has a KL term, and there is no reference policy to take it against. Give its sampler.',
    )
  }
  if (algorithm.teacher !== undefined && teacher === undefined) {
    throw invalid('The algorithm learns from a teacher, and there is none. Give its sampler.')
  }
  const { vocabulary, context }: EngineCapabilities = learner.capabilities
  for (const [who, has] of [
    ['renderer', renderer.vocabulary],
    ['reference', reference?.capabilities.vocabulary],
    ['teacher', teacher?.capabilities.vocabulary],
  ] as const) {
    if (has === undefined || has === vocabulary) continue
    throw new QuintainError(
      'training_mismatch',
      `The ${who} has a vocabulary of ${has} and the learner one of ${vocabulary}: their ids do not mean the same. Give the ${who} that belongs to this learner.`,
      { facts: { who, has, vocabulary } },
    )
  }
  for (const [who, sampler] of [
    ['reference', reference],
    ['teacher', teacher],
  ] as const) {
    const has = sampler?.capabilities.context ?? context
    if (has >= context) continue
    throw new QuintainError(
      'training_mismatch',
      `The ${who} has a context of ${has} tokens and the learner one of ${context}: it cannot score what the learner says beyond its own. Give a ${who} with as large a context.`,
      { facts: { who, has, context } },
    )
  }
}

/** Throws `options_invalid` for settings that contradict each other or the algorithm. */
export function checkSettings(
  { stragglers }: Settings,
  { groups, groupSize }: Algorithm,
  rewards: Readonly<Record<string, { kind: string }>>,
): void {
  if (stragglers === 'wait' || stragglers.policy !== 'partial_groups') return
  if (stragglers.atLeast > groupSize) {
    throw invalid(
      `Parts of groups are to have at least ${stragglers.atLeast} rollouts, and a group has ${groupSize}. Give at most that.`,
    )
  }
  const ranked = Object.entries(rewards).find(([, { kind }]) => kind === 'group')
  if (ranked !== undefined) {
    throw invalid(
      `Reward ${ranked[0]} needs the whole group (of ${groups} a step), so that no part of one can be learned from. Take another policy for stragglers, such as over_order.`,
    )
  }
}

/** Throws `options_invalid` for a shadow verifier that is neither a metric nor a reward of the environment. */
export function checkShadow(
  shadow: string | undefined,
  { metrics, rewards }: { metrics: readonly string[]; rewards: Readonly<Record<string, unknown>> },
): void {
  const known = [...metrics, ...Object.keys(rewards)]
  if (shadow === undefined || known.includes(shadow)) return
  throw invalid(
    `The environment has no metric or reward "${shadow}" to watch beside the reward${didYouMean(shadow, known)} It has ${known.join(', ')}.`,
  )
}

/** Throws `run_exists` for a folder that holds a run: before anything is opened, which takes its time. */
export async function checkFree(dir: string): Promise<void> {
  if (!existsSync(join(dir, runFiles.manifest))) return
  throw new QuintainError(
    'run_exists',
    `${dir} already holds a run. Name another folder; \`quintain resume\` goes on with a training that is there.`,
    { facts: { dir } },
  )
}

/** Throws `needs_unmet` for an environment that needs what the renderer cannot write or read. */
export function checkNeeds(needs: readonly Need[], renderer: Renderer): void {
  const { vocabulary, omit = [] } = renderer.describe()
  if (omit.includes('observations')) return
  const lacks: Partial<Record<Need, string>> = {
    images: 'A policy that reads tokens of text sees none: take an environment without images.',
    ...(vocabulary === 'bytes'
      ? {}
      : { tools: 'A vocabulary of given texts cannot write calls: take the vocabulary `bytes`.' }),
  }
  for (const need of needs) {
    if (lacks[need] === undefined) continue
    throw new QuintainError('needs_unmet', `The environment needs ${need}. ${lacks[need]}`, {
      facts: { need },
    })
  }
}

/** Throws `training_mismatch`, naming what differs, where a training is to go on as another than it began. */
export function checkSameTraining(
  record: TrainingRecord,
  { learner, algorithm }: { learner: Learner; algorithm: Algorithm | undefined },
): void {
  const { kind, sizes } = record.engine.model
  const differing = [
    ...(learner.model.kind === kind ? [] : [`kind of model: ${kind}, now ${learner.model.kind}`]),
    ...differences(sizes, learner.model.sizes, ''),
  ]
  if (differing.length > 0) throw mismatch('its model was of another shape', differing)
  if (algorithm === undefined) return
  const changed = differences(record.algorithm, algorithm, '')
  if (changed.length > 0) throw mismatch('it began with another recipe', changed)
}

function mismatch(what: string, differing: readonly string[]): QuintainError {
  return new QuintainError(
    'training_mismatch',
    `This training cannot go on with what was given: ${what} (${differing.join('; ')}). Give what it began with, or begin a new training from its checkpoint.`,
    { facts: { differing } },
  )
}

/** `path: before, now after` for each field that differs. */
function differences(before: unknown, now: unknown, path: string): string[] {
  if (isPlain(before) && isPlain(now)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort()
    return names.flatMap((name) =>
      differences(before[name], now[name], path === '' ? name : `${path}.${name}`),
    )
  }
  if (before === now || canonicalJson(before ?? null) === canonicalJson(now ?? null)) return []
  return [`${path}: ${JSON.stringify(before ?? null)}, now ${JSON.stringify(now ?? null)}`]
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(message: string): QuintainError {
  return new QuintainError('options_invalid', message)
}
