import { join } from 'node:path'
import { foldRun, QuintainError, readTrajectory } from '../../core/index.ts'
import { type RunOptions, startRun } from '../../engine/index.ts'
import { type Played, playedOf } from './played.ts'

/** What the oracle does on each task, and what policies reach that the environment itself says know nothing. */
export interface Calibration {
  /** Whether the environment has an oracle. */
  isThere: boolean
  /** By task; empty where there is no oracle, and where it was scored on none. */
  oracle: ReadonlyMap<string, Played>
  /** The best success rate of the environment's floor; null where it names none. */
  floor: number | null
}

/** Plays the oracle in a run of its own, where the environment has one. What it says is never shown. */
export async function calibrate(
  options: Omit<RunOptions, 'seats' | 'dir'> & { dir: string; seats?: RunOptions['seats'] },
  shadow: string | undefined,
): Promise<Calibration> {
  const dir = join(options.dir, 'oracle')
  try {
    await startRun({
      ...options,
      dir,
      floor: true,
      seats: { ...options.seats, agent: { policy: 'script:oracle' } },
    })
  } catch (error) {
    if (QuintainError.isInstance(error) && error.code === 'policy_unknown')
      return { isThere: false, oracle: new Map(), floor: null }
    throw error
  }
  const { states, manifest } = await foldRun(dir)
  const oracle = new Map<string, Played>()
  for (const { order, status, chosen } of states) {
    if (status !== 'scored' || chosen === undefined) continue
    const trajectory = await readTrajectory(dir, chosen)
    const { verdict } = chosen
    oracle.set(
      order.task,
      playedOf({ order: order.id, task: order.task, fault: undefined, verdict, trajectory }, shadow),
    )
  }
  const rates = (manifest.floor ?? []).flatMap(({ success }) => success ?? [])
  return { isThere: true, oracle, floor: rates.length === 0 ? null : Math.max(...rates) }
}
