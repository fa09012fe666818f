import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Environment, QuintainError } from '../../core/index.ts'
import { ioError } from '../../core/io-error.ts'
import { quintainVersion } from '../../core/version.ts'
import { openRolloutRun, type RolloutRunOptions } from '../../engine/index.ts'
import type { Learner } from '../engine.ts'
import type { StepRecord } from '../records.ts'
import type { Renderer } from '../renderer.ts'
import { riseAlone } from './evidence.ts'
import { explore } from './explore.ts'
import { type Learned, learn, type SameForProbe } from './learn.ts'
import { type Calibration, calibrate } from './oracle.ts'
import { mean } from './pay.ts'
import { type Played, saidIn, type Try } from './played.ts'
import { probeError } from './probe-folder.ts'
import type { Evidence, ProbeRecord } from './probe-record.ts'
import { splitOf, tasksOf } from './probe-tasks.ts'
import { Prober } from './prober.ts'
import { ScriptPlayer } from './script-player.ts'
import { ranked, searchScripts } from './search.ts'
import { tailOf } from './tail.ts'
import { testScripts } from './test-scripts.ts'
import { verdictOf } from './verdict.ts'

export interface ProbeOptions extends Pick<RolloutRunOptions, SameForProbe> {
  env: string | Environment
  /** Where it is recorded; must not be there yet. */
  dir: string
  /** Tasks of this split; `train` where there is one, else the first, when absent. */
  split?: string
  /** So many tasks of the environment are read; endless ones need it. */
  tasks?: number
  seed?: string | number
  /** Steps of the training; 24 when absent, 0 for none. */
  steps?: number
  /** Seconds of the training at most; 300 when absent. */
  seconds?: number
  /** Seconds after which no further script is tried, 120 when absent; mixtures of them, before a training, have half of it. */
  scriptSeconds?: number
  threads?: number
  /** A metric or reward that says what success is, 0.5 and more, where the environment's own word is in doubt. */
  shadow?: string
  /** A policy to train in place of a blind one, such as `openPolicy` gives. It is changed; who opened it closes it. */
  policy?: { learner: Learner; renderer: Renderer }
  signal?: AbortSignal
  onProgress?: (progress: ProbeProgress) => void
}

export type ProbeProgress =
  | { stage: 'oracle' | 'test' }
  | { stage: 'scripts'; done: number; of: number }
  | { stage: 'training'; step: StepRecord; of: number }

/** The file of a probe's folder. */
export const probeFile = 'probe.json'

const defaults = { steps: 24, seconds: 300, scriptSeconds: 120 }
/**
 * Looks for reward without success. Replies that know nothing of a task are played, and a small policy that sees nothing of
 * it is trained on the rewards; whatever either is paid for is tried again on tasks that it was not found on, and shortened
 * to what is paid for. `clean` says that nothing was found, not that there is nothing.
 *
 * The folder is an ordinary run of the scripts, with `oracle/` and `training/` beside it, and `probe.json`. Throws as a run
 * does, before anything is played; `usage` for a shadow that is no metric or reward; `disk_full`; the reason of the signal.
 * A probe that was cut short is not gone on with: begin another.
 *
 * @example
 * const { verdict, evidence } = await probe({ env: './wordle', dir: 'runs/probe' })
 */
export async function probe(options: ProbeOptions): Promise<ProbeRecord> {
  const dir = resolve(options.cwd ?? '.', options.dir)
  try {
    return await probeInto(dir, options)
  } catch (error) {
    throw probeError(error, dir)
  }
}

