import { extractAnswer } from './extract-answer.ts'
import { readNumber } from './number-read.ts'
import { findNumbers, type NumberReading } from './number-text.ts'
import { type NumberValue, sameValue, scale, type Tolerance } from './number-value.ts'
import { matchWithin, type PatternError } from './pattern/match-within.ts'

/**
 * What a percent sign means:
 * - `value`: one hundredth, so 45 % is 0.45 and nothing else.
 * - `optional`: as `value`, and the sign may also be missing on one side, so 45 % is 45 too.
 * - `ignore`: nothing at all, so 45 % is 45 and not 0.45; for questions that ask for a percentage.
 */
export type PercentPolicy = 'value' | 'optional' | 'ignore'

/**
 * What a known unit or currency means:
 * - `optional`: it may be missing on one side; two different ones are two answers. Nothing is converted.
 * - `ignore`: nothing.
 * - `required`: both sides have the same, or both have none.
 */
export type UnitPolicy = 'optional' | 'ignore' | 'required'

/** How numbers are compared. Store it with the score: another policy is another score. */
export interface NumberPolicy {
  /** `value` when absent. */
  percent?: PercentPolicy
  /** `optional` when absent. */
  units?: UnitPolicy
  /** None when absent: numbers are equal when every digit is. */
  tolerance?: Tolerance
}

/** Which number of a text is the answer: the declared or last one (when absent), or what the place says. */
export type NumberLocation = 'begin' | 'end' | 'any' | 'exact'

/**
 * What a match came to. `correct` is null where the target itself is no number, or the pattern takes too long (see
 * `patternMs`) or is too large: nobody's score, the task is broken.
 */
export type MatchResult =
  | { correct: boolean; answer: string | null; reason?: string }
  | { correct: null; answer: null; reason: 'invalid_target' | PatternError }

/** Whether two readings are the same number under a policy. */
export function sameNumber(target: NumberReading, given: NumberReading, policy: NumberPolicy = {}): boolean {
  const { percent = 'value', units = 'optional', tolerance } = policy
  if (units !== 'ignore' && target.unit !== given.unit) {
    if (units === 'required' || (target.unit !== undefined && given.unit !== undefined)) return false
  }
  const written = () => sameValue(target.value, given.value, tolerance)
  if (percent === 'ignore' || target.percent === given.percent) return written()
  if (sameValue(worth(target), worth(given), tolerance)) return true
  return percent === 'optional' && written()
}

function worth({ value, percent }: NumberReading): NumberValue {
  return percent ? scale(value, -2) : value
}

/**
 * Whether the number that a text gives as its answer is the target. `pattern` finds the answer (its first group, or the
 * whole match; the last match counts) before it is read as a number.
 *
 * Never throws for what a model wrote; a `pattern` must be global or is made so.
 *
 * @example matchNumber({ target: '46', output: 'The order costs $46.00 in all.' }) // { correct: true, answer: '46.00' }
 */
export function matchNumber(options: {
  target: string
  output: string
  location?: NumberLocation
  pattern?: RegExp
  policy?: NumberPolicy
  /** The text was cut off. */
  truncated?: boolean
}): MatchResult {
  const { target, output, location, pattern, policy = {}, truncated = false } = options
  const wanted = readNumber(target)
  if (wanted === null) return { correct: null, answer: null, reason: 'invalid_target' }
  const judge = (answer: string, reading: NumberReading | null | undefined): MatchResult => {
    if (reading === null || reading === undefined) return { correct: false, answer, reason: 'not_a_number' }
    return sameNumber(wanted, reading, policy)
      ? { correct: true, answer }
      : { correct: false, answer, reason: 'different' }
  }
  if (pattern !== undefined) {
    const { matches, error } = matchWithin(pattern, output)
    if (error !== undefined) return { correct: null, answer: null, reason: error }
    const groups = matches.at(-1)
    const text = groups?.slice(1).find((group) => group !== undefined) ?? groups?.[0]
    return text === undefined
      ? { correct: false, answer: null, reason: 'no_candidate' }
      : judge(text, readNumber(text))
  }
  const declared = extractAnswer(output, { kind: 'final_number', truncated })
  if (location === undefined || declared.reason === 'unterminated_reasoning') {
    if (declared.answer === null) return { correct: false, answer: null, reason: declared.reason }
    return judge(declared.answer, declared.number)
  }
  const text = extractAnswer(output, { kind: 'text' }).answer ?? ''
  if (location === 'exact') return judge(text, readNumber(text))
  const tokens = findNumbers(text)
  if (location === 'any') {
    const hit = tokens.find(({ reading }) => reading !== undefined && sameNumber(wanted, reading, policy))
    if (hit !== undefined) return { correct: true, answer: hit.text }
  }
  const token = location === 'begin' ? tokens[0] : tokens.at(-1)
  return token === undefined
    ? { correct: false, answer: null, reason: 'no_candidate' }
    : judge(token.text, token.reading)
}
