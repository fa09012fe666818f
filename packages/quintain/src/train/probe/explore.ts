import { createRng } from '../../core/index.ts'
import type { TaskSummary } from '../../engine/index.ts'
import { mixtures } from './mixtures.ts'
import { piecesOf } from './pieces.ts'
import type { Prober } from './prober.ts'

const mostMixtures = 384
/** Mixtures that are played at once, on one task. */
const atOnce = 24

/**
 * Plays mixtures of what scripts did, each on one task of the search: what is paid now and then is where a policy begins
 * that would never have found it. Gives how many were played in the time.
 */
export async function explore(
  prober: Prober,
  tasks: readonly TaskSummary[],
  { seed, seconds }: { seed: string; seconds: number },
): Promise<number> {
  const began = performance.now()
  const firsts = [...Map.groupBy(prober.tries, ({ script }) => script).values()].flatMap(
    ([first]) => first ?? [],
  )
  // An echo is of one task.
  const known = firsts.filter(({ script }) => script.family !== 'echo')
  const pieces = piecesOf(known).filter((piece) => !piece.includes('<tool_call>'))
  const scripts = mixtures(known, { count: mostMixtures, pieces, rng: createRng(`probe/mixtures/${seed}`) })
  let played = 0
  while (played < scripts.length && performance.now() - began < 1_000 * seconds) {
    const task = tasks[(played / atOnce) % tasks.length]!
    await prober.play(scripts.slice(played, played + atOnce), [task])
    played = Math.min(scripts.length, played + atOnce)
  }
  return played
}
