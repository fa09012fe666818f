import type { Rng } from '../../core/index.ts'
import { type Played, saidIn } from './played.ts'
import { type Act, repeating, type Script, shown } from './script.ts'

const mostRandom = 12
const mostRepeated = 24
/** A way of playing goes on for so many turns at most, however long the environment would. */
const mostTurns = 6

/**
 * Ways of playing that nobody tried: in each turn another reply of those that were played, pieces by chance, one piece again
 * and again, or two replies joined; now and then what was said before.
 */
export function mixtures(
  played: readonly Played[],
  { count, pieces, rng }: { count: number; pieces: readonly string[]; rng: Rng },
): Script[] {
  const known = played.flatMap(({ acts }) => acts)
  const calling = known.filter(({ calls = [] }) => calls.length > 0)
  if (known.length === 0 || pieces.length === 0) return []
  const turns = Math.min(mostTurns, Math.max(...played.map(({ acts }) => acts.length)))
  return Array.from({ length: count }, (_, at) => {
    const acts: Act[] = []
    for (let turn = 0; turn < turns; turn++)
      acts.push(turn > 0 && rng.int(4) === 0 ? rng.pick(acts) : mixed({ known, calling, pieces }, rng))
    return repeating('mixed', `mixture ${at}: ${shown(saidIn(acts))}`, acts)
  })
}

interface Stock {
  known: readonly Act[]
  /** Those with calls: few beside all that can be said, and drawn as often. */
  calling: readonly Act[]
  pieces: readonly string[]
}

function mixed({ known, calling, pieces }: Stock, rng: Rng): Act {
  if (calling.length > 0 && rng.int(2) === 0) return rng.pick(calling)
  const drawn = (most: number) => Array.from({ length: 1 + rng.int(most) }, () => rng.pick(pieces)).join('')
  switch (rng.int(6)) {
    case 0:
    case 1:
      return rng.pick(known)
    case 2:
    case 3:
      return { text: drawn(mostRandom) }
    case 4:
      return { text: drawn(2).repeat(1 + rng.int(mostRepeated)) }
    default:
      return { text: `${rng.pick(known).text}${rng.pick([' ', '\n'])}${rng.pick(known).text}` }
  }
}
