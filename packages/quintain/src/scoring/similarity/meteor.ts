import { porterStem } from './porter-stem.ts'
import { wordsOf } from './words.ts'

interface Place {
  word: string
  at: number
}

/**
 * METEOR with the stages that need no lexicon: lower-case words at white space are aligned when they are the same, then
 * when they have one Porter stem. The third stage, WordNet synonyms, is left out: where both texts use different words of
 * one meaning, this is lower. Otherwise nltk 3.9.1 `single_meteor_score` with its alpha 0.9, beta 3 and gamma 0.5.
 */
export function meteor(input: string, reference: string): number {
  const given = placesOf(input)
  const wanted = placesOf(reference)
  const pairs: [number, number][] = []
  const exact = align(given, wanted, pairs)
  align(exact.given.map(stemmed), exact.wanted.map(stemmed), pairs)
  if (pairs.length === 0) return 0
  pairs.sort((one, other) => one[0] - other[0])
  let chunks = 1
  for (const [i, [x, y]] of pairs.entries()) {
    const next = pairs[i + 1]
    if (next !== undefined && (next[0] !== x + 1 || next[1] !== y + 1)) chunks++
  }
  const precision = pairs.length / given.length
  const recall = pairs.length / wanted.length
  const mean = (precision * recall) / (0.9 * precision + (1 - 0.9) * recall)
  return (1 - 0.5 * (chunks / pairs.length) ** 3) * mean
}

function placesOf(text: string): Place[] {
  return wordsOf(text).map((word, at) => ({ word: word.toLowerCase(), at }))
}

function stemmed({ word, at }: Place): Place {
  return { word: porterStem(word), at }
}

/** Pairs words from the last to the first, each with the last one that is the same and free. Gives what is left over. */
function align(
  given: readonly Place[],
  wanted: readonly Place[],
  pairs: [number, number][],
): { given: Place[]; wanted: Place[] } {
  const free = new Map<string, Place[]>()
  for (const place of wanted) {
    const places = free.get(place.word)
    if (places === undefined) free.set(place.word, [place])
    else places.push(place)
  }
  const taken = new Set<number>()
  const left: Place[] = []
  for (const place of given.toReversed()) {
    const partner = free.get(place.word)?.pop()
    if (partner === undefined) left.push(place)
    else {
      taken.add(partner.at)
      pairs.push([place.at, partner.at])
    }
  }
  return { given: left.toReversed(), wanted: wanted.filter(({ at }) => !taken.has(at)) }
}
