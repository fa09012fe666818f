import { withinProcessorTime } from '../../core/processor-budget.ts'

/** Why a pattern gave no answer: it took too long, or it is none. */
export type PatternError = 'deadline' | 'invalid_pattern'

/**
 * The matches of a pattern in a text, or why there is no saying. No match is an empty list. `cut`: there were over 100,000,
 * and these are the last of them.
 */
export type PatternMatches =
  | { matches: readonly RegExpExecArray[]; cut?: true; error?: undefined }
  | { matches?: undefined; cut?: undefined; error: PatternError }

/** Milliseconds of processor time that a pattern has when nothing is said. */
export const patternMs = 200
/** Matches that are kept: a pattern that matches everywhere in 10 MB must not fill the memory. */
const mostMatches = 100_000

/**
 * Every match of a pattern in a text, within a deadline: a pattern of nested repetitions can take years on a text of 40
 * letters, and would hold the whole process for as long. Of the flags, `y` is left out and `g` is implied.
 *
 * Never throws for a pattern or a text.
 *
 * @example matchWithin('(a+)+$', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', { ms: 50 }) // { error: 'deadline' }
 */
export function matchWithin(
  pattern: RegExp | string,
  text: string,
  options: { ms?: number; flags?: string } = {},
): PatternMatches {
  const from = typeof pattern === 'string' ? { source: pattern, flags: options.flags ?? '' } : pattern
  const expression = expressionOf(from.source, `${from.flags.replaceAll(/[gy]/g, '')}g`)
  let matches: RegExpExecArray[] = []
  let cut = false
  const error = attempt(expression, options.ms, (used) => {
    matches = []
    cut = false
    for (const match of text.matchAll(used)) {
      matches.push(match)
      if (matches.length < 2 * mostMatches) continue
      matches = matches.slice(-mostMatches)
      cut = true
    }
  })
  if (error !== null) return { error }
  if (!cut && matches.length <= mostMatches) return { matches }
  return { matches: matches.slice(-mostMatches), cut: true }
}

/** Whether a pattern is anywhere in a text, within a deadline. */
export function testWithin(
  pattern: RegExp | string,
  text: string,
  options: { ms?: number; flags?: string } = {},
): { found: boolean; error?: undefined } | { found?: undefined; error: PatternError } {
  const from = typeof pattern === 'string' ? { source: pattern, flags: options.flags ?? '' } : pattern
  const expression = expressionOf(from.source, from.flags.replaceAll(/[gy]/g, ''))
  let found = false
  const error = attempt(expression, options.ms, (used) => {
    found = used.test(text)
  })
  return error === null ? { found } : { error }
}

function expressionOf(source: string, flags: string): RegExp | null {
  try {
    return new RegExp(source, flags)
  } catch {
    return null
  }
}

function attempt(
  expression: RegExp | null,
  ms = patternMs,
  run: (expression: RegExp) => void,
): PatternError | null {
  if (expression === null) return 'invalid_pattern'
  try {
    return withinProcessorTime(ms, () => run(expression)).done ? null : 'deadline'
  } catch {
    // A pattern is compiled when it is first used; one that is too large to compile says so only then.
    return 'invalid_pattern'
  }
}