async function probeInto(dir: string, options: ProbeOptions): Promise<ProbeRecord> {
  const began = performance.now()
  const { signal, onProgress, shadow } = options
  const seed = String(options.seed ?? 0)
  const player = new ScriptPlayer()
  const shared = sharedOf(options)
  const run = await openRolloutRun({
    ...shared,
    dir,
    seed,
    model: player.model,
    ...(options.tasks === undefined ? {} : { tasks: options.tasks }),
    onOpened: ({ environment }) => {
      const known = [...Object.keys(environment.rewards), ...environment.metrics]
      if (shadow === undefined || known.includes(shadow)) return
      throw new QuintainError(
        'usage',
        `"${shadow}" is no metric or reward of this environment. There are ${known.join(', ')}.`,
        { facts: { shadow } },
      )
    },
  })
  try {
    const { environment } = run.manifest
    const split = splitOf(run.tasks, options.split)
    const tasks = tasksOf(run.tasks, split, seed)
    onProgress?.({ stage: 'oracle' })
    const calibration = await calibrate(
      { ...shared, dir, seed, tasks: [...new Set([...tasks.search, ...tasks.test].map(({ id }) => id))] },
      shadow,
    )
    const scriptSeconds = options.scriptSeconds ?? defaults.scriptSeconds
    const prober = new Prober({ run, player, shadow, signal })
    const search = await searchScripts(prober, tasks.search, {
      calibration,
      seconds: scriptSeconds,
      onProgress: (done, of) => onProgress?.({ stage: 'scripts', done, of }),
    })
    const steps = options.steps ?? defaults.steps
    const isScored = search.standings.some(({ scored }) => scored > 0)
    const isTrained = steps > 0 && isScored
    const explored =
      isTrained && options.policy === undefined
        ? await explore(prober, tasks.search, { seed, seconds: scriptSeconds / 2 })
        : 0
    const learned = isTrained
      ? await learn(ranked(prober, calibration), {
          training: { ...shared, ...(options.tasks === undefined ? {} : { tasks: options.tasks }) },
          dir,
          split,
          seed,
          steps,
          seconds: options.seconds ?? defaults.seconds,
          threads: options.threads,
          shadow,
          policy: options.policy,
          signal,
          onStep: (step) => onProgress?.({ stage: 'training', step, of: steps }),
        })
      : undefined
    onProgress?.({ stage: 'test' })
    const tested = isScored
      ? await testScripts(prober, tasks, {
          found: ranked(prober, calibration),
          learned: learned?.best ?? [],
          calibration,
        })
      : undefined
    const scale = tested?.scale
    const rise = scale && riseAlone(learned?.steps ?? [], scale)
    const evidence: Evidence[] = [...(tested?.evidence ?? []), ...(rise === undefined ? [] : [rise])]
    await run.flush()
    const { tries } = prober
    const record: ProbeRecord = {
      schema: 'quintain.probe',
      v: 1,
      created: new Date().toISOString(),
      quintain: quintainVersion,
      environment: {
        name: environment.name,
        version: environment.version,
        digest: environment.digest,
        options: environment.options,
      },
      seed,
      ...verdictOf({
        evidence,
        scale,
        calibration,
        saysSuccess: environment.success || shadow !== undefined,
        tries,
        tested: { tasks: tasks.test.length, apart: tasks.test !== tasks.search },
        left: search.left,
        mostPaid: Math.max(0, ...ranked(prober, calibration).map(({ paidFailure }) => paidFailure)),
      }),
      evidence,
      scale: scale ?? null,
      oracle: oracleOf(calibration),
      floor: calibration.floor,
      scripts: {
        tried: search.tried + explored,
        left: search.left,
        rollouts: tries.length,
        scored: tries.filter(({ reward }) => reward !== null).length,
      },
      tasks: { search: tasks.search.length, test: tasks.test.length },
      training: learned === undefined ? null : trainingOf(learned, options.policy !== undefined),
      tail: tailReads(tries, learned?.best ?? []),
      seconds: (performance.now() - began) / 1_000,
    }
    await writeRecord(dir, record)
    return record
  } finally {
    await run.close()
  }
}

function oracleOf({ oracle }: Calibration): ProbeRecord['oracle'] {
  if (oracle.size === 0) return null
  const played = [...oracle.values()]
  const known = played.flatMap(({ success }) => success ?? [])
  const rewards = played.flatMap(({ reward }) => reward ?? [])
  return {
    tasks: oracle.size,
    success: known.length === 0 ? null : mean(known.map(Number)),
    reward: rewards.length === 0 ? null : mean(rewards),
  }
}

function trainingOf({ steps, end }: Learned, given: boolean): ProbeRecord['training'] {
  const ends = (of: (step: StepRecord) => number | null): [number, number] | null => {
    const known = steps.flatMap((step) => of(step) ?? [])
    const third = Math.max(1, Math.floor(known.length / 3))
    return known.length === 0 ? null : [mean(known.slice(0, third)), mean(known.slice(-third))]
  }
  return {
    policy: given ? 'given' : 'blind',
    steps: steps.length,
    rollouts: steps.reduce((sum, { rollouts }) => sum + rollouts, 0),
    end,
    reward: ends(({ rewardMean }) => rewardMean),
    success: ends(({ success }) => success),
    shadow: ends(({ shadow }) => shadow),
    alarms: steps.flatMap(({ alarms }) => alarms.map(({ says }) => says)),
  }
}

/** Characters of what was done that are shown. */
const mostSaid = 400
const mostRead = 5

/** What the best-paid rollouts share, and which of them to read. */
function tailReads(tries: readonly Try[], learned: readonly Played[]): ProbeRecord['tail'] {
  const tail = tailOf([...tries, ...learned])
  if (tail === undefined) return null
  const ofTraining = new Set(learned)
  // Each way of playing once, the best paid; the others differ in their task.
  const distinct = [...Map.groupBy(tail.tail, ({ acts }) => saidIn(acts)).values()].map(([first]) => first!)
  return {
    traits: tail.traits,
    read: distinct.slice(0, mostRead).map((one) => ({
      run: ofTraining.has(one) ? 'training' : '.',
      order: one.order,
      reward: one.reward ?? 0,
      success: one.success,
      said: saidIn(one.acts).slice(0, mostSaid),
    })),
  }
}

async function writeRecord(dir: string, record: ProbeRecord): Promise<void> {
  try {
    await writeFile(join(dir, probeFile), `${JSON.stringify(record, null, 2)}\n`)
  } catch (error) {
    throw ioError(error, dir)
  }
}

function sharedOf(options: ProbeOptions) {
  const {
    dir: _dir,
    split: _split,
    tasks: _tasks,
    seed: _seed,
    steps: _steps,
    seconds: _seconds,
    scriptSeconds: _scriptSeconds,
    threads: _threads,
    shadow: _shadow,
    policy: _policy,
    signal: _signal,
    onProgress: _onProgress,
    ...shared
  } = options
  return shared
}
