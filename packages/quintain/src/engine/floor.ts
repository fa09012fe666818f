import { availableParallelism } from 'node:os'
import { type FloorRecord, foldRun, messageOf, removeRun } from '../core/index.ts'
import type { OpenedRun } from './open-run.ts'
import type { RunOptions } from './run-options.ts'

/** The floor is measured on so many of a run's tasks: enough to see whether knowing nothing pays. */
const mostTasks = 100

/**
 * Plays the policies that the environment calls its floor over the first tasks of a run, once each, in runs of their
 * own that are thrown away. Nothing when another seat has a model, whose calls would cost something. Never rejects: a
 * floor that cannot be measured is left out, and the log says why.
 */
export async function measureFloor(
  options: RunOptions,
  opened: OpenedRun,
  play: (options: RunOptions) => Promise<string>,
): Promise<FloorRecord[]> {
  const { agent: _, ...others } = options.seats
  if (Object.values(others).some((player) => !('policy' in player))) return []
  const tasks = opened.tasks.slice(0, mostTasks).map(({ id }) => id)
  if (tasks.length === 0) return []
  const { dir: _dir, onProgress: _progress, maxCostUsd: _cap, harness: _harness, ...shared } = options
  const names = [...opened.executor.description.floor]
  const found = new Map<string, FloorRecord>()
  const measure = async (policy: string): Promise<void> => {
    try {
      const seats = { ...others, agent: { policy } }
      const dir = await play({ ...shared, floor: false, seats, tasks, repeats: 1, workers: 1 })
      found.set(policy, await floorIn(dir, policy).finally(() => removeRun(dir)))
    } catch (error) {
      opened.log.write(`the floor of ${policy} was not measured: ${messageOf(error)}\n`)
    }
  }
  // One at a time on each core: most of what a floor takes is to load the environment.
  const waiting = names.map((name) => `script:${name}`)
  const lane = async (): Promise<void> => {
    for (let policy = waiting.shift(); policy !== undefined; policy = waiting.shift()) await measure(policy)
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), names.length) }, lane))
  return names.flatMap((name) => found.get(`script:${name}`) ?? [])
}

async function floorIn(dir: string, policy: string): Promise<FloorRecord> {
  const { states } = await foldRun(dir)
  const verdicts = states.flatMap(({ status, chosen }) =>
    status === 'scored' && chosen?.verdict != null ? [chosen.verdict] : [],
  )
  const mean = (values: (number | null)[]): number | null =>
    values.length === 0 || values.includes(null)
      ? null
      : values.reduce<number>((sum, value) => sum + value!, 0) / values.length
  return {
    policy,
    tasks: states.length,
    scored: verdicts.length,
    success: mean(verdicts.map(({ success }) => (success === null ? null : Number(success)))),
    reward: mean(verdicts.map(({ reward }) => reward)),
  }
}
