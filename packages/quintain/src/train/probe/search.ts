import type { TaskSummary } from '../../engine/index.ts'
import { blindScripts } from './blind-scripts.ts'
import type { Calibration } from './oracle.ts'
import { payScale } from './pay.ts'
import type { Prober } from './prober.ts'
import type { Script } from './script.ts'
import { promise, type Standing, standings } from './standing.ts'
import { toolScripts } from './tool-scripts.ts'

export interface Search {
  /** Scripts by what they promise, the most first. */
  standings: Standing[]
  tried: number
  /** Scripts for which there was no time. */
  left: number
}

/** Scripts that are played at once, between two looks at the clock. */
const atOnce = 24
const firstTasks = 2
/** Scripts that are looked at on all tasks of the search. */
const mostPromising = 24

/** Plays scripts that know nothing on a few tasks, and those that promise most on some more. */
export async function searchScripts(
  prober: Prober,
  tasks: readonly TaskSummary[],
  {
    calibration,
    seconds,
    onProgress,
  }: {
    calibration: Calibration
    seconds: number
    onProgress?: ((done: number, of: number) => void) | undefined
  },
): Promise<Search> {
  const began = performance.now()
  const some = tasks.slice(0, firstTasks)
  let scripts = inTurns(blindScripts())
  let tried = 0
  while (tried < scripts.length && (tried === 0 || performance.now() - began < 1_000 * seconds)) {
    await prober.play(scripts.slice(tried, tried + atOnce), some)
    // What tools there are is known once something was played.
    if (tried === 0)
      scripts = [
        ...scripts.slice(0, atOnce),
        ...inTurns([...toolScripts(prober.tools), ...scripts.slice(atOnce)]),
      ]
    tried = Math.min(scripts.length, tried + atOnce)
    onProgress?.(tried, scripts.length)
  }
  const rest = tasks.slice(firstTasks)
  const stand = () => ranked(prober, calibration)
  if (rest.length > 0)
    await prober.play(
      stand()
        .slice(0, mostPromising)
        .map(({ script }) => script),
      rest,
    )
  return { standings: stand(), tried, left: scripts.length - tried }
}

/** All that was played so far, by promise. */
export function ranked(prober: Prober, calibration: Calibration): Standing[] {
  const { tries } = prober
  const scale = payScale(tries, [...calibration.oracle.values()])
  if (scale === undefined) return []
  return standings(tries, scale, calibration).sort((a, b) => promise(b) - promise(a))
}

/** One of each family, then another: where time is short each has had its turn. */
function inTurns(scripts: readonly Script[]): Script[] {
  const families = [...Map.groupBy(scripts, ({ family }) => family).values()]
  const longest = Math.max(0, ...families.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => families.flatMap((family) => family[at] ?? [])).flat()
}
