import { resolve } from 'node:path'
import { QuintainError, readManifest, type Sampling } from '../core/index.ts'
import type { Player, RunOptions } from '../engine/index.ts'
import type { ExitCode } from './exit-codes.ts'
import { exitCodes } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { parseLimits, parseOptions, parseSeats } from './parse.ts'
import { groupNotes, newPlanNotes } from './plan-notes.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { formatPreview } from './preview.ts'
import { newRunDir } from './run-path.ts'
import { runSession, type SessionOptions } from './run-session.ts'

export interface EvalOptions extends SessionOptions, EndpointOptions {
  model?: string
  policy?: string
  seat?: string[]
  tasks?: number
  task?: string[]
  repeats?: number
  split?: string
  seed?: string
  limit?: string[]
  option?: string[]
  temperature?: number
  topP?: number
  maxTokens?: number
  reasoningEffort?: string
  isolation?: 'worker' | 'inline'
  out?: string
  dryRun?: boolean
  escalate?: boolean
}

function samplingOf({ temperature, topP, maxTokens, reasoningEffort }: EvalOptions): Sampling | undefined {
  const sampling: Sampling = {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
  }
  return Object.keys(sampling).length === 0 ? undefined : sampling
}

/** Plans a run of an environment, runs it, prints the report. */
export async function evalCommand(env: string, options: EvalOptions, io: CliIo): Promise<ExitCode> {
  const { model, policy } = options
  if ((model === undefined) === (policy === undefined)) {
    throw new QuintainError(
      'usage',
      model === undefined
        ? 'Say who plays: -m MODEL, or --policy script:oracle (script:noop, script:random, or one the environment ships).'
        : 'Give -m or --policy, not both.',
    )
  }
  if (options.tasks !== undefined && options.task !== undefined) {
    throw new QuintainError('usage', 'Give -n (how many) or --task (which), not both.')
  }
  const limits = options.limit === undefined ? undefined : parseLimits(options.limit)
  const envOptions = options.option === undefined ? undefined : parseOptions(options.option)
  const otherSeats = parseSeats(options.seat ?? [])
  const sampling = samplingOf(options)
  const players = new PlayerOpener(options, io)
  try {
    const seats: Record<string, Player> = {
      agent: policy === undefined ? { model: await players.model(model ?? '') } : { policy },
    }
    for (const [seat, text] of Object.entries(otherSeats)) seats[seat] = await players.player(text)
    const dir =
      options.out === undefined ? newRunDir(io.cwd, env, policy ?? model ?? '') : resolve(io.cwd, options.out)
    const { readRecordings } = await import('../models/index.ts')
    const tasks = options.task ?? options.tasks
    const repeats = options.repeats ?? 1
    const run: RunOptions = {
      env,
      seats,
      dir,
      cwd: io.cwd,
      openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
      ...(tasks === undefined ? {} : { tasks }),
      ...(options.split === undefined ? {} : { split: options.split }),
      ...(options.repeats === undefined ? {} : { repeats: options.repeats }),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      ...(envOptions === undefined ? {} : { options: envOptions }),
      ...(limits === undefined ? {} : { limits }),
      ...(sampling === undefined ? {} : { sampling }),
      ...(options.isolation === undefined ? {} : { isolation: options.isolation }),
      ...(options.escalate === undefined ? {} : { escalate: options.escalate }),
      ...(options.workers === undefined ? {} : { workers: options.workers }),
    }
    const { previewRun, startRun } = await import('../engine/index.ts')
    if (options.dryRun) {
      const preview = await previewRun(run)
      io.stdout.write(options.json ? `${JSON.stringify(preview, null, 2)}\n` : formatPreview(preview))
      const notes = [...newPlanNotes(options, preview), ...groupNotes(preview.environment.rewards, repeats)]
      for (const note of options.quiet ? [] : notes) io.stderr.write(`${note}\n`)
      return exitCodes.done
    }
    return await runSession(
      (control) => startRun({ ...run, ...control }),
      options,
      io,
      async ({ orders }) => [
        ...newPlanNotes(options, { orders, repeats }),
        ...groupNotes((await readManifest(dir)).environment.rewards, repeats),
      ],
    )
  } finally {
    await players.close()
  }
}
