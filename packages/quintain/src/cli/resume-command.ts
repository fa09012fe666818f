import { resolve } from 'node:path'
import { QuintainError, readManifest } from '../core/index.ts'
import type { Player, ResumeOptions } from '../engine/index.ts'
import type { ExitCode } from './exit-codes.ts'
import type { CliIo } from './io.ts'
import { extendedPlanNotes, planSize } from './plan-notes.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { findRun } from './run-path.ts'
import { runSession, type SessionOptions } from './run-session.ts'

export interface ResumeCommandOptions extends SessionOptions, EndpointOptions {
  tasks?: number
  task?: string[]
  repeats?: number
  split?: string
  retryFaults?: boolean
  force?: boolean
}

/** Goes on with a run, and may order more into it. */
export async function resumeCommand(
  run: string,
  options: ResumeCommandOptions,
  io: CliIo,
): Promise<ExitCode> {
  if (options.tasks !== undefined && options.task !== undefined) {
    throw new QuintainError('usage', 'Give -n (how many) or --task (which), not both.')
  }
  const dir = findRun(run, io.cwd)
  const manifest = await readManifest(dir)
  if (manifest.environment.reference === 'imported') {
    throw new QuintainError(
      'usage',
      `${run} was imported from a file; there is no environment here in which to go on with it. To make one of the same file: npx quintain init --from FILE.`,
      { facts: { run } },
    )
  }
  const opener = new PlayerOpener(options, io)
  try {
    const players: Record<string, Player> = {}
    for (const [seat, { policy, harness, endpoint }] of Object.entries(manifest.seats)) {
      if (/^(script|recorded):/.test(policy)) continue
      if (harness.endsWith('@function')) {
        throw new QuintainError(
          'usage',
          `The ${seat} of this run was a function; resume it from code, with resume(dir, { agent }).`,
          { facts: { seat, policy } },
        )
      }
      // The key is not in the records.
      const player: Player = { model: await opener.model(policy, endpoint) }
      players[seat] = player
    }
    const { readRecordings } = await import('../models/index.ts')
    const { resumeRun } = await import('../engine/index.ts')
    const tasks = options.task ?? options.tasks
    const resumeOptions: ResumeOptions = {
      dir,
      players,
      cwd: io.cwd,
      openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
      ...(tasks === undefined ? {} : { tasks }),
      ...(options.repeats === undefined ? {} : { repeats: options.repeats }),
      ...(options.split === undefined ? {} : { split: options.split }),
      ...(options.retryFaults === undefined ? {} : { retryFaults: options.retryFaults }),
      ...(options.force === undefined ? {} : { force: options.force }),
    }
    const more = options.tasks !== undefined || options.repeats !== undefined
    const before = more ? await planSize(dir, options.split) : undefined
    return await runSession(
      (control) => resumeRun({ ...resumeOptions, ...control }),
      options,
      io,
      async () =>
        before === undefined ? [] : extendedPlanNotes(options, before, await planSize(dir, options.split)),
    )
  } finally {
    await opener.close()
  }
}
