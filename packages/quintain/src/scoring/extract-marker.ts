import { type Extraction, none } from './extraction.ts'
import { opensWithNumber } from './number-claim.ts'
import { flatten } from './number-flat.ts'
import { readNumber } from './number-read.ts'
import { withoutStyling } from './number-styling.ts'

/** What follows a marker, to the end of its line. */
export interface Marked {
  start: number
  /** Where the content begins and ends. */
  from: number
  end: number
  content: string
}

const hashes = /(?<!#)####(?!#)[ \t]*/g

/** The lines that `####` marks, in order; empty ones left out. */
export function findHashMarked(text: string): Marked[] {
  return [...text.matchAll(hashes)].flatMap((match) => {
    const from = match.index + match[0].length
    const end = lineEnd(text, from)
    const content = text.slice(from, end).trim()
    return content === '' ? [] : [{ start: match.index, from, end, content }]
  })
}

function beginsAsNumber(content: string): boolean {
  return opensWithNumber(flatten(content.slice(0, longestHead)).text, 0, longestHead)
}
const longestHead = 120

/**
 * The answer after the last `####`, as GSM8K marks it. Models that write `####` as a heading are understood: a number
 * goes before words.
 */
export function hashMarked(text: string, truncated: boolean): Extraction {
  const all = findHashMarked(text)
  const complete = truncated ? all.filter(({ end }) => end < text.trimEnd().length) : all
  if (complete.length === 0) return none(all.length > 0 ? 'truncated' : 'no_candidate')
  const last = complete.findLast(({ content }) => beginsAsNumber(content)) ?? complete.at(-1)!
  const answer = withoutStyling(last.content)
  if (answer === '') return none('no_candidate')
  const number = readNumber(last.content)
  return number === null ? { answer } : { answer, number }
}

const answerMarks =
  /(?<![\p{L}\p{N}])answer(?:["'*_]{0,3}(?: ?\([^()\n]{1,40}\))?|(?: (?:to|for|of|in|here)(?: [^\s.,:;!?=]{1,20}){0,6}?))[ \t]*(?:(?:is|was|should be|must be|will be|would be|could be|might be|may be|becomes|equals|comes (?:out )?to|works out to|turns out to be)(?![\p{L}\p{N}])[ \t]*[:：]?|[:：]|=)[*_]{0,2}[ \t]*/giu
const shortMarks = /^[ \t]*A[:：][ \t]*/gm
/** A line that is nothing but a heading over the answer. */
const headings = /^[ \t#*_]*(?:(?:the[ \t]+)?final[ \t]+)?answer[ \t*_:：]*$/gim

/** Where declarations in words begin and end: `Final answer:`, `the answer is`, a heading `Answer`. In order. */
export function findAnswerMarks(text: string): { start: number; end: number }[] {
  return [answerMarks, shortMarks, headings]
    .flatMap((pattern) =>
      [...text.matchAll(pattern)].map(({ index, 0: mark }) => ({ start: index, end: index + mark.length })),
    )
    .sort((a, b) => a.end - b.end)
}

/** What such a declaration declares: the rest of its line, or the next line; undefined for nothing, and where it says what the answer is not. */
export function markedBy(
  text: string,
  { start, end: after }: { start: number; end: number },
): Marked | undefined {
  let from = after
  let end = lineEnd(text, from)
  if (/^[\s*_:：]*$/.test(text.slice(from, end))) {
    from += /^[\s*_:：]*/.exec(text.slice(from, from + longestAnswer))![0].length
    end = lineEnd(text, from)
  }
  const content = text.slice(from, end).trim()
  return content === '' || /^not\b|^n't\b/i.test(content) ? undefined : { start, from, end, content }
}

/** Whoever has not said the answer this far behind a marker has not declared it there; and every marker costs no more. */
const longestAnswer = 1_000

function lineEnd(text: string, from: number): number {
  const end = text.slice(from, from + longestAnswer).indexOf('\n')
  return end < 0 ? Math.min(text.length, from + longestAnswer) : from + end
}
