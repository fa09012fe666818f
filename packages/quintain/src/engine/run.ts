import { mkdtemp } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import {
  type AttemptRecord,
  type FloorRecord,
  type Folded,
  foldRun,
  Journal,
  type ManifestRecord,
  type Need,
  type OrderRecord,
  QuintainError,
  readManifest,
  removeRun,
  type Seat,
} from '../core/index.ts'
import { checkControl, checkRunOptions, checkSelection } from './check-options.ts'
import { measureFloor } from './floor.ts'
import { checkSame, manifestOf, recordFiles, runOptionsOf, seatsOf } from './manifest.ts'
import { type OpenedRun, openRun } from './open-run.ts'
import { appendPlan, extendedRequest, Places, repeatsOf, requestOf, selectForRequest } from './plan-orders.ts'
import { modelOf, type Recordings } from './policy.ts'
import type { ProgressCounter } from './progress.ts'
import type { HostDescription } from './protocol.ts'
import type { ResumeOptions, RunControl, RunOptions } from './run-options.ts'
import { isOwnVerdictWhole, type RunStop, type ScheduleOptions, Standing, schedule } from './scheduler.ts'

/** How a run ended. `stop` says why, when its plan was not finished. */
export interface RunEnd {
  dir: string
  manifest: ManifestRecord
  stop?: RunStop
}

/** What a run would do, found out without ordering anything. */
export interface RunPreview {
  environment: ManifestRecord['environment']
  description: HostDescription
  needs: Need[]
  seats: ManifestRecord['seats']
  /** Which models stand for the judges of the environment. */
  judges: NonNullable<ManifestRecord['judges']>
  tasks: number
  splits: Record<string, number>
  repeats: number
  orders: number
  /** The first few task ids. */
  examples: string[]
  isolation: 'worker' | 'inline'
  /** What its boxes run in; undefined for an environment that has none. */
  sandbox?: ManifestRecord['sandbox']
}

/** A run that is planned and open for writing: what is left is to work through it. */
export interface ReadyRun {
  dir: string
  manifest: ManifestRecord
  journal: Journal
  opened: OpenedRun
  /** What its scheduler is told. */
  schedule: ScheduleOptions
}

/** Orders a new run and works through it. Throws `QuintainError` for everything that can be known before the first order. */
export async function startRun(options: RunOptions): Promise<RunEnd> {
  const opened = await openNewRun(options)
  const lent = options.dir === undefined
  const dir = lent ? await mkdtemp(join(tmpdir(), 'quintain-')) : resolve(options.cwd ?? '.', options.dir!)
  try {
    return await workThrough(await orderRun(options, opened, dir, await floorOf(options, opened)))
  } catch (error) {
    if (lent) await removeRun(dir)
    throw error
  }
}

/** Checks what a new run is asked to be and loads its environment; nothing is written. */
export async function openNewRun(options: RunOptions): Promise<OpenedRun> {
  checkRunOptions(options)
  checkPrices(options, options.maxCostUsd)
  return openRun(options)
}

/** The floor of a run, where it is wanted. */
export async function floorOf(options: RunOptions, opened: OpenedRun): Promise<FloorRecord[]> {
  if (options.floor !== true) return []
  return measureFloor(options, opened, async (one) => (await startRun(one)).dir)
}

/** Makes the folder of a new run and writes its plan. What was opened is closed when that fails. */
export async function orderRun(
  options: RunOptions,
  opened: OpenedRun,
  dir: string,
  floor: readonly FloorRecord[],
): Promise<ReadyRun> {
  let journal: Journal | undefined
  try {
    const request = requestOf(options)
    const manifest = manifestOf(options, opened, request, dir, floor)
    journal = await Journal.create(dir, manifest)
    await recordFiles(dir, opened)
    await opened.log.to(join(dir, 'private', 'worker.log'))
    opened.boxes.store.keepIn(join(dir, 'private', 'artefacts'))
    const places = new Places([])
    await appendPlan(journal, opened.tasks, request, new Map(), places)
    const orders = places.end
    const standing = new Standing(orders)
    const schedule = { ...controlOf(options, opened, orders), journal, standing, orders }
    return { dir, manifest, journal, opened, schedule }
  } catch (error) {
    await closeRun({ opened, journal })
    throw error
  }
}

