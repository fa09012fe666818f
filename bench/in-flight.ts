import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { keepNurserySmall } from '../packages/quintain/src/cli/main.ts'
import { forkFakeModel } from '../packages/quintain/src/models/fake-server.ts'
import { inFreshProcess } from './fresh-process.ts'
import { type Bench, figure, median, medianOf } from './measurement.ts'
import { type MemorySample, watchMemory } from './process-memory.ts'
import { inTemporaryFolder } from './run-files.ts'
import { type Played, type PlayOptions, play } from './single-turn/play.ts'
import { replyText } from './single-turn/text.ts'

const module = import.meta.url
const inFlight = 10_000
const latencyMs = 20_000
const promptChars = 1_550
const replyChars = 1_550
const repetitions = 3

export interface Lag {
  p50: number
  p99: number
  max: number
  /** Lag at which a moment picked at random falls into 1 % of the longest waits: long stalls weigh by their length. */
  p99ByTime: number
}

/** `play`, with the lag of this process's event loop while it went on. */
export async function playAndWatch(options: PlayOptions): Promise<Played & { lag: Lag }> {
  // As the command line does for so many.
  keepNurserySmall()
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  const stalls: number[] = []
  let before = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    stalls.push(now - before)
    before = now
  }, 1)
  histogram.enable()
  try {
    const played = await play(options)
    histogram.disable()
    const ms = (nanoseconds: number): number => nanoseconds / 1e6
    const { max } = histogram
    const lag = { p50: ms(histogram.percentile(50)), p99: ms(histogram.percentile(99)), max: ms(max) }
    return { ...played, lag: { ...lag, p99ByTime: byTime(stalls, 0.99) } }
  } finally {
    clearInterval(timer)
  }
}

/** The wait that a share of all moments does not exceed: a moment within a stall of n ms waits n/2 ms on average, at most n. */
function byTime(stalls: readonly number[], share: number): number {
  const sorted = stalls.toSorted((a, b) => a - b)
  const total = sorted.reduce((sum, stall) => sum + stall, 0)
  let sum = 0
  for (const stall of sorted) {
    sum += stall
    if (sum >= total * share) return stall
  }
  return sorted.at(-1) ?? 0
}

/** Memory just before the first rollout, the most while all of them waited for their replies, and the most of all. */
function risen(
  samples: readonly MemorySample[],
  { firstAt, allOpenAt, firstReplyAt }: Played,
): { idle: number; inFlight: number; most: number } {
  const most = (from: number, to: number): number =>
    Math.max(...samples.filter(({ at }) => at >= from && at <= to).map(({ bytes }) => bytes))
  if (allOpenAt === undefined || firstReplyAt === undefined || firstReplyAt - allOpenAt < 500) {
    throw new Error(
      'replies came before all rollouts were in flight; the machine is too slow for this latency',
    )
  }
  return {
    idle: samples.filter(({ at }) => at < firstAt).at(-1)?.bytes ?? Number.NaN,
    inFlight: most(allOpenAt, firstReplyAt),
    most: most(firstAt, Number.POSITIVE_INFINITY),
  }
}

export const bench: Bench = {
  title: `${inFlight} rollouts in flight at once`,
  about:
    `${inFlight} single-turn rollouts started together against a fake model that answers after ${latencyMs / 1000} s, ` +
    'each on a connection of its own; two workers, default isolation, journal on. Memory is the resident memory of main ' +
    'process and workers together (sampled every 100 ms by another process) less what it was just before the first rollout ' +
    'started: while all wait for their replies, and the most at any moment, when all replies come in at once. Lag is that of the main process over the whole run (monitorEventLoopDelay, 1 ms).',
  async run(progress) {
    const files = Number(execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }))
    const needed = inFlight + 200
    if (process.platform !== 'linux')
      return { measurements: [], skipped: 'memory is read from /proc, which only Linux has' }
    if (files < needed) {
      return {
        measurements: [],
        skipped: `ulimit -n is ${files} and ${needed} open files are needed; nothing is raised here`,
      }
    }
    const perRollout: number[] = []
    const lags: Lag[] = []
    const idle: number[] = []
    const waiting: number[] = []
    const most: number[] = []
    const atMost: number[] = []
    let open = 0
    for (let run = 0; run < repetitions; run++) {
      const fake = await forkFakeModel({ latencyMs, text: replyText(replyChars) })
      try {
        let watch: ReturnType<typeof watchMemory> | undefined
        const played = await inTemporaryFolder((folder) =>
          inFreshProcess(
            module,
            playAndWatch,
            [{ url: fake.url, dir: join(folder, 'run'), rollouts: inFlight, inFlight, promptChars }],
            {
              onStart(pid) {
                watch = watchMemory(pid, 100)
              },
            },
          ),
        )
        const memory = risen(watch?.stop() ?? [], played)
        idle.push(memory.idle / 2 ** 20)
        waiting.push(memory.inFlight / 2 ** 20)
        most.push(memory.most / 2 ** 20)
        perRollout.push((memory.inFlight - memory.idle) / inFlight / 1000)
        atMost.push((memory.most - memory.idle) / inFlight / 1000)
        lags.push(played.lag)
        open = played.mostOpen
        progress(
          `run ${run + 1}: ${figure(perRollout[run]!)} KB a rollout, p99 lag ${figure(played.lag.p99)} ms`,
        )
      } finally {
        await fake.close()
      }
    }
    const lagOf = (name: keyof Lag): number[] => lags.map((lag) => lag[name])
    return {
      measurements: [
        medianOf('memory of a rollout in flight, all processes', 'KB', perRollout, { below: 40 }),
        medianOf('the same at its most, while 10,000 replies come in at once', 'KB', atMost),
        medianOf('event-loop lag of the main process, p99', 'ms', lagOf('p99'), { below: 50 }),
        medianOf('the same, each stall weighed by its length', 'ms', lagOf('p99ByTime')),
        medianOf('the longest stall', 'ms', lagOf('max')),
        medianOf('resident memory of all processes, idle', 'MiB', idle),
        medianOf('resident memory of all processes, all in flight', 'MiB', waiting),
        medianOf('resident memory of all processes, most', 'MiB', most),
      ],
      notes: [
        `most model calls open at once: ${open}; ulimit -n: ${files}; median lag ${figure(median(lagOf('p50')))} ms.`,
      ],
    }
  },
}
