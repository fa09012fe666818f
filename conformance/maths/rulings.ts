import type { Pair } from './pairs.ts'

/** A disagreement with a peer. */
export interface Disagreement {
  peer: 'math-verify' | 'MATH' | 'GSM8K'
  pair: Pair
  ours: boolean
}

/** MATH compares text after some spellings were made one. These it does not make one; each has one value. */
const otherText = new Set([
  'dollar signs',
  'point zero',
  'over one',
  'not in lowest terms',
  'slash',
  'sign inside',
  'below the root',
  'pi behind',
  'order of a set',
  'order of terms',
  'square brackets',
  'another form',
])

/** Why ours is right; undefined where nobody has looked yet. */
export function rulingOn({ peer, pair: { kind, equal }, ours }: Disagreement): string | undefined {
  if (ours !== equal) return undefined
  if (peer === 'math-verify' && !ours && kind === 'nearly')
    return 'ours is right: another number; Math-Verify rounds to six decimals'
  if (peer === 'math-verify' && !ours && kind === 'another structure')
    return 'ours is right: a pair has an order, a set has none'
  if (peer === 'math-verify' && !ours && kind === 'bracket')
    return 'a matter of taste, ours the stricter: no set of real numbers has infinity in it'
  if (peer === 'math-verify' && ours && kind === 'another form')
    return 'ours is right: Math-Verify does not read the bar of a repeating decimal'
  if (peer === 'MATH' && ours && otherText.has(kind))
    return 'ours is right: the same value, and MATH compares text'
  if (peer === 'GSM8K' && ours && (kind === 'dollar signs' || kind === 'point zero' || kind === 'over one'))
    return 'ours is right: the same number, and GSM8K compares the digits that follow the marker'
  if (peer === 'GSM8K' && !ours && kind === 'one more')
    return 'ours is right: GSM8K reads the digits that come first and takes no notice of what follows'
  return undefined
}
