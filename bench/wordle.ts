import { join } from 'node:path'
import { evaluate } from 'quintain'
import { cpuTimes } from './cpu-time.ts'
import { inFreshProcess } from './fresh-process.ts'
import { type Bench, figure, medianOf } from './measurement.ts'
import { inTemporaryFolder } from './run-files.ts'

const module = import.meta.url
const repeats = 80
const repetitions = 3

export interface Games {
  games: number
  turns: number
  wholeMs: number
  /** From the first order that was started to the last record on disk. */
  playMs: number
  mainCpuMs: number
  workersCpuMs: number
}

/** Plays every game of the test split `repeats` times, as a user would: default isolation, journal on. */
export async function playWordle(policy: string, times: number, dir: string): Promise<Games> {
  let first = 0
  let last = 0
  const cpuBefore = cpuTimes()
  const began = performance.now()
  const run = await evaluate('@quintain/wordle', {
    cwd: import.meta.dirname,
    policy,
    split: 'test',
    repeats: times,
    dir,
    workers: 2,
    onProgress() {
      last = performance.now()
      first ||= last
    },
  })
  const wholeMs = performance.now() - began
  const cpu = cpuTimes()
  const { orders, status, turns } = run.summary
  if (status.scored !== orders || run.success.value === null || run.success.value < 0.9) {
    throw new Error(`${policy} did not play as it should: ${JSON.stringify(status)}`)
  }
  return {
    games: orders,
    turns: turns.mean ?? 0,
    wholeMs,
    playMs: last - first,
    mainCpuMs: (cpu.ownMs - cpuBefore.ownMs) / orders,
    workersCpuMs: (cpu.childrenMs - cpuBefore.childrenMs) / orders,
  }
}

export const bench: Bench = {
  title: 'Complete Wordle games per second',
  about:
    `environments/wordle, test split, ${repeats} repeats of each task, two workers, default isolation, journal on. ` +
    'Each run in fresh processes, so the solver works out its table anew.',
  async run(progress) {
    const measurements = []
    const notes = []
    for (const policy of ['script:solver', 'script:oracle']) {
      const runs: Games[] = []
      for (let run = 0; run < repetitions; run++) {
        const games = await inTemporaryFolder((folder) =>
          inFreshProcess(module, playWordle, [policy, repeats, join(folder, 'run')]),
        )
        runs.push(games)
        progress(`${policy}, run ${run + 1}: ${figure((games.games * 1000) / games.playMs)} games/s`)
      }
      const perSecond = (ms: (games: Games) => number): number[] =>
        runs.map((run) => (run.games * 1000) / ms(run))
      const aim = policy === 'script:solver' ? { atLeast: 2_000 } : undefined
      measurements.push(
        medianOf(
          `${policy}, games`,
          '/s',
          perSecond(({ playMs }) => playMs),
          aim,
        ),
        medianOf(
          `${policy}, start-up, planning and report counted`,
          '/s',
          perSecond(({ wholeMs }) => wholeMs),
        ),
        medianOf(
          `${policy}, processor time of a game, main process`,
          'ms',
          runs.map((run) => run.mainCpuMs),
        ),
        medianOf(
          `${policy}, processor time of a game, workers together`,
          'ms',
          runs.map((run) => run.workersCpuMs),
        ),
      )
      notes.push(`${policy}: ${runs[0]!.games} games of ${figure(runs[0]!.turns)} turns on average.`)
    }
    return { measurements, notes }
  },
}
