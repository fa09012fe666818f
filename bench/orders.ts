import { join } from 'node:path'
import { createRng, evaluate } from 'quintain'
import { Desk } from '../environments/orders/src/desk.ts'
import { scenarioOfTask } from '../environments/orders/src/tasks.ts'
import { cpuTimes } from './cpu-time.ts'
import { inFreshProcess } from './fresh-process.ts'
import { type Bench, figure, median, medianOf } from './measurement.ts'
import { inTemporaryFolder } from './run-files.ts'

const module = import.meta.url
const tasks = 10_000
const worlds = 5_000
const repetitions = 3

export interface Desks {
  rollouts: number
  turns: number
  toolCalls: number
  wholeMs: number
  /** From the first order that was started to the last record on disk. */
  playMs: number
  mainCpuMs: number
  workersCpuMs: number
}

/** Serves generated customers as a user would: two workers, default isolation, journal on, grading included. */
export async function serveCustomers(policy: string, count: number, dir: string): Promise<Desks> {
  let first = 0
  let last = 0
  const cpuBefore = cpuTimes()
  const began = performance.now()
  const run = await evaluate('@quintain/orders', {
    cwd: import.meta.dirname,
    policy,
    split: 'train',
    options: { generated: count },
    dir,
    workers: 2,
    onProgress() {
      last = performance.now()
      first ||= last
    },
  })
  const wholeMs = performance.now() - began
  const cpu = cpuTimes()
  const { status, turns, toolCalls } = run.summary
  if (status.scored !== count || run.success.value !== 1) {
    throw new Error(`${policy} did not play as it should: ${JSON.stringify(status)}`)
  }
  return {
    rollouts: count,
    turns: turns.mean ?? 0,
    toolCalls: toolCalls / count,
    wholeMs,
    playMs: last - first,
    mainCpuMs: (cpu.ownMs - cpuBefore.ownMs) / count,
    workersCpuMs: (cpu.childrenMs - cpuBefore.childrenMs) / count,
  }
}

export interface Opened {
  /** Milliseconds from the task to a world with tools, each of another task. */
  medianMs: number
  p99Ms: number
  /** The very first, which makes the tables. */
  firstMs: number
}

/** Opens worlds of different tasks one after the other, each closed before the next. */
export async function openWorlds(count: number): Promise<Opened> {
  const times: number[] = []
  for (let generated = 0; generated < count; generated++) {
    const began = performance.now()
    const desk = new Desk(scenarioOfTask({ generated, seed: 0 }), createRng(generated))
    desk.tools('agent')
    times.push(performance.now() - began)
    desk.close()
  }
  const sorted = times.toSorted((a, b) => a - b)
  return { medianMs: median(times), p99Ms: sorted[Math.floor(count * 0.99)]!, firstMs: times[0]! }
}

export interface Leak {
  halfMiB: number
  endMiB: number
}

/** Resident memory after the first half of many worlds that were opened, used and closed, and after all of them. */
export async function openManyWorlds(count: number): Promise<Leak> {
  let halfMiB = 0
  for (let i = 0; i < count; i++) {
    const desk = new Desk(scenarioOfTask({ generated: i % 2_000, seed: 0 }), createRng(i))
    desk.finish()
    desk.close()
    if (i === Math.floor(count / 2)) halfMiB = process.memoryUsage.rss() / 2 ** 20
    if (i % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return { halfMiB, endMiB: process.memoryUsage.rss() / 2 ** 20 }
}

export const bench: Bench = {
  title: 'Customers served per second at the desk of environments/orders',
  about:
    `environments/orders, ${tasks} generated tasks, once each, two workers, default isolation, journal on, grading ` +
    'included; script:oracle, the customer scripted. Each run in fresh processes. A world is ready when it has its ' +
    'database, its task worked out and its tools.',
  async run(progress) {
    const opened: Opened[] = []
    const runs: Desks[] = []
    for (let run = 0; run < repetitions; run++) {
      opened.push(await inFreshProcess(module, openWorlds, [worlds]))
      const served = await inTemporaryFolder((folder) =>
        inFreshProcess(module, serveCustomers, ['script:oracle', tasks, join(folder, 'run')]),
      )
      runs.push(served)
      progress(`run ${run + 1}: ${figure((served.rollouts * 1000) / served.playMs)} rollouts/s`)
    }
    const many = 100_000
    const leak = await inFreshProcess(module, openManyWorlds, [many])
    const perSecond = (ms: (desks: Desks) => number): number[] =>
      runs.map((desks) => (desks.rollouts * 1000) / ms(desks))
    return {
      measurements: [
        medianOf(
          'a world ready, median',
          'ms',
          opened.map(({ medianMs }) => medianMs),
          { below: 1 },
        ),
        medianOf(
          'a world ready, p99',
          'ms',
          opened.map(({ p99Ms }) => p99Ms),
        ),
        medianOf(
          'the first world of a process',
          'ms',
          opened.map(({ firstMs }) => firstMs),
        ),
        medianOf(
          'complete rollouts',
          '/s',
          perSecond(({ playMs }) => playMs),
          { atLeast: 1_000 },
        ),
        medianOf(
          'complete rollouts, start-up, planning and report counted',
          '/s',
          perSecond(({ wholeMs }) => wholeMs),
        ),
        medianOf(
          'processor time of a rollout, main process',
          'ms',
          runs.map(({ mainCpuMs }) => mainCpuMs),
        ),
        medianOf(
          'processor time of a rollout, workers together',
          'ms',
          runs.map(({ workersCpuMs }) => workersCpuMs),
        ),
        {
          what: `memory grown between ${many / 2} and ${many} worlds of one process`,
          unit: 'MiB',
          value: leak.endMiB - leak.halfMiB,
          aim: { below: 30 },
        },
      ],
      notes: [
        `a rollout has ${figure(runs[0]!.turns)} turns of the agent and ${figure(runs[0]!.toolCalls)} tool calls on average`,
      ],
    }
  },
}
