import { findBoxes } from './extract-boxed.ts'
import { findAnswerMarks, findHashMarked, type Marked, markedBy } from './extract-marker.ts'
import { type Extraction, none } from './extraction.ts'
import { type ClaimReading, opensWithNumber, readClaim, readSaid } from './number-claim.ts'
import { type FlatText, flatten } from './number-flat.ts'
import { numbersBetween } from './number-text.ts'

interface Declared {
  /** Where it begins in the flat text: of several declarations the last counts. */
  at: number
  /** Where it ends in the original. */
  end: number
  reading: ClaimReading
}

/**
 * The number that a text gives as its answer: the one that is declared last (in a box, after `####`, in an `<answer>`,
 * after "the answer is" and its like), or else the last number of the text that is neither denied nor asked about. A
 * declared answer that is no single number is no answer: what stands before it was not given as one. Of a text that was
 * cut off, only what was declared and ended counts.
 */
export function finalNumber(text: string, truncated: boolean): Extraction {
  const flat = flatten(text)
  const declared = lastDeclared(text, flat)
  if (declared !== undefined) {
    if (truncated && declared.end >= text.trimEnd().length) return none('truncated')
    return extraction(declared.reading)
  }
  return truncated ? none('truncated') : lastSaid(flat.text)
}

function extraction(reading: ClaimReading): Extraction {
  if (reading.reason === undefined) return { answer: reading.reading.text, number: reading.reading }
  return none(reading.reason === 'ambiguous' ? 'ambiguous' : 'not_a_number')
}

function lastDeclared(text: string, flat: FlatText): Declared | undefined {
  const found = [lastAnswered(flat), lastHashed(flat), lastElement(text, flat)].filter(
    (declared) => declared !== undefined,
  )
  return found.sort((a, b) => a.at - b.at).at(-1)
}

/** The last box, or `<answer>` element, whichever comes later: an answer by itself. */
function lastElement(text: string, flat: FlatText): Declared | undefined {
  const boxes = findBoxes(text).boxes
  const box = boxes.at(-1)
  const element = lastAnswerElement(text)
  const last = element !== undefined && element.start > (box?.start ?? -1) ? element : box
  if (last === undefined) return undefined
  const [from, to] = [flat.place(last.start), flat.place(last.end)]
  const reading = readClaim(flat.text, { kind: 'box', from, to })
  const { end } = last
  const before = last === box ? boxes.at(-2) : undefined
  if (before !== undefined && reading.reason === undefined) {
    // `\boxed{7} or \boxed{18}` leaves it open.
    const pair = readClaim(flat.text, {
      kind: 'box',
      from: flat.place(before.start),
      to: flat.place(before.end),
    })
    if (pair.reason === 'ambiguous' && last.start - before.end < 80) return { at: from, end, reading: pair }
  }
  return { at: from, end, reading }
}

const elements = /<(\/?)(?:final_?)?answer>/gi

function lastAnswerElement(text: string): { start: number; end: number } | undefined {
  let open: number | undefined
  let last: { start: number; end: number } | undefined
  for (const { index, 0: tag, 1: slash } of text.matchAll(elements)) {
    if (slash === '') open = index
    else if (open !== undefined) {
      if (
        text
          .slice(open, index)
          .replace(/^<[^>]*>/, '')
          .trim() !== ''
      )
        last = { start: open, end: index + tag.length }
      open = undefined
    }
  }
  return last
}

function lastHashed(flat: FlatText): Declared | undefined {
  const marked = findHashMarked(flat.text).findLast(({ from, end }) => opensWithNumber(flat.text, from, end))
  if (marked === undefined) return undefined
  const { from, end } = marked
  const reading = readClaim(flat.text, { kind: 'line', from, to: end })
  return { at: from, end: endOf(flat, end), reading }
}

/** Where a part of the flat text ends in the original, with the marks that close it. */
function endOf(flat: FlatText, end: number): number {
  return end >= flat.text.trimEnd().length ? flat.origin(flat.text.length) : flat.origin(end)
}

/** The last declaration in words that declares something. */
function lastAnswered(flat: FlatText): Declared | undefined {
  const marks = findAnswerMarks(flat.text)
  for (let index = marks.length - 1; index >= 0; index--) {
    const marked: Marked | undefined = markedBy(flat.text, marks[index]!)
    if (marked === undefined) continue
    const { from, end } = marked
    // What the next one declares is not looked through twice.
    const next = marks[index + 1]?.start ?? end
    const reading = readClaim(flat.text, { kind: 'prose', from, to: next > from ? Math.min(end, next) : end })
    if (reading.reason === 'denied') continue
    if (reading.reason === 'no_number') {
      // Words for want of a number, with nothing after them, are what was answered.
      if (index === marks.length - 1 && flat.text.slice(end).trim() === '')
        return { at: from, end: endOf(flat, end), reading }
      continue
    }
    return {
      at: from,
      end: reading.reason === undefined ? flat.origin(reading.end - 1) + 1 : endOf(flat, end),
      reading,
    }
  }
  return undefined
}

/** The last number that is said, leaving out those that are denied and those of questions. */
function lastSaid(text: string): Extraction {
  const tokens = numbersBetween(text, 0, text.length)
  const asked = questions(text)
  let denied = false
  for (let at = tokens.length - 1; at >= 0; ) {
    const { start } = tokens[at]!
    while (asked.length > 0 && asked.at(-1)!.from > start) asked.pop()
    if (start < (asked.at(-1)?.end ?? 0)) {
      at--
      continue
    }
    const reading = readSaid(text, tokens, at)
    if (reading.reason !== 'denied') return extraction(reading)
    denied = true
    at = reading.from - 1
  }
  return none(denied ? 'not_a_number' : 'no_candidate')
}

/** Where the questions of a text begin and end. */
function questions(text: string): { from: number; end: number }[] {
  const found: { from: number; end: number }[] = []
  let from = 0
  for (const { 0: stop, index } of text.matchAll(/(?<![.!?…])[.!?…]+(?=["'”’)\]]{0,3}(?:\s|$))|\n/g)) {
    if (stop.includes('?')) found.push({ from, end: index + stop.length })
    from = index + stop.length
  }
  return found
}
