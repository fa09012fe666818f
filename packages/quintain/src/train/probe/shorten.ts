import type { TaskSummary } from '../../engine/index.ts'
import type { Prober } from './prober.ts'
import { type Script, saying } from './script.ts'
import { promise, type Standing } from './standing.ts'

/** Rounds after which a text is left as it is. */
const mostRounds = 32
/** Characters of a text that is shortened by letters once no word can be left out. */
const longestByLetters = 64

/**
 * The least of a text that still pays as all of it does, by leaving out ever smaller parts (delta debugging, Zeller and
 * Hildebrandt 2002): what it is paid for is then plain. The script as it is where it says more than one text.
 */
export async function shorten(
  standing: Standing,
  {
    prober,
    tasks,
    stand,
  }: {
    prober: Prober
    tasks: readonly TaskSummary[]
    stand(tries: Awaited<ReturnType<Prober['play']>>): Standing[]
  },
): Promise<Script> {
  const { script } = standing
  if (script.text === undefined || script.text.length < 2) return script
  const wanted = 0.9 * promise(standing)
  let parts = partsOf(script.text)
  let size = Math.max(1, Math.floor(parts.length / 2))
  for (let round = 0; round < mostRounds && parts.length > 1; round++) {
    const shorter = without(parts, size)
    const scripts = new Map(shorter.map((kept) => [saying(script.family, kept.join('')), kept]))
    const tries = await prober.play([...scripts.keys()], tasks)
    const good = stand(tries)
      .filter((one) => promise(one) >= wanted)
      .map((one) => scripts.get(one.script)!)
      .sort((a, b) => a.join('').length - b.join('').length)
    const [best] = good
    if (best !== undefined) {
      parts = best
      size = Math.max(1, Math.min(size, Math.floor(parts.length / 2)))
      continue
    }
    if (size > 1) size = Math.max(1, Math.floor(size / 2))
    else if (parts.some((part) => part.length > 1) && parts.join('').length <= longestByLetters) {
      // Words are the least so far; now letters.
      parts = parts.flatMap((part) => [...part])
      size = Math.max(1, Math.floor(parts.length / 2))
    } else break
  }
  const text = parts.join('')
  return text === script.text ? script : saying(script.family, text)
}

/** Words with the space behind them; letters, where there is one word. */
function partsOf(text: string): string[] {
  const words = text.match(/\S+\s*|\s+/g) ?? [text]
  return words.length > 1 ? words : [...text]
}

/** The parts less `size` of them, in every place; halves first keep nearly nothing, so both sides are there. */
function without(parts: readonly string[], size: number): string[][] {
  const shorter: string[][] = []
  for (let from = 0; from < parts.length; from += size) {
    shorter.push([...parts.slice(0, from), ...parts.slice(from + size)])
  }
  return shorter.filter((kept) => kept.length > 0).slice(0, 32)
}
