import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { sha256 } from '../core/canonical.ts'
import { QuintainError, readManifest } from '../core/index.ts'
import { exportRows, type RowFilter } from '../doors/rows-out/index.ts'
import { countText, plural } from '../report/index.ts'
import { type Demonstration, demonstrationOf, readDemonstrations } from '../train/demonstrations.ts'
import { type Examples, examplesOf, examplesOfPreferences, withReference } from '../train/examples.ts'
import { type Preference, preferenceOf, readPreferences } from '../train/preferences.ts'
import { leftText } from './imitation-text.ts'
import type { CliIo } from './io.ts'
import type { OpenedLearner } from './open-learner.ts'
import { findRuns } from './run-path.ts'

/** Which conversations are learned from. */
export interface ExampleFlags {
  winnersOnly?: boolean
  minReward?: number
  maxPerTask?: number
  bestOfN?: number
  margin?: number
  seat?: string
}

/** Where examples came from. */
interface Source {
  path: string
  /** SHA-256 of a file, id of a run. */
  digest: string
}

/** Examples of some sources. */
export interface ReadExamples {
  sources: Source[]
  /** Folders of the runs among them. */
  runs: string[]
  found: Examples
}

/**
 * Conversations of files and runs, as a policy reads them. Throws `import_invalid` for a file that is none, `prompt_invalid` for text
 * that the vocabulary does not cover, and `usage` where nothing is left, and for a choice among attempts where there are none.
 */
export async function demonstrations(
  sources: readonly string[],
  { winnersOnly, minReward, maxPerTask, bestOfN, seat }: ExampleFlags,
  { learner, renderer, from: checkpoint }: OpenedLearner,
  io: CliIo,
): Promise<ReadExamples> {
  const read: Demonstration[] = []
  const { from, runs } = await eachSource(sources, io, {
    file: async (path) => void read.push(...(await readDemonstrations(path))),
    // Of a run the choice is made here as it is of a file: by what is asked for below.
    run: (dirs) =>
      exportRows(dirs, {
        form: 'sft',
        filter: { kind: 'all' },
        maxPerTask,
        bestOfN,
        seat,
        onRow: (row) => void read.push(demonstrationOf({ ...row }, dirs.join(', '))),
      }),
  })
  refuseWithoutRuns(runs, { '--best-of-n': bestOfN, '--max-per-task': maxPerTask, '--seat': seat })
  const found = examplesOf(read, renderer, {
    context: learner.capabilities.context,
    ...(minReward === undefined ? {} : { minReward }),
    ...(winnersOnly === undefined ? {} : { success: winnersOnly }),
  })
  const typed = {
    ...(winnersOnly === undefined ? {} : { winnersOnly }),
    ...(minReward === undefined ? {} : { minReward }),
    isNew: checkpoint === null,
  }
  return { sources: from, runs, found: nonEmpty(found, read.length, 'conversation', typed) }
}

/** Preferences of files and runs, with the policy as it is for reference. Throws as `demonstrations` does. */
export async function preferences(
  sources: readonly string[],
  { minReward, maxPerTask, margin, seat }: ExampleFlags,
  { learner, renderer, from: checkpoint }: OpenedLearner,
  io: CliIo,
): Promise<ReadExamples> {
  const read: Preference[] = []
  const filter: RowFilter | undefined =
    minReward === undefined ? undefined : { kind: 'reward', least: minReward }
  const { from, runs } = await eachSource(sources, io, {
    file: async (path) => void read.push(...(await readPreferences(path))),
    run: (dirs) =>
      exportRows(dirs, {
        form: 'preference',
        filter,
        maxPerTask,
        margin,
        seat,
        onRow: (row) => void read.push(preferenceOf({ ...row }, dirs.join(', '))),
      }),
  })
  refuseWithoutRuns(runs, {
    '--margin': margin,
    '--min-reward': minReward,
    '--max-per-task': maxPerTask,
    '--seat': seat,
  })
  const found = examplesOfPreferences(read, renderer, { context: learner.capabilities.context })
  const typed = {
    ...(minReward === undefined ? {} : { minReward }),
    ...(margin === undefined ? {} : { margin }),
    isNew: checkpoint === null,
  }
  const { examples, ...more } = nonEmpty(found, read.length, 'pair', typed)
  const before = await learner.sampler()
  try {
    return { sources: from, runs, found: { ...more, examples: await withReference(examples, before) } }
  } finally {
    await before.close()
  }
}