/** Works through what is open of a run, and closes it. */
export async function workThrough(ready: ReadyRun): Promise<RunEnd> {
  const { dir, manifest } = ready
  try {
    const stop = await schedule(ready.schedule)
    return { dir, manifest, ...(stop === undefined ? {} : { stop }) }
  } finally {
    await closeRun(ready)
  }
}

/** Stops the workers of a run and writes out what is left of its records. */
export async function closeRun({
  opened,
  journal,
}: {
  opened: OpenedRun | undefined
  journal: Journal | undefined
}): Promise<void> {
  try {
    await opened?.executor.close()
  } finally {
    opened?.log.close()
    await journal?.close()
  }
}

/** What `startRun` would order. */
export async function previewRun(options: RunOptions): Promise<RunPreview> {
  checkRunOptions(options)
  const opened = await openRun(options)
  try {
    const splits: Record<string, number> = Object.create(null)
    for (const { split } of opened.tasks) splits[split] = (splits[split] ?? 0) + 1
    const repeats = repeatsOf(options.repeats)
    return {
      environment: opened.environment,
      description: opened.executor.description,
      needs: opened.needs,
      seats: seatsOf(opened.seats, options),
      judges: opened.judges,
      tasks: opened.tasks.length,
      splits,
      repeats,
      orders: opened.tasks.length * repeats,
      examples: opened.tasks.slice(0, 5).map(({ id }) => id),
      isolation: opened.isolation,
      ...(opened.sandbox === undefined ? {} : { sandbox: opened.sandbox }),
    }
  } finally {
    await opened.executor.close()
    opened.log.close()
  }
}

/** Takes a run up where it stands: the same path as a new run, over what is still open. Throws as `startRun` and `run_mismatch`. */
export async function resumeRun(options: ResumeOptions): Promise<RunEnd> {
  return workThrough(await takeUpRun(options))
}

/** Opens a run for writing where it stands, and plans what is to be added to it. */
export async function takeUpRun(options: ResumeOptions): Promise<ReadyRun> {
  checkControl(options)
  checkSelection(options)
  const dir = resolve(options.cwd ?? '.', options.dir)
  const manifest = await readManifest(dir)
  const runOptions = runOptionsOf(manifest, options, dir)
  const cap = options.maxCostUsd ?? manifest.maxCostUsd
  checkPrices(runOptions, cap)
  const spent: (number | null)[] = []
  const digest = (attempt: AttemptRecord): Folded => ({
    verdict: attempt.verdict && { ...attempt.verdict, rewards: {}, metrics: {} },
    fault: attempt.fault,
    outcome: attempt.outcome,
  })
  const { journal, fold } = await Journal.open(dir, (attempt) => {
    // Only what cost anything, or may have: a run of scripts keeps nothing here.
    for (const cost of Object.values(attempt.costUsd)) if (cost !== undefined && cost !== 0) spent.push(cost)
    return digest(attempt)
  })
  let opened: OpenedRun | undefined
  try {
    const requests = fold.requests.length > 0 ? fold.requests : [manifest.request]
    const extended =
      options.tasks !== undefined || options.repeats !== undefined || options.split !== undefined
    const more = extended ? extendedRequest(requests.at(-1)!, options) : undefined
    opened = await openRun({
      ...runOptions,
      replan: [...requests, ...(more === undefined ? [] : [more])],
    })
    await checkSame(dir, manifest, opened, options.force ?? false)
    await opened.log.to(join(dir, 'private', 'worker.log'))
    opened.boxes.store.keepIn(join(dir, 'private', 'artefacts'))

    const known = new Map(fold.states.map(({ order }) => [order.id, order]))
    const places = new Places(fold.states.map(({ order }) => order.seq))
    const wanted = more === undefined ? requests : [...requests, more]
    for (const [place, request] of wanted.entries()) {
      const tasks = selectForRequest(opened.tasks, request)
      await appendPlan(journal, tasks, request, known, places, place >= fold.requests.length)
    }
    const orders = places.end
    // Attempts of orders that were lost from the plan count again once their orders are back in it.
    const orphans = fold.issues.some(({ what }) => what === 'orphan')
    const { states } = orphans ? await foldRun(dir, digest) : fold
    for (const { file, what, detail } of fold.issues) opened.log.write(`${file}: ${what}: ${detail}\n`)
    const standing = new Standing(orders)
    const retryFaults = options.retryFaults ?? true
    for (const { order, status, tries, chosen } of states) {
      const done = status === 'scored' || status === 'unscored' || (status === 'faulted' && !retryFaults)
      if (done || isGroupPending(chosen)) standing.finish(order.seq)
      else standing.setTries(order.seq, tries)
    }
    const before = (counter: ProgressCounter) => {
      for (const cost of spent) counter.spentBefore(cost)
      for (const { order, status, chosen } of states) {
        if (!standing.finished(order.seq)) continue
        if (status === 'scored' || status === 'unscored' || status === 'faulted') {
          counter.before(status, chosen?.verdict?.reward ?? null, chosen?.verdict?.success ?? null)
        }
      }
    }
    const control = { ...runOptions, ...options, ...(cap === undefined ? {} : { maxCostUsd: cap }) }
    const schedule = {
      ...controlOf(control, opened, orders),
      journal,
      standing,
      orders,
      before,
      maxTries: options.maxTries ?? manifest.maxTries,
    }
    return { dir, manifest, journal, opened, schedule }
  } catch (error) {
    await closeRun({ opened, journal })
    throw error
  }
}

