import { daysIn, sameDay } from './calendar.ts'
import { canonicalDecimal } from './value-type.ts'

/** A number as a text shows it. */
export interface NumberInText {
  /** Canonical decimal: `-1250`, `4.5`. */
  value: string
  percent: boolean
  /** A sign or a name of a currency stands beside it, or it has exactly two decimals. */
  money: boolean
  from: number
  to: number
}

const numberPattern =
  /(?<![\p{L}\p{N}_.,#/-]|[\p{N}][’' \u00a0\u202f])([-−+]?)(?:([$€£¥]|USD|EUR|GBP)\s?)?([-−]?)(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:[’' \u00a0\u202f]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\p{L}\p{N}_]|[.,/-]\d)\s?(%|percent\b|[$€£¥]|(?:USD|EUR|GBP|euros?|dollars?|pounds?)\b)?/giu

/**
 * Numbers that a text shows as units of their own, in order: `1,250` is one number, and there is none in `A1250`,
 * `12-50` or `2026-05-22`. Commas and spaces between thousands are read, a decimal comma is not.
 */
export function numbersIn(text: string): NumberInText[] {
  // Most of what is said has no number, and a look costs less than the pattern.
  if (!/\d/.test(text)) return []
  const days = daysIn(text)
  const found: NumberInText[] = []
  for (const match of text.matchAll(numberPattern)) {
    const [whole, sign = '', before, inner = '', digits = '', after = ''] = match
    const from = match.index
    const to = from + whole.length
    if (days.some((day) => from < day.to && day.from < to)) continue
    const plain = digits.replace(/[,’' \u00a0\u202f]/g, '')
    const negative = /[-−]/.test(sign) !== /[-−]/.test(inner)
    const value = canonicalDecimal(`${negative ? '-' : ''}${plain}`)
    if (value === undefined) continue
    const percent = /%|percent/i.test(after)
    const money = !percent && (before !== undefined || after !== '' || /\.\d\d$/.test(plain))
    found.push({ value, percent, money, from, to })
  }
  return found
}

/**
 * Whether some message tells a piece of information. Units are compared, not substrings: a number must stand there as
 * that number, however it is grouped (`1,250` and `1250.00`, but not `11,250`), a day as that day in any spelling, and
 * words as whole words in their order, ignoring case and marks between them. What a plain negation stands before, in the
 * same clause, is not told: "you will not get 327", "it cannot be 327".
 *
 * It reads marks and words, not sense. It cannot know that a message takes a value back behind it ("327 is wrong"),
 * doubts, asks or reports it ("did he say 327?"), denies the denial ("it is not true that you will not get 327"), or
 * that a "not" has nothing to do with the value ("you need not call, the fee of 327 is due" is read right for its comma
 * alone). Nor can it tell whether a message lists everything that it knows; where that matters, ask a question and let
 * `onlyValue` read the answer.
 */
export function communicated(info: string, messages: readonly string[]): boolean {
  const wantedDays = daysIn(info)
  const [wantedDay] = wantedDays
  if (wantedDays.length === 1 && covers(info, wantedDay!)) {
    return messages.some((text) =>
      daysIn(text).some((day) => sameDay(day.date, wantedDay!.date) && !negated(text, day.from)),
    )
  }
  const [wanted, ...more] = numbersIn(info)
  if (wanted !== undefined && more.length === 0 && covers(info, wanted)) {
    return messages.some((text) =>
      numbersIn(text).some(
        ({ value, percent, from }) =>
          value === wanted.value && percent === wanted.percent && !negated(text, from),
      ),
    )
  }
  const words = wordsIn(info)
  return words.length > 0 && messages.some((text) => holdsInOrder(text, words))
}

/** Whether a unit is all that a text says, but for marks and spaces. */
function covers(text: string, { from, to }: { from: number; to: number }): boolean {
  return !/[\p{L}\p{N}]/u.test(text.slice(0, from) + text.slice(to))
}

/** A word that turns what follows it into its opposite. "no" is one before a noun, and in "order no 5" it is not. */
const negation =
  /\b(?:not|never|cannot|neither|nor|without|(?:ai|are|ca|could|did|do|does|had|has|have|is|should|was|were|wo|would)n[’']?t|no(?=\s+\p{L}))\b/iu

/** Where what was said before no longer counts: a new sentence or clause, or a bound ("not before May 22" tells a day). */
const newClause =
  /[.!?;:](?=\s)|\n|\s[-–—]\s|—|\(|,(?!\s*(?:or\b|nor\b|[$€£¥]?\d))(?=\s)|\b(?:but|however|although|though|because|since|instead|rather|so|only|just|merely|until|till|before|after|unless|except|than)\b|\band(?=\s+(?:you|your|it|its|that|this|the|we|our|i|there)\b)/giu

/** Longest clause that is read. */
const longestClause = 300

function negated(text: string, from: number): boolean {
  const before = text.slice(Math.max(0, from - longestClause), from)
  const start = Array.from(before.matchAll(newClause), (match) => match.index + match[0].length).at(-1) ?? 0
  return negation.test(before.slice(start))
}

interface Word {
  text: string
  from: number
}

function wordsIn(text: string): Word[] {
  const plain = text.normalize('NFKC').toLowerCase()
  return Array.from(plain.matchAll(/\d+(?:,\d{3})*(?:\.\d+)?|[\p{L}\p{M}\p{N}]+/gu), (match) => ({
    text: match[0].replaceAll(',', ''),
    from: match.index,
  }))
}

function holdsInOrder(text: string, wanted: readonly Word[]): boolean {
  const plain = text.normalize('NFKC').toLowerCase()
  const words = wordsIn(text)
  for (let at = 0; at + wanted.length <= words.length; at++) {
    if (wanted.every((word, i) => words[at + i]!.text === word.text) && !negated(plain, words[at]!.from))
      return true
  }
  return false
}

/**
 * The one value of a list of values that were read from an answer; undefined when there is none, or when the answer
 * names several. For checks of what somebody was told: an answer that lists every figure it knows tells none.
 */
export function onlyValue<T>(values: Iterable<T>): T | undefined {
  const different = [...new Set(values)]
  return different.length === 1 ? different[0] : undefined
}
