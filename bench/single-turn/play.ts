import { fileURLToPath } from 'node:url'
import { createChatModel, evaluate, type Model } from 'quintain'
import { cpuTimes } from '../cpu-time.ts'
import { recordedBytes } from '../run-files.ts'

const environmentFolder = fileURLToPath(new URL('.', import.meta.url))

export interface PlayOptions {
  /** Base URL of the fake model. */
  url: string
  dir: string
  rollouts: number
  inFlight: number
  promptChars: number
}

export interface Played {
  /** Of the whole `evaluate()` call: starting workers, planning, rollouts, journal, report. */
  wholeMs: number
  /** From the first order that was started to the last record on disk. */
  rolloutsMs: number
  /** Bytes on disk a rollout, over all files; and of its trajectory alone. */
  recordBytes: number
  trajectoryBytes: number
  /** When the first order was started: milliseconds since 1970. */
  firstAt: number
  /** When all calls were open, and when the first reply was in; undefined when that never happened. */
  allOpenAt?: number | undefined
  firstReplyAt?: number | undefined
  /** Most model calls that were open at once. */
  mostOpen: number
  /** Processor time a rollout, start-up and all: of the main process, and of the workers together. */
  mainCpuMs: number
  workersCpuMs: number
}

/** Single-turn rollouts against a fake model, as a user would run them: default isolation, journal on. */
export async function play(options: PlayOptions): Promise<Played> {
  const { url, dir, rollouts, inFlight, promptChars } = options
  const client = createChatModel({ model: 'fake', baseUrl: url, connections: inFlight })
  let open = 0
  let mostOpen = 0
  let allOpenAt: number | undefined
  let firstReplyAt: number | undefined
  const timestamp = (): number => performance.timeOrigin + performance.now()
  const model: Model = {
    id: client.id,
    // Not async: its frame would keep the request, which is memory that the engine does not take.
    generate(request, context) {
      if (++open > mostOpen) mostOpen = open
      if (open === inFlight) allOpenAt ??= timestamp()
      return client.generate(request, context).finally(() => {
        open--
        firstReplyAt ??= timestamp()
      })
    },
  }
  let first = 0
  let last = 0
  const cpuBefore = cpuTimes()
  const began = performance.now()
  const result = await evaluate(environmentFolder, {
    model,
    dir,
    options: { tasks: rollouts, promptChars },
    concurrency: inFlight,
    workers: 2,
    onProgress() {
      last = performance.now()
      first ||= last
    },
  })
  const wholeMs = performance.now() - began
  const cpu = cpuTimes()
  await client.close?.()
  const { summary } = result
  if (!result.complete || summary.status.scored !== rollouts || result.success.value !== 1) {
    throw new Error(
      `the run is not whole: ${JSON.stringify({ status: summary.status, faults: summary.faults })}`,
    )
  }
  const bytes = recordedBytes(dir)
  return {
    wholeMs,
    rolloutsMs: last - first,
    firstAt: performance.timeOrigin + first,
    recordBytes: bytes.total / rollouts,
    trajectoryBytes: bytes.trajectories / rollouts,
    allOpenAt,
    firstReplyAt,
    mostOpen,
    mainCpuMs: (cpu.ownMs - cpuBefore.ownMs) / rollouts,
    workersCpuMs: (cpu.childrenMs - cpuBefore.childrenMs) / rollouts,
  }
}
