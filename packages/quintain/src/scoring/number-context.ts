import type { NumberToken } from './number-text.ts'
import { canonicalUnit } from './number-unit.ts'
import { sameValue } from './number-value.ts'

/**
 * What the words before a number make of it: `negative` turns its sign, `denied` says that it is not the one, and of what
 * is a bound, a part of a calculation or a multiple it is no number that was given as an answer.
 */
export type Before = 'plain' | 'negative' | 'denied' | 'bound' | 'part'

/** Words and signs right before a number that change nothing. */
const fillers =
  /(?:[\s([{"'“‘~≈:]|\\?[$€£¥₹]|\b(?:about|approximately|approx\.?|around|roughly|exactly|only|simply|precisely|equals?(?: to)?|an?|the|total of|value of))$/iu
const denial =
  /(?:(?<!\p{L})(?:not|never|neither|nor|none|cannot|instead of|rather than|except(?: for)?|unlike|no longer)|n['’]t)(?: (?:be|been|necessarily|really|actually|quite|even))*$/iu
const signedBy = /(?:^|(?<!\p{L})(?:is|be|are|was|were|to|equals?|of|becomes?)|[:=,;(])\s*minus$/iu
const bound =
  /(?:[<>≤≥≠≉≪≫]|[<>!]=|(?<!\p{L})(?:than|than or equal|at (?:least|most)|no (?:more|less|fewer)|exceeds?|exceeding|between|up to|under|above|below)|(?:^|(?<!\p{L})(?:is|are|was|be|just|well|slightly|little|bit)\s)\s*over)$/iu
const shares =
  'half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|sevenths?|eighths?|ninths?|tenths?|percent|percentage|fraction|multiple|divisor|square|cube|root|reciprocal|inverse|opposite|logarithm|log|factorial|one|out'
const part = new RegExp(
  `(?:(?<!\\p{L})(?:(?:${shares}) of|half|twice|thrice|double|triple|quadruple|plus|minus|times|multiplied by|divided by|mod|modulo|sqrt|log|ln|sin|cos|tan)|[\\d%] of|[√∛∑∏∫]|\\\\[a-zA-Z]+|(?:[\\d)\\]}%]|(?<!\\p{L})\\p{L})\\s*[+*×÷·/^−–-])$`,
  'iu',
)

/** Reads the end of what stands before a number, up to the beginning of its sentence. */
export function readBefore(text: string): Before {
  let left = text.slice(-80)
  // Signs at the very beginning of a claim belong to the number though a space parts them.
  if (/^\s*[-−–]\s+[$€£¥₹]?$/.test(text)) return 'negative'
  for (let round = 0; round < 40; round++) {
    const shorter = left.replace(fillers, '')
    if (shorter === left) break
    left = shorter
  }
  if (denial.test(left)) return 'denied'
  if (/(?<!\p{L})negative$/iu.test(left) || signedBy.test(left)) return 'negative'
  if (bound.test(left)) return 'bound'
  return part.test(left) ? 'part' : 'plain'
}

const word = '[\\p{L}][\\p{L}.²³]*'
const calculation =
  /^\s*(?:[\^*×÷·±√π∞+<>≤≥≠]|\\[a-zA-Z]|[-−]\s*\p{L}(?!\p{L})|(?:squared|cubed|factorial|divided by|multiplied by|modulo|to the power)\b|(?:plus|minus|times|over|mod)\s+[($]?\d)|^![\p{L}\d]/iu
const openEnd =
  /^\s*(?:\p{L}+\s+){0,2}(?:or|and)\s+(?:more|less|fewer|greater|higher|lower|above|below|over|under|up|beyond|older|younger|longer)(?!\p{L})/iu
const outOf = new RegExp(
  `^\\s*(?:${word}\\s+)?(?:out\\s+)?of\\s+(?:(?:the|all|his|her|their|a total of)\\s+){0,2}[$€£]?\\d`,
  'iu',
)

/** Whether a number goes on as something else: a calculation, a bound, a share of another number. */
export function goesOn(after: string): boolean {
  const right = after.slice(0, 120)
  return calculation.test(right) || openEnd.test(right) || outOf.test(right)
}

const hedge =
  "(?:maybe|perhaps|possibly|even|about|approximately|around|else|it|is|it's|could|might|may|be|to|\\p{L}\\s?=)"
const joiners = [
  // `18 or 7`, `18 dollars or maybe 7`
  new RegExp(
    `^\\s*(?:${word}\\s+){0,3}?(?:${word})?,?\\s*(?:\\bor\\b|and/or|\\bvs\\b\\.?|\\bversus\\b),?\\s*(?:${hedge}\\s*){0,4}$`,
    'iu',
  ),
  // `18 and 7`, `18 apples and 7 pears`
  new RegExp(`^\\s*(?:${word})?,?\\s*(?:\\band\\b|&)\\s*(?:${hedge}\\s*)?$`, 'iu'),
  // `17 to 18`, `17..18`, `17 ~ 18`, `18 / 7`, `18 | 7`
  new RegExp(`^\\s*(?:${word})?\\s*(?:\\bto\\b|\\bthrough\\b|[~≈–±/|]|\\.\\.+|…)\\s*$`, 'iu'),
  // `x = 18, y = 7`
  /^\s*[,;]?\s*\p{L}\w{0,11}\s?=\s*$/u,
]
const comma = new RegExp(`^\\s*(?:${word})?\\s*[,;]\\s*(?:${hedge}\\s*)?$`, 'iu')
const listGoesOn = new RegExp(`^\\s*(?:${word})?\\s*(?:$|[.,;?!)\\]\\n]|or\\b|and\\b)`, 'iu')

/** Whether two numbers, one after the other, are given as one answer in several numbers: a choice, a list, a range. */
export function joins(text: string, first: NumberToken, next: NumberToken): boolean {
  const between = text.slice(first.end, next.start)
  if (between.length > 80) return false
  const gap = between.replace(/["'“”‘’$€£¥₹[\](){}]/g, ' ')
  // Side by side, `18 7`, or as parts of one quantity, `18 hours 30 minutes`.
  if (gap.trim() === '') return !gap.includes('\n')
  if (joiners.some((joiner) => joiner.test(gap))) return true
  if (comma.test(gap)) return listGoesOn.test(text.slice(next.end, next.end + 40))
  return (
    first.reading?.unit !== undefined && next.reading?.unit !== undefined && canonicalUnit(gap) !== undefined
  )
}

/** Whether of two joined numbers the second says nothing else: the same once more, or none of a smaller unit. */
export function saysNothingNew(first: NumberToken, next: NumberToken): boolean {
  if (first.reading === undefined || next.reading === undefined) return false
  if (sameValue(first.reading.value, next.reading.value)) return true
  return (
    next.reading.value.num === 0n &&
    next.reading.unit !== undefined &&
    next.reading.unit !== first.reading.unit
  )
}
