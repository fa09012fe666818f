import { symbolsOf } from './sequences.ts'
import { countRuns, wordsOf } from './words.ts'

/** Cells of tables of words that one comparison may fill: half a second, and 50 MB for a time. */
const mostCells = 50_000_000

/**
 * ROUGE-N, F measure, as the Python package `rouge` 1.0.1 gives it: words at white space with full stops taken as ends of
 * sentences, nothing lower-cased, each run of `n` words counted once, and 1e-8 added to the denominator, so that equal
 * texts come to 0.999999995. 0 where a text has no sentence, for which the package raises.
 */
export function rougeN(input: string, reference: string, n: number): number {
  const { a, b } = symbolsOf(sentencesOf(input).flat(), sentencesOf(reference).flat())
  const [given, wanted] = [countRuns(a, n), countRuns(b, n)]
  let shared = 0
  for (const run of given.keys()) if (wanted.has(run)) shared++
  return fMeasure(shared, given.size, wanted.size)
}

/**
 * ROUGE-L of summaries, F measure, as the Python package `rouge` 1.0.1 gives it: the different words that lie on a longest
 * common subsequence of any two sentences, by the different words of each text. Null: too long to compare.
 */
export function rougeL(input: string, reference: string): number | null {
  const [given, wanted] = [sentencesOf(input), sentencesOf(reference)]
  const symbols = symbolsOf(given.flat(), wanted.flat())
  if (symbols.a.length * symbols.b.length > mostCells) return null
  const [givenSentences, wantedSentences] = [pieces(symbols.a, given), pieces(symbols.b, wanted)]
  const found = new Set<number>()
  let cells = new Uint8Array(0)
  for (const x of wantedSentences) {
    for (const y of givenSentences) {
      if (cells.length < x.length * y.length) cells = new Uint8Array(x.length * y.length)
      addCommon(x, y, { cells, found })
    }
  }
  return fMeasure(found.size, new Set(symbols.a).size, new Set(symbols.b).size)
}

/**
 * Adds the symbols of one longest common subsequence; of several, the one that is found from the ends by leaving out a
 * symbol of `y` unless leaving out one of `x` keeps more. `cells` notes where it does.
 */
function addCommon(
  x: Int32Array,
  y: Int32Array,
  { cells, found }: { cells: Uint8Array; found: Set<number> },
): void {
  const row = new Int32Array(y.length + 1)
  for (let i = 0; i < x.length; i++) {
    let diagonal = 0
    for (let j = 0; j < y.length; j++) {
      const above = row[j + 1]!
      const left = row[j]!
      row[j + 1] = x[i] === y[j] ? diagonal + 1 : Math.max(above, left)
      cells[i * y.length + j] = above > left ? 1 : 0
      diagonal = above
    }
  }
  let [i, j] = [x.length - 1, y.length - 1]
  while (i >= 0 && j >= 0) {
    if (x[i] === y[j]) {
      found.add(x[i]!)
      i--
      j--
    } else if (cells[i * y.length + j] === 1) i--
    else j--
  }
}

/** Words of each sentence. White space between two full stops is a sentence of one empty word, as it is to the package. */
function sentencesOf(text: string): string[][] {
  return text
    .split('.')
    .filter((sentence) => sentence !== '')
    .map((sentence) => {
      const words = wordsOf(sentence)
      return words.length === 0 ? [''] : words
    })
}

function pieces(symbols: Int32Array, sentences: readonly (readonly string[])[]): Int32Array[] {
  let from = 0
  return sentences.map(({ length }) => {
    from += length
    return symbols.subarray(from - length, from)
  })
}

function fMeasure(shared: number, given: number, wanted: number): number {
  if (given === 0 || wanted === 0) return 0
  const [precision, recall] = [shared / given, shared / wanted]
  return 2 * ((precision * recall) / (precision + recall + 1e-8))
}
