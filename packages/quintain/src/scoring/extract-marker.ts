import { type Extraction, none } from './extraction.ts'
import { withoutStyling } from './number-styling.ts'
import { readNumber } from './number-text.ts'

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

/** Whether content begins as a number does: a heading such as `#### Step 4` does not. */
export function beginsAsNumber(content: string): boolean {
  return (
    /^[\s*_`$\\({[]*(?:US\$|[-−–+~≈]|[€£¥₹])*[\s*_$€£¥₹]*\.?\d/.test(content) ||
    /^\$?\\[dt]?frac/.test(content)
  )
}

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
  /(?<![\p{L}\p{N}])answer(?:\*\*|__|\*)?[ \t]*(?:(?:is|was|should be|must be|will be|would be|equals)(?![\p{L}\p{N}])[ \t]*:?|:|=)(?:\*\*|__|\*)?[ \t]*/giu
const shortMarks = /^[ \t]*A:[ \t]*/gm
/** A line that is nothing but a heading over the answer. */
const headings = /^[ \t#*_]*(?:final[ \t]+)?answer[ \t*_:]*$/gim

/** What is declared as the answer in words, in order: `Final answer: …`, `the answer is …`, a heading `Answer` and the line below it. */
export function findAnswerMarked(text: string): Marked[] {
  const marked: Marked[] = []
  for (const pattern of [answerMarks, shortMarks, headings]) {
    for (const match of text.matchAll(pattern)) {
      let from = match.index + match[0].length
      let end = lineEnd(text, from)
      if (text.slice(from, end).replace(/[\s*_:]/g, '') === '') {
        from += /^[\s*_:]*/.exec(text.slice(from, from + longestAnswer))![0].length
        end = lineEnd(text, from)
      }
      const content = text.slice(from, end).trim()
      if (content !== '' && !/^not\b|^n't\b/i.test(content)) {
        marked.push({ start: match.index, from, end, content })
      }
    }
  }
  return marked.sort((a, b) => a.from - b.from)
}

/** Whoever has not said the answer this far behind a marker has not declared it there; and every marker costs no more. */
const longestAnswer = 1_000

function lineEnd(text: string, from: number): number {
  const end = text.slice(from, from + longestAnswer).indexOf('\n')
  return end < 0 ? Math.min(text.length, from + longestAnswer) : from + end
}
