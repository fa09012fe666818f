import { symbolsOf } from './sequences.ts'
import { countRuns, countShared, wordsOf } from './words.ts'

/**
 * BLEU of one text against one reference: words at white space, orders 1 to `maxOrder` (4) weighted alike, no smoothing,
 * brevity penalty. A text of fewer words than `maxOrder` is measured up to its own length. That is nltk 3.9.1
 * `sentence_bleu([reference], input, auto_reweigh=True)`, where nltk's 1e-77 for "no run of this length" is 0.
 */
export function bleu(input: string, reference: string, options: { maxOrder?: number } = {}): number {
  const { a, b } = symbolsOf(wordsOf(input), wordsOf(reference))
  const orders = Math.min(options.maxOrder ?? 4, a.length)
  if (orders < 1) return 0
  let logs = 0
  for (let n = 1; n <= orders; n++) {
    const shared = countShared(countRuns(a, n), countRuns(b, n))
    if (shared === 0) return 0
    logs += Math.log(shared / (a.length - n + 1)) / orders
  }
  const penalty = a.length > b.length ? 0 : 1 - b.length / a.length
  return Math.exp(penalty + logs)
}

/**
 * Google's GLEU: runs of one to four words that both have, by the runs of the side that has more. nltk 3.9.1
 * `sentence_gleu([reference], input)`; words at white space.
 */
export function gleu(input: string, reference: string): number {
  const { a, b } = symbolsOf(wordsOf(input), wordsOf(reference))
  let [shared, ofInput, ofReference] = [0, 0, 0]
  for (let n = 1; n <= 4; n++) {
    shared += countShared(countRuns(a, n), countRuns(b, n))
    ofInput += Math.max(0, a.length - n + 1)
    ofReference += Math.max(0, b.length - n + 1)
  }
  const all = Math.max(ofInput, ofReference)
  return all === 0 ? 0 : shared / all
}
