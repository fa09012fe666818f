import { findBoxes } from './extract-boxed.ts'
import { beginsAsNumber, findAnswerMarked, findHashMarked } from './extract-marker.ts'
import { type Extraction, none } from './extraction.ts'
import { findNumbers, type NumberReading, type NumberToken, readNumber } from './number-text.ts'

interface Declared {
  at: number
  end: number
  text: string
  number: NumberReading | undefined
}

/**
 * The number that a text gives as its answer: the one that is declared last (in a box, after `####`, after "the answer
 * is" and its like), or else the last number of the text. A declared answer that is no number is no answer: what stands
 * before it was not given as one. Of a text that was cut off, only what was declared and ended counts.
 */
export function finalNumber(text: string, truncated: boolean): Extraction {
  // Where the answer is marked, most texts need not be searched for numbers at all.
  let found: NumberToken[] | undefined
  const tokens = () => {
    found ??= findNumbers(text)
    return found
  }
  const declared = lastDeclared(text, tokens)
  if (declared !== undefined) {
    if (truncated && declared.end >= text.trimEnd().length) return none('truncated')
    if (declared.number === undefined) return none('not_a_number')
    return { answer: declared.text, number: declared.number }
  }
  if (truncated) return none('truncated')
  const last = tokens().at(-1)
  if (last === undefined) return none('no_candidate')
  if (last.reading === undefined || last.operand) return none('not_a_number')
  return { answer: last.text, number: last.reading }
}

function lastDeclared(text: string, tokens: () => readonly NumberToken[]): Declared | undefined {
  let last: Declared | undefined
  const offer = (declared: Declared) => {
    if (last === undefined || declared.at > last.at) last = declared
  }
  const box = findBoxes(text).boxes.at(-1)
  if (box !== undefined) offer(ofText(box.start, box.end, box.content))
  const hashed = findHashMarked(text).findLast(({ content }) => beginsAsNumber(content))
  if (hashed !== undefined) offer(ofText(hashed.from, hashed.end, hashed.content))
  const said = findAnswerMarked(text)
  for (let index = said.length - 1; index >= 0; index--) {
    const { from, end } = said[index]!
    const within = tokensBetween(tokens(), from, end)
    const token = answerOf(text, within)
    if (token === undefined) {
      // Words for want of a number, with nothing after them, are what was answered.
      if (index === said.length - 1 && text.slice(end).trim() === '')
        offer({ at: from, end, text: '', number: undefined })
      continue
    }
    offer({
      at: token.start,
      end: token.end,
      text: token.text,
      number: token.operand ? undefined : token.reading,
    })
    break
  }
  return last
}

function ofText(at: number, end: number, content: string): Declared {
  // Of a calculation with its result, `5 + 3 = 8`, the result is meant.
  const result = /^[\d\s.,+*×÷/()$€£%−–-]+=(.*)$/s.exec(content)?.[1]
  const number = readNumber(content) ?? (result === undefined ? undefined : (readNumber(result) ?? undefined))
  return { at, end, text: number?.text ?? content, number }
}

/** Of the numbers of a declaration the first is meant, but where it begins a calculation, the result is. */
function answerOf(text: string, tokens: readonly NumberToken[]): NumberToken | undefined {
  let chosen = tokens[0]
  for (let index = 1; index < tokens.length; index++) {
    const gap = text.slice(tokens[index - 1]!.end, tokens[index]!.start)
    if (!/^[\s+*×÷/=()$€£\-−–^]*$/.test(gap) || /^ \(/.test(gap)) break
    if (gap.includes('=')) chosen = tokens[index]
  }
  return chosen
}

function tokensBetween(tokens: readonly NumberToken[], from: number, end: number): readonly NumberToken[] {
  let [low, high] = [0, tokens.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (tokens[middle]!.start < from) low = middle + 1
    else high = middle
  }
  let to = low
  while (to < tokens.length && tokens[to]!.start < end) to++
  return tokens.slice(low, to)
}