/** A cap on what is spent, and a limit on what an attempt of the agent costs, need the price of what is called. Throws `spend_cap`. */
function checkPrices(
  { seats, judges = {}, limits }: Pick<RunOptions, 'seats' | 'judges' | 'limits'>,
  cap: number | undefined,
): void {
  const capped = cap === undefined ? [] : Object.values(judges)
  const models = Object.entries(seats).map(([seat, player]) =>
    cap === undefined && (seat !== 'agent' || limits?.costUsd === undefined) ? undefined : modelOf(player),
  )
  for (const model of [...models, ...capped]) {
    if (model?.priced !== false) continue
    throw new QuintainError(
      'spend_cap',
      `The price of ${model.id} is not known, so that ${cap === undefined ? 'its cost limit' : 'a cost cap'} cannot be kept. Give it: --price in=0.15,out=0.60 (US dollars per million tokens; prices: { … } from code), or leave the ${cap === undefined ? 'limit' : 'cap'} out.`,
      { facts: { model: model.id } },
    )
  }
}

/** An order that wants nothing but its group's verdict, be it for the first time or after a fault of the group's grader. */
function isGroupPending(chosen: Folded | undefined): boolean {
  return chosen?.verdict?.pending === 'group' && isOwnVerdictWhole(chosen)
}

/** What a scheduler is told by the options of a run. */
export function controlOf(options: RunControl, opened: OpenedRun, orders: number) {
  const scripts = Object.values(opened.seats).every(({ kind }) => kind === 'script' || kind === 'recorded')
  const scripted = scripts && !opened.outside && Object.keys(opened.judges).length === 0
  const workers = options.workers ?? availableParallelism()
  const concurrency = options.concurrency ?? (scripted ? 64 * workers : 32)
  const { recordings } = opened
  return {
    executor: opened.executor,
    concurrency: Math.min(concurrency, Math.max(1, orders)),
    maxTries: options.maxTries ?? 3,
    graceMs: options.graceMs ?? 10_000,
    groups: Object.values(opened.environment.rewards).some(({ kind }) => kind === 'group'),
    ...(options.maxCostUsd === undefined ? {} : { maxCostUsd: options.maxCostUsd }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.hardSignal === undefined ? {} : { hardSignal: options.hardSignal }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    ...(recordings.size === 0
      ? {}
      : {
          recorded: ({ task, repeat }: OrderRecord) => {
            const bySeat = <T>(of: (found: Recordings) => T | undefined): Record<Seat, T> =>
              Object.fromEntries(
                [...recordings].flatMap(([seat, found]) => {
                  const value = of(found)
                  return value === undefined ? [] : [[seat, value]]
                }),
              )
            return {
              replies: bySeat((found) => found.replies(task, repeat)),
              ...(opened.outside ? { calls: bySeat((found) => found.calls?.(task, repeat)) } : {}),
              cuts: bySeat((found) => found.cut?.(task, repeat)),
            }
          },
        }),
  }
}
