import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Limits, QuintainError } from '../../core/index.ts'
import { startRun } from '../../engine/index.ts'
import type { Door } from '../serve/door.ts'
import { openSessionCore } from '../session/index.ts'
import { mergeParity } from './merge-parity.ts'
import type { EpisodeParity } from './parity-report.ts'
import { type RecordedRun, readEpisodes } from './read-episodes.ts'
import { type RecordOptions, recordEpisodes } from './record-episodes.ts'
import { runParity } from './run-parity.ts'

export interface EnvironmentParityOptions extends Omit<RecordOptions, 'folder'> {
  doors: readonly Door[]
  /** Folders of runs of this environment, whose episodes are played again instead of new ones. */
  runs?: readonly string[]
  log(line: string): void
  /** Milliseconds after which results tell another time; a minute when absent, as many programs tell it to the minute. */
  clockStepMs?: number
  /** Told what is begun. */
  say?(what: string): void
}

/**
 * Plays an environment in the engine (or takes runs of it), plays the same moves again behind every door, and compares. What
 * is recorded on the way is taken away again. Throws as a run does, and `run_not_found` and `run_mismatch` for runs.
 */
export async function environmentParity(options: EnvironmentParityOptions): Promise<EpisodeParity> {
  const folder = await mkdtemp(join(tmpdir(), 'quintain-parity-'))
  try {
    const { runs, notes } = await episodesOf(options, folder)
    const parts: EpisodeParity[] = []
    for (const [place, alike] of sameWorlds(runs).entries()) {
      options.signal?.throwIfAborted()
      options.say?.(`playing ${alike.reduce((sum, { episodes }) => sum + episodes.length, 0)} episodes again`)
      parts.push(await playedAgain(options, alike, join(folder, `served-${place}`)))
    }
    const merged = mergeParity(parts)
    return { ...merged, notes: [...notes, ...merged.notes] }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function episodesOf(
  options: EnvironmentParityOptions,
  folder: string,
): Promise<{ runs: RecordedRun[]; notes: string[] }> {
  const { runs: dirs = [], doors: _, log: _log, clockStepMs: _c, say, ...record } = options
  if (dirs.length === 0) return recordEpisodes({ ...record, folder, ...(say === undefined ? {} : { say }) })
  const runs: RecordedRun[] = []
  const notes: string[] = []
  for (const dir of dirs) {
    const run = await readEpisodes(dir, options.tasks)
    if (run.unplayed > 0) notes.push(`${run.unplayed} orders of a run of ${run.player} have no episode`)
    runs.push(run)
  }
  return { runs, notes }
}

/** Runs whose worlds are made alike, together: of one seed, with one set of options and limits. */
function sameWorlds(runs: readonly RecordedRun[]): RecordedRun[][] {
  const groups = new Map<string, RecordedRun[]>()
  for (const run of runs) {
    const { seed, environment, limitsGiven } = run.manifest
    const key = JSON.stringify([seed, environment.options, limitsGiven])
    groups.set(key, [...(groups.get(key) ?? []), run])
  }
  return [...groups.values()]
}

async function playedAgain(
  options: EnvironmentParityOptions,
  runs: readonly RecordedRun[],
  dir: string,
): Promise<EpisodeParity> {
  const {
    env,
    doors,
    log,
    signal,
    tasks: _tasks,
    policies: _p,
    runs: _r,
    say: _s,
    clockStepMs: _c,
    ...shared
  } = options
  const { seed, environment, limitsGiven } = runs[0]!.manifest
  const core = await openSessionCore({
    ...shared,
    env,
    dir,
    seed,
    options: environment.options,
    ...(limitsGiven === undefined ? {} : { limits: limitsGiven as Limits }),
  })
  try {
    const served = core.environment
    const strange = runs.find(({ manifest }) => manifest.environment.name !== served.name)?.manifest
    if (strange !== undefined)
      throw new QuintainError(
        'run_mismatch',
        `The run is of ${strange.environment.name}, and ${served.name} is what was named.`,
        { facts: { run: strange.id, environment: served.name } },
      )
    const again = async (run: RecordedRun) => {
      options.say?.(`recording ${run.player} again: other results were read`)
      await anotherTime(run.endedAt, options.clockStepMs ?? 60_000)
      return recordAgain(options, run, `${dir}-again-${runs.indexOf(run)}`)
    }
    const parity = await runParity({
      core,
      runs,
      doors,
      log,
      again,
      ...(signal === undefined ? {} : { signal }),
    })
    const changed = runs.filter(({ manifest }) => manifest.environment.digest !== served.digest)
    const notes = changed.map(({ player }) => `the run of ${player} is of another version of ${served.name}`)
    return { ...parity, notes: [...parity.notes, ...notes] }
  } finally {
    await core.close()
  }
}

/** What is played again is to be played at a time that is told as another one. */
function anotherTime(endedAt: number, stepMs: number): Promise<void> {
  const next = (Math.floor(endedAt / stepMs) + 1) * stepMs
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, next - Date.now())))
}

/** Plays the moves of a run in the engine once more. */
async function recordAgain(
  options: EnvironmentParityOptions,
  { dir: before, manifest, player, episodes }: RecordedRun,
  dir: string,
): Promise<RecordedRun> {
  const {
    tasks: _t,
    policies: _p,
    runs: _r,
    doors: _d,
    log: _l,
    say: _s,
    clockStepMs: _c,
    seats,
    ...shared
  } = options
  const policy = player.startsWith('script:') ? player : `recorded:${before}`
  const { environment, limitsGiven, seed } = manifest
  await startRun({
    ...shared,
    dir,
    seed,
    options: environment.options,
    ...(limitsGiven === undefined ? {} : { limits: limitsGiven as Limits }),
    tasks: [...new Set(episodes.map(({ task }) => task))],
    repeats: 1 + Math.max(...episodes.map(({ order }) => Number(order.slice(order.lastIndexOf('#') + 1)))),
    seats: { ...seats, agent: { policy } },
    maxTries: 1,
  })
  return readEpisodes(dir)
}
