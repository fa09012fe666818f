import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { type Model, QuintainError, readManifest } from '../core/index.ts'
import type { Player } from '../engine/index.ts'
import { openSandboxDriver } from '../sandbox-drivers.ts'
import { readRenderer } from '../train/checkpoint.ts'
import { createEmbedded } from '../train/embedded/index.ts'
import type { ModelShape } from '../train/engine.ts'
import { sourcePath } from '../train/loop/checkpoint-source.ts'
import { checkpointPaths, newestCheckpoint, pathOf } from '../train/loop/checkpoints.ts'
import { resumeTraining } from '../train/loop/index.ts'
import { settingsIn } from '../train/loop/settings.ts'
import type { TrainingRecord } from '../train/records.ts'
import type { Renderer } from '../train/renderer.ts'
import { historyOf, plannedSteps, readTraining, trainingFiles } from '../train/training-folder.ts'
import type { ExitCode } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { type TrainingSessionOptions, trainingSession, typedEnvironment } from './training-session.ts'
import { openTutors } from './tutors.ts'

/** Options of `resume` that a training heeds. */
export interface ResumeTrainingFlags extends TrainingSessionOptions {
  /** Steps in all, where there are to be more. */
  steps?: number
  threads?: number
  concurrency?: number
  workers?: number
  boxes?: number
}

/** Who plays beside the policy, opened again. */
export interface Others {
  seats: Record<string, Player>
  judges: Record<string, Model>
}

/** Throws `run_corrupt` for the run of a training without its `train.json`: as a run alone it would be another thing. */
export async function refuseLostTraining(dir: string): Promise<void> {
  const newest = await newestCheckpoint(dir)
  if (newest === undefined && !existsSync(join(dir, trainingFiles.steps))) return await refuseUnbegun(dir)
  const begin = newest === undefined ? '' : `, or begin a new training with --from ${join(dir, newest)}`
  throw new QuintainError(
    'run_corrupt',
    `${dir} is a training whose ${trainingFiles.training} is gone, and with it how it is to go on. Put the file back from a copy${begin}.`,
    { facts: { dir } },
  )
}

/** The run of a training stands before what makes it one: a kill between the two leaves a run that nobody can play. */
async function refuseUnbegun(dir: string): Promise<void> {
  const manifest = await readManifest(dir).catch(() => undefined)
  if (manifest?.seats['agent']?.policy !== 'embedded') return
  throw new QuintainError(
    'run_corrupt',
    `${dir} is a training that ended before it had begun: it has no ${trainingFiles.training} and learned nothing. Remove the folder, and begin it again.`,
    { facts: { dir } },
  )
}

/**
 * Goes on with a training of the embedded engine where it stands. Throws `checkpoint_invalid` where none of its checkpoints can
 * be read, and what `resumeTraining` throws.
 */
export async function resumeTrainingCommand(
  dir: string,
  { seats, judges }: Others,
  flags: ResumeTrainingFlags,
  io: CliIo,
): Promise<ExitCode> {
  const { record, lines } = await readTraining(dir)
  const { algorithm, engine, seed } = record
  if (engine.name !== 'embedded')
    throw new QuintainError(
      'usage',
      `This training is by the engine ${engine.name}, which was opened in code; go on from there, with resumeTraining({ dir, learner }).`,
      { facts: { engine: engine.name } },
    )
  const renderer = await rendererOf(dir)
  const { threads, concurrency, workers, boxes, force } = flags
  const learner = await createEmbedded({
    shape: shapeOf(engine.model),
    seed,
    ...(threads === undefined ? {} : { threads }),
  })
  try {
    const tutors = await openTutors(tutorsOf(record, dir, threads), { learner, algorithm, cwd: io.cwd })
    try {
      const { readRecordings } = await import('../models/index.ts')
      const steps = flags.steps ?? plannedSteps(record, lines)
      const evaluate = settingsIn(record.options)?.evaluate
      return await trainingSession(
        {
          dir,
          typed: await typedFrom(dir, io.cwd, record.environmentOptions ?? {}),
          budget: { steps, ...(evaluate ? { evaluateEvery: evaluate.every } : {}) },
          history: historyOf(lines).filter(({ kind }) => kind !== 'end'),
          run: (control) =>
            resumeTraining({
              dir,
              cwd: io.cwd,
              learner,
              renderer,
              seats,
              judges,
              openSandbox: openSandboxDriver,
              openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
              ...tutors.options,
              ...(flags.steps === undefined ? {} : { steps }),
              ...(concurrency === undefined ? {} : { concurrency }),
              ...(workers === undefined ? {} : { workers }),
              ...(boxes === undefined ? {} : { boxes }),
              ...(force === undefined ? {} : { force }),
              ...control,
            }),
        },
        flags,
        io,
      )
    } finally {
      await tutors.close()
    }
  } finally {
    await learner.close()
  }
}

/**
 * The environment of a run as it would be typed here, with the options that were given; with all of them, where it is not known
 * which were.
 */
export async function typedFrom(
  dir: string,
  cwd: string,
  given?: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { reference, options } = (await readManifest(dir)).environment
  const env = /^\.{1,2}[/\\]/.test(reference) ? relative(cwd, resolve(dir, reference)) : reference
  return typedEnvironment(
    env,
    Object.entries(given ?? options).map(
      ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
  )
}

/** What a KL is taken against: what was named, else the policy as it began, which a training with a KL keeps. */
function tutorsOf(
  { algorithm, reference, teacher }: TrainingRecord,
  dir: string,
  threads: number | undefined,
) {
  return {
    ...(algorithm.kl === undefined
      ? {}
      : { reference: reference === undefined ? join(dir, pathOf(0)) : sourcePath(reference, dir) }),
    ...(teacher === undefined ? {} : { teacher: sourcePath(teacher, dir) }),
    ...(threads === undefined ? {} : { threads }),
  }
}

/** The renderer of the last checkpoint that has one. */
async function rendererOf(dir: string): Promise<Renderer> {
  let unreadable: unknown
  for (const path of await checkpointPaths(dir)) {
    try {
      return await readRenderer(join(dir, path))
    } catch (error) {
      unreadable ??= error
    }
  }
  if (unreadable !== undefined) throw unreadable
  throw new QuintainError(
    'checkpoint_invalid',
    'This training has no checkpoint: it ended before its first, or they were removed. There is nothing to go on with; begin a new one in another folder.',
    { facts: { dir } },
  )
}

function shapeOf({ sizes }: ModelShape) {
  const of = (name: string) => sizes[name] ?? Number.NaN
  return {
    layers: of('layers'),
    width: of('width'),
    heads: of('heads'),
    feedForward: of('feedForward'),
    vocabulary: of('vocabulary'),
    context: of('context'),
  }
}
