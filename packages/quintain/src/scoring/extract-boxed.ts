import { type Extraction, none } from './extraction.ts'
import { readNumber } from './number-read.ts'
import { withoutStyling } from './number-styling.ts'

/** A complete `\boxed{…}` of a text. */
export interface Box {
  /** Where `\boxed` begins, and where what follows the box begins. */
  start: number
  end: number
  content: string
}

const opening = /\\(?:boxed|fbox)\s{0,4}(\{|[^\s{}\\,.;:]{1,40})/g

/** The complete boxes of a text in order, outermost ones only, empty ones left out; and whether one is left open. */
export function findBoxes(text: string): { boxes: Box[]; unclosed: boolean } {
  const ends = closings(text)
  const boxes: Box[] = []
  let unclosed = false
  opening.lastIndex = 0
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const [whole, first = ''] = match
    const inner = match.index + whole.length
    if (first !== '{') {
      boxes.push({ start: match.index, end: inner, content: first })
      continue
    }
    const end = ends.get(inner - 1)
    if (end === undefined) {
      // What is inside an open box may hold complete ones: they are read on their own.
      unclosed = true
      continue
    }
    const content = unwrapped(text, { from: inner, to: end }, ends)
    if (withoutStyling(content) !== '') boxes.push({ start: match.index, end: end + 1, content })
    opening.lastIndex = end + 1
  }
  return { boxes, unclosed }
}

/** For each opening brace its closing one. One pass, so that a text of opening braces costs no more than another. */
function closings(text: string): Map<number, number> {
  const found = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '{') open.push(at)
    else if (character === '}') {
      const start = open.pop()
      if (start !== undefined) found.set(start, at)
    }
  }
  return found
}

const openingHere = /\s*\\(?:boxed|fbox)\s{0,4}\{/y

/** The content of a box; a box that holds nothing but a box is that box, however deep. */
function unwrapped(
  text: string,
  { from, to }: { from: number; to: number },
  ends: Map<number, number>,
): string {
  let [start, end] = [from, to]
  for (;;) {
    openingHere.lastIndex = start
    if (!openingHere.test(text)) break
    const inner = openingHere.lastIndex
    const close = ends.get(inner - 1)
    if (close === undefined || close >= end) break
    if (afterBlanks(text, close + 1) < end) break
    start = inner
    end = close
  }
  return text.slice(start, end).trim()
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at]!.trim() === '') at++
  return at
}

/** The content of the last complete box. */
export function lastBoxed(text: string): Extraction {
  const { boxes, unclosed } = findBoxes(text)
  const last = boxes.at(-1)
  if (last === undefined) return none(unclosed ? 'unclosed' : 'no_candidate')
  const number = readNumber(last.content)
  return number === null ? { answer: last.content } : { answer: last.content, number }
}

/** What may stand between two boxes that are one answer. */
const between = /^(?:[\s,;&$]|\\[,;:!\s()[\]]|\\(?:quad|qquad|text\{\s*(?:and|or)\s*\})|and\b|or\b|\*\*)*$/

/** The parts of the last answer: boxes that stand side by side, or the list inside a single one. */
export function boxedList(text: string): Extraction<string[]> {
  const { boxes, unclosed } = findBoxes(text)
  let from = boxes.length - 1
  if (from < 0) return none(unclosed ? 'unclosed' : 'no_candidate')
  while (from > 0) {
    const gap = text.slice(boxes[from - 1]!.end, boxes[from]!.start)
    if (gap.length > 200 || !between.test(gap)) break
    from--
  }
  const parts = boxes.slice(from).map(({ content }) => content)
  return { answer: parts.length === 1 ? splitList(parts[0]!) : parts }
}

/** A list is parted at commas that stand in no bracket. A number with grouped digits is no list. */
function splitList(content: string): string[] {
  if (readNumber(content) !== null) return [content]
  const inner = /^\\\{(.*)\\\}$/s.exec(content)?.[1] ?? content
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < inner.length; at++) {
    const character = inner[at]!
    if ('{(['.includes(character)) depth++
    else if ('})]'.includes(character)) depth = Math.max(0, depth - 1)
    else if (character === ',' && depth === 0) {
      parts.push(inner.slice(from, at).trim())
      from = at + 1
    }
  }
  parts.push(inner.slice(from).trim())
  return parts.filter((part) => part !== '')
}
