import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { quintainVersion } from '../core/version.ts'
import { printableLine, styleFor } from '../report/index.ts'
import { checkpointFiles, writeCheckpoint } from '../train/checkpoint.ts'
import { distinctOf, holdOut } from '../train/hold-out.ts'
import { type ImitateOptions, type ImitationEnd, imitate } from '../train/imitate.ts'
import { learnsFrom } from '../train/recipes.ts'
import type { Algorithm } from '../train/records.ts'
import { type ExitCode, exitCodeOfError, exitCodes } from './exit-codes.ts'
import { demonstrations, type ExampleFlags, preferences } from './imitation-examples.ts'
import {
  formatImitation,
  type ImitationProgress,
  type ImitationReport,
  imitationProgressText,
  leanWarnings,
} from './imitation-text.ts'
import { listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { type LearnerFlags, type OpenedLearner, openLearner } from './open-learner.ts'
import { createDisplay } from './progress.ts'
import { quoted } from './resume-hint.ts'
import { typedFrom } from './resume-training.ts'
import { type AlgorithmFlags, algorithmOf } from './train-flags.ts'

export interface SftFlags extends LearnerFlags, AlgorithmFlags, ExampleFlags {
  out?: string
  force?: boolean
  steps?: number
  minutes?: number
  /** Examples a step. */
  batch?: number
  heldOut?: number
  json?: boolean
  quiet?: boolean
}

/** Times that the examples are gone through when nothing is typed. */
const defaultEpochs = 3
/** Trains a policy on conversations, or on preferences, and writes it as a checkpoint. */
export async function sftCommand(
  recipe: 'sft' | 'dpo',
  sources: readonly string[],
  flags: SftFlags,
  io: CliIo,
): Promise<ExitCode> {
  const { out, batch, seed = '0', epochs, steps, minutes } = flags
  const algorithm = algorithmOf({
    ...flags,
    recipe,
    ...(batch === undefined ? {} : { groups: batch }),
    epochs: 1,
  })
  const target = await checkedTarget(out, flags.force === true, io.cwd)
  if (recipe === 'dpo' && flags.from === undefined)
    throw new QuintainError('usage', 'Preferences change a policy that can speak: give --from CHECKPOINT.')
  const opened = await openLearner(flags, io.cwd)
  try {
    const read =
      recipe === 'sft'
        ? await demonstrations(sources, flags, opened, io)
        : await preferences(sources, flags, opened, io)
    const { learned, held, parts } = holdOut(read.found.examples, {
      seed,
      ...(flags.heldOut === undefined ? {} : { share: flags.heldOut }),
    })
    const lean = leanWarnings(
      { learned: learned.length, heldOut: held.length, left: read.found.left },
      { recipe, context: opened.learner.capabilities.context },
    )
    if (flags.quiet !== true) for (const warning of lean) io.stderr.write(`${warning}\n`)
    const length = minutes === undefined && steps === undefined ? { epochs: epochs ?? defaultEpochs } : {}
    const end = await driveImitation(flags, io, (control) =>
      imitate({
        learner: opened.learner,
        algorithm,
        examples: learned,
        heldOut: held,
        seed,
        ...length,
        ...(epochs === undefined ? {} : { epochs }),
        ...(steps === undefined ? {} : { steps }),
        ...(minutes === undefined ? {} : { seconds: 60 * minutes }),
        ...control,
      }),
    )
    const { error: _, ...ended } = end
    const report: ImitationReport = {
      schema: 'quintain.imitation',
      v: 1,
      recipe: algorithm.recipe,
      out: out ?? '',
      from: opened.from,
      sources: read.sources,
      examples: {
        learned: learned.length,
        distinct: distinctOf(learned),
        heldOut: held.length,
        heldOutOf:
          flags.heldOut === 0
            ? null
            : { count: parts, what: held.some(({ task }) => task === null) ? 'conversation' : 'task' },
        left: read.found.left,
        ...(read.found.longest === undefined ? {} : { longest: read.found.longest }),
      },
      model: opened.learner.model,
      end: ended,
    }
    if (end.steps > 0) await save(target, opened, report, algorithm, seed)
    if (flags.json) io.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
    else io.stdout.write(formatImitation(report, { style: styleFor(io.stdout, io.env) }))
    if (flags.quiet !== true && end.steps > 0 && end.reason !== 'not_finite')
      tellNext(out ?? '', await environmentOf(read.runs, io.cwd), io)
    return exitCodeOf(end)
  } finally {
    await opened.learner.close()
  }
}

function exitCodeOf({ reason, error }: ImitationEnd): ExitCode {
  if (reason === 'done' || reason === 'budget') return exitCodes.done
  if (reason === 'cancelled') return exitCodes.incomplete
  return QuintainError.isInstance(error) ? exitCodeOfError(error.code) : exitCodes.other
}

/** Where the checkpoint goes. Throws `usage` for nowhere, `output_exists` for a folder that holds something. */
async function checkedTarget(out: string | undefined, force: boolean, cwd: string): Promise<string> {
  if (out === undefined) throw new QuintainError('usage', 'Say where the checkpoint goes: --out FOLDER.')
  const target = resolve(cwd, out)
  const found = await stat(target).catch(() => undefined)
  if (found === undefined) return target
  if (found.isDirectory() && force && existsSync(resolve(target, checkpointFiles.model))) return target
  throw new QuintainError(
    'output_exists',
    `${printableLine(out)} is there already. Name another folder${found.isDirectory() ? '; a checkpoint is overwritten with --force' : ''}.`,
    { facts: { out } },
  )
}

async function driveImitation(
  flags: SftFlags,
  io: CliIo,
  run: (control: Pick<ImitateOptions, 'signal' | 'hardSignal' | 'onStep'>) => Promise<ImitationEnd>,
): Promise<ImitationEnd> {
  const display = createDisplay(io.stderr, imitationProgressText, { quiet: flags.quiet === true })
  const interrupts = listenForInterrupts(
    io,
    (text) => display.say(text),
    'Stopping: the policy as it is will be written. It cannot be resumed; begin another --from it.',
  )
  let measured: ImitationProgress['measured']
  try {
    return await run({
      signal: interrupts.signal,
      hardSignal: interrupts.hardSignal,
      onStep(step) {
        if (step.heldOut !== undefined) measured = { step: step.step, loss: step.heldOut }
        display.update({ ...step, measured })
      },
    })
  } finally {
    display.end()
    interrupts.stop()
  }
}

async function save(
  target: string,
  { learner, renderer }: OpenedLearner,
  report: ImitationReport,
  algorithm: Algorithm,
  seed: string,
): Promise<void> {
  const { schema: _, v: __, out: ___, ...what } = report
  const made = { by: learnsFrom(algorithm), quintain: quintainVersion, seed, algorithm, ...what }
  await writeCheckpoint(target, { learner, renderer, made })
}

/** The environment that the examples are of, as it is typed; `ENV` where it is not known, or there are several. */
async function environmentOf(runs: readonly string[], cwd: string): Promise<string> {
  const typed = new Set(await Promise.all(runs.map((dir) => typedFrom(dir, cwd))))
  const [only, ...others] = typed
  return only === undefined || others.length > 0 ? 'ENV' : only
}

function tellNext(out: string, env: string, io: CliIo): void {
  const shown = quoted(printableLine(out))
  io.stderr.write(`\nCheckpoint: ${shown}\n`)
  io.stderr.write(`Measure it like any model: npx quintain eval ${env} -m checkpoint:${shown}\n`)
  io.stderr.write(`Train it by reinforcement: npx quintain train ${env} --from ${shown}\n`)
  if (env === 'ENV')
    io.stderr.write('ENV is an environment, with the --option that its conversations were played with.\n')
}
