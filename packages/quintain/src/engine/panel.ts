import { mkdir, mkdtemp } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { folderName, folderNames } from '../core/folder-name.ts'
import {
  type ManifestRecord,
  QuintainError,
  readManifest,
  readPanel,
  removeRun,
  type Seat,
  writePanel,
} from '../core/index.ts'
import { ioError } from '../core/io-error.ts'
import { quintainVersion } from '../core/version.ts'
import { harnessOf } from './agent.ts'
import { checkControl } from './check-options.ts'
import type { OpenedRun } from './open-run.ts'
import { Pace, type PanelWatch } from './pace.ts'
import { type Player, policyName, policySpec } from './policy.ts'
import { mergedProgress, type Progress, ProgressCounter } from './progress.ts'
import {
  closeRun,
  floorOf,
  openNewRun,
  orderRun,
  previewRun,
  type ReadyRun,
  type RunEnd,
  type RunPreview,
  takeUpRun,
  workThrough,
} from './run.ts'
import type { ResumeOptions, RunControl, RunOptions } from './run-options.ts'

/** One plan for several players of the agent's seat. */
export interface PanelOptions extends Omit<RunOptions, 'seats'> {
  /** Who plays the agent; a run each. The first is what the others are compared with. */
  players: readonly Player[]
  /** Who plays the other seats, in every run. */
  seats?: Record<Seat, Player>
  /** Looks at each result as it comes, and may say that enough is known. */
  watch?: PanelWatch
}

export interface PanelResumeOptions extends Omit<ResumeOptions, 'players'> {
  /** Who plays the seats of a run, by what its manifest says. */
  playersOf?(manifest: ManifestRecord, place: number): Promise<Record<Seat, Player>>
}

/** How the runs of a panel ended, in the order of the players. `dir` is the folder that holds theirs. */
export interface PanelEnd {
  dir: string
  runs: RunEnd[]
}

/** A harness's name without its kind and version. */
function bareName(harness: string): string {
  return harness
    .replace(/^(?:agent|command|remote):/, '')
    .replace(/@[^@/:]*$/, '')
    .replaceAll(':', '-')
}

/** What the folder of a player's run is called after: an agent, and what answers its model calls. */
function nameOf(player: Player): string {
  if (!('agent' in player)) return policyName(policySpec(player))
  const agent = folderName(bareName(harnessOf(player).name)) || 'agent'
  return player.behind === undefined ? agent : `${agent}-${folderName(policyName(policySpec(player.behind)))}`
}

/** The options of each run. Workers are shared out; concurrency is held by the pace. */
function optionsOfRuns({ players, seats, dir: _dir, watch: _watch, ...shared }: PanelOptions): RunOptions[] {
  if (players.length === 0) throw new QuintainError('usage', 'Nobody plays: give at least one player.')
  return players.map((player) => ({
    ...shared,
    workers: workersOfEach(shared.workers, players.length),
    seats: { ...seats, agent: player },
  }))
}

function workersOfEach(workers: number | undefined, runs: number): number {
  return Math.max(1, Math.floor((workers ?? availableParallelism()) / runs))
}

/**
 * Orders a run for each player over the same plan and works through all of them in turns, order by order, so that a
 * provider's drift hits all alike. Concurrency and cost cap are for all together. Throws as `startRun`; nothing is left
 * behind when one of the runs cannot be ordered.
 */
