import { readNumber } from './number-read.ts'
import { type MatchResult, sameNumber } from './numeric-match.ts'
import { matchWithin } from './pattern/match-within.ts'
import { stripReasoning } from './thinking.ts'

/**
 * Whether the text after the reasoning is the target: the same characters in the same order, where any run of white space
 * is one space and the ends are trimmed. Letters of one shape (NFC) are one letter.
 */
export function matchExact(options: { target: string; output: string; ignoreCase?: boolean }): MatchResult {
  const { target, output, ignoreCase = false } = options
  const { answer } = stripReasoning(output)
  if (answer === null) return { correct: false, answer: null, reason: 'unterminated_reasoning' }
  const correct = comparable(answer, ignoreCase) === comparable(target, ignoreCase)
  return correct ? { correct, answer } : { correct, answer, reason: 'different' }
}

/**
 * Whether what a pattern captures is the target, as text or as a number. Of several matches the last counts, and any of
 * its groups may be the target; with `all`, every group of every match must be. A pattern without groups captures its
 * whole match. No match is no answer. A pattern that takes too long (see `patternMs`) is nobody's score.
 */
export function matchPattern(options: {
  target: string
  output: string
  pattern: RegExp
  all?: boolean
  ignoreCase?: boolean
}): MatchResult {
  const { target, output, pattern, all = false, ignoreCase = false } = options
  const { answer: text } = stripReasoning(output)
  if (text === null) return { correct: false, answer: null, reason: 'unterminated_reasoning' }
  const is = (captured: string) => sameText(captured, target, ignoreCase)
  const { matches, cut, error } = matchWithin(pattern, text)
  if (error !== undefined) return { correct: null, answer: null, reason: error }
  if (all && cut) return { correct: false, answer: null, reason: 'too_many_matches' }
  const captured = all ? matches.flatMap(capturesOf) : capturesOf(matches.at(-1))
  if (captured.length === 0) return { correct: false, answer: null, reason: 'no_candidate' }
  const hit = captured.find(is)
  const correct = hit !== undefined && (!all || captured.every(is))
  const answer = correct ? hit : (captured.find((each) => !is(each)) ?? captured[0]!)
  return correct ? { correct, answer } : { correct, answer, reason: 'different' }
}

function capturesOf(match: RegExpMatchArray | undefined): string[] {
  if (match === undefined) return []
  const groups = match.slice(1).filter((group) => group !== undefined)
  return match.length === 1 ? [match[0]!] : groups
}

function sameText(a: string, b: string, ignoreCase: boolean): boolean {
  if (comparable(a, ignoreCase) === comparable(b, ignoreCase)) return true
  const [left, right] = [readNumber(a), readNumber(b)]
  return left !== null && right !== null && sameNumber(right, left)
}

function comparable(text: string, ignoreCase: boolean): string {
  const one = text.normalize('NFC').replace(/\s+/g, ' ').trim()
  return ignoreCase ? one.toLowerCase() : one
}