/** Reads files as lines and folders as runs. */
async function eachSource(
  sources: readonly string[],
  io: CliIo,
  read: { file(path: string): Promise<unknown>; run(dirs: string[]): Promise<unknown> },
): Promise<{ from: Source[]; runs: string[] }> {
  const found: Source[] = []
  const runs: string[] = []
  for (const path of sources) {
    const whole = resolve(io.cwd, path)
    const isFile = await stat(whole).then(
      (one) => one.isFile(),
      () => /\.jsonl?$/.test(path),
    )
    if (isFile) {
      await read.file(whole)
      found.push({ path, digest: sha256(await readFile(whole)) })
    } else {
      const dirs = await findRuns(path, io.cwd)
      await read.run(dirs)
      runs.push(...dirs)
      for (const dir of dirs) found.push({ path, digest: (await readManifest(dir)).id })
    }
  }
  return { from: found, runs }
}

/** Throws `usage` for an option that chooses among the attempts of runs where no source is a run. */
function refuseWithoutRuns(runs: readonly string[], ofRuns: Readonly<Record<string, unknown>>): void {
  const foreign = Object.keys(ofRuns).find((name) => ofRuns[name] !== undefined)
  if (foreign === undefined || runs.length > 0) return
  throw new QuintainError(
    'usage',
    `${foreign} chooses among the attempts of runs, and a file has none: leave it out, or name a run.`,
  )
}

/** Filters that were typed, and whether the policy is a new one. */
interface Typed {
  winnersOnly?: boolean
  minReward?: number
  margin?: number
  isNew: boolean
}

/** What would let in more of what was left out; what was not typed cannot be loosened. */
function adviceOn({ left, longest }: Examples, { winnersOnly, minReward, isNew }: Typed): string {
  const advice: string[] = []
  if ((left.below ?? 0) > 0 && minReward !== undefined) advice.push(`Give a --min-reward below ${minReward}.`)
  if ((left.failed ?? 0) > 0 && winnersOnly === true) advice.push('Leave out --winners-only.')
  if ((left.no_reward ?? 0) > 0)
    advice.push('Those that are not scored need a reward and a success in their line, or no filter by them.')
  if (longest !== undefined)
    advice.push(
      `The longest has ${countText(longest)} tokens: ${isNew ? `give --context ${longest}, or a --vocabulary of longer pieces` : `the policy was made for fewer, and a new one is wanted (without --from, with --context ${longest})`}.`,
    )
  if ((left.empty ?? 0) > 0)
    advice.push('A message of the assistant without text teaches silence: take it out.')
  if ((left.same ?? 0) > 0) advice.push('Both sides of a pair must differ.')
  return advice.join(' ')
}

/** Throws `usage` where nothing is left, with why and what would help. */
function nonEmpty(found: Examples, read: number, noun: string, typed: Typed): Examples {
  if (found.examples.length > 0) return found
  if (read === 0) throw new QuintainError('usage', nothingRead(noun, typed))
  throw new QuintainError(
    'usage',
    `Of ${plural(read, noun)} none is left to learn from: ${leftText(found.left)}. ${adviceOn(found, typed)}`,
    { facts: { read, left: found.left, ...(found.longest === undefined ? {} : { longest: found.longest }) } },
  )
}

function nothingRead(noun: string, { minReward, margin }: Typed): string {
  if (noun !== 'pair') return 'There is no conversation to learn from in these sources.'
  const filters = [
    ...(margin === undefined ? [] : [`by ${margin} (--margin)`]),
    ...(minReward === undefined ? [] : [`with the better of ${minReward} or more (--min-reward)`]),
  ]
  return `There is no pair to learn from: it takes two attempts at one task whose rewards differ${filters.length === 0 ? '' : ` ${filters.join(', ')}`}. Play tasks several times (npx quintain eval ENV -r 4).`
}