export async function startPanel(options: PanelOptions): Promise<PanelEnd> {
  const each = optionsOfRuns(options)
  const opened: OpenedRun[] = []
  const ready: ReadyRun[] = []
  const lent = options.dir === undefined
  let dir = ''
  try {
    for (const one of each) opened.push(await openNewRun(one))
    dir = lent ? await mkdtemp(join(tmpdir(), 'quintain-')) : resolve(options.cwd ?? '.', options.dir!)
    await refuseRun(dir)
    const names = folderNames(options.players.map(nameOf))
    const floor = await floorOf(each[0]!, opened[0]!)
    for (const [at, one] of each.entries()) {
      const into = join(dir, names[at]!)
      ready.push(await orderRun({ ...one, dir: into }, opened[at]!, into, floor))
    }
    await writePanel(dir, {
      schema: 'quintain.panel',
      v: 1,
      id: crypto.randomUUID(),
      created: new Date().toISOString(),
      quintain: quintainVersion,
      runs: names,
      ...(options.maxCostUsd === undefined ? {} : { maxCostUsd: options.maxCostUsd }),
    })
  } catch (error) {
    for (const one of opened)
      await closeRun({ opened: one, journal: ready.find((run) => run.opened === one)?.journal })
    for (const run of ready) await removeRun(run.dir)
    if (lent && dir !== '') await removeRun(dir)
    throw error
  }
  try {
    return { dir, runs: await workTogether(ready, options) }
  } catch (error) {
    if (lent) await removeRun(dir)
    throw error
  }
}

/** What `startPanel` would order: the same for each player. */
export async function previewPanel(options: PanelOptions): Promise<RunPreview[]> {
  const previews: RunPreview[] = []
  for (const one of optionsOfRuns(options)) previews.push(await previewRun(one))
  return previews
}

/** Takes all runs of a panel up where they stand, in turns again. Throws as `resumeRun`. */
export async function resumePanel(options: PanelResumeOptions): Promise<PanelEnd> {
  checkControl(options)
  const dir = resolve(options.cwd ?? '.', options.dir)
  const panel = await readPanel(dir)
  if (panel === undefined) {
    throw new QuintainError('run_not_found', `${dir} holds no panel of runs.`, { facts: { dir } })
  }
  const { playersOf, ...rest } = options
  const ready: ReadyRun[] = []
  try {
    for (const [place, name] of panel.runs.entries()) {
      const run = join(dir, name)
      const players = await playersOf?.(await readManifest(run), place)
      ready.push(
        await takeUpRun({
          ...rest,
          dir: run,
          workers: workersOfEach(options.workers, panel.runs.length),
          ...(players === undefined ? {} : { players }),
        }),
      )
    }
  } catch (error) {
    for (const run of ready) await closeRun(run)
    throw error
  }
  const cap = options.maxCostUsd ?? panel.maxCostUsd
  return {
    dir,
    runs: await workTogether(ready, { ...options, ...(cap === undefined ? {} : { maxCostUsd: cap }) }),
  }
}

/** A panel goes into a folder of its own. Throws `run_exists`. */
async function refuseRun(dir: string): Promise<void> {
  const isRun = await readManifest(dir).then(
    () => true,
    (error: unknown) => !(QuintainError.isInstance(error) && error.code === 'run_not_found'),
  )
  if (isRun || (await readPanel(dir)) !== undefined) {
    throw new QuintainError(
      'run_exists',
      `${dir} already holds ${isRun ? 'a run' : 'runs'}. Resume it (\`quintain resume ${dir}\`) or choose another folder.`,
      { facts: { dir } },
    )
  }
  await mkdir(dir, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw ioError(error, dir)
  })
}

async function workTogether(
  ready: readonly ReadyRun[],
  { concurrency, maxCostUsd, onProgress, watch }: RunControl & { watch?: PanelWatch },
): Promise<RunEnd[]> {
  const pace = new Pace({
    concurrency: concurrency ?? ready.reduce((sum, run) => sum + run.schedule.concurrency, 0),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(watch === undefined ? {} : { watch }),
  })
  const progress: Progress[] = ready.map(({ schedule }) => new ProgressCounter(schedule.orders).value)
  const lanes = ready.map(() => pace.lane())
  const ends = await Promise.allSettled(
    ready.map(async (run, at) => {
      const report = (now: Progress) => {
        progress[at] = now
        onProgress?.(mergedProgress(progress))
      }
      try {
        return await workThrough({
          ...run,
          schedule: {
            ...run.schedule,
            lane: lanes[at]!,
            ...(onProgress === undefined ? {} : { onProgress: report }),
          },
        })
      } catch (error) {
        pace.haltAll({ code: 'cancelled', message: 'another run of the panel failed' })
        throw error
      }
    }),
  )
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
}
