import { boxedList, lastBoxed } from './extract-boxed.ts'
import { chosen } from './extract-choice.ts'
import { lastCodeBlock } from './extract-code.ts'
import { jsonAnswer } from './extract-json.ts'
import { lastLine, lastList } from './extract-lines.ts'
import { hashMarked } from './extract-marker.ts'
import { finalNumber } from './extract-number.ts'
import { type Extraction, none } from './extraction.ts'
import { tagAnswer } from './tags.ts'
import { stripReasoning } from './thinking.ts'

/**
 * What is looked for in a model's text:
 * - `final_number`: the number that is declared as the answer, or the last one.
 * - `boxed`: the last complete `\boxed{…}`; `boxed_list`: the last ones that stand side by side.
 * - `hash_marker`: what follows the last `####`.
 * - `choice`: one of the declared `choices`.
 * - `code`: the last closed fence.
 * - `json`: the last JSON object, or the whole text where that is JSON.
 * - `tag`: the last complete element of the declared `tag`.
 * - `list`: the last list, by bullets or commas.
 * - `last_line`: the last line that is not empty.
 * - `text`: all of it.
 */
export type SingleAnswerKind =
  | 'final_number'
  | 'boxed'
  | 'hash_marker'
  | 'code'
  | 'json'
  | 'last_line'
  | 'text'

export interface ExtractOptions {
  kind: SingleAnswerKind
  /** The text was cut off: a candidate that touches its end may be half of one and does not count. */
  truncated?: boolean
}

/**
 * Finds the answer in a model's text, after its reasoning. The last complete candidate of the declared kind wins;
 * without one the answer is null, with the reason. A total function, linear in the text.
 *
 * @example extractAnswer('… so it is \\boxed{\\frac{3}{7}}.', { kind: 'boxed' }) // { answer: '\\frac{3}{7}', … }
 * @example extractAnswer('ANSWER: C,', { kind: 'choice', choices: ['A', 'B', 'C'] }) // { answer: 'C' }
 */
export function extractAnswer(text: string, options: ExtractOptions): Extraction
export function extractAnswer(
  text: string,
  options: { kind: 'choice'; choices: readonly string[]; truncated?: boolean },
): Extraction
export function extractAnswer(
  text: string,
  options: { kind: 'tag'; tag: string; truncated?: boolean },
): Extraction
export function extractAnswer(
  text: string,
  options: { kind: 'boxed_list' | 'list'; truncated?: boolean },
): Extraction<string[]>
export function extractAnswer(
  text: string,
  options: {
    kind: SingleAnswerKind | 'boxed_list' | 'list' | 'choice' | 'tag'
    tag?: string
    choices?: readonly string[]
    truncated?: boolean
  },
): Extraction<string | string[]> {
  const { kind, choices = [], tag = '', truncated = false } = options
  // Elements may stand round the reasoning, and say themselves which is which.
  if (kind === 'tag') return withoutCase(tagAnswer(text, { field: tag }))
  const { answer: said } = stripReasoning(text)
  if (said === null) return none('unterminated_reasoning')
  if (said === '') return none('empty')
  switch (kind) {
    case 'boxed':
      return lastBoxed(said)
    case 'boxed_list':
      return boxedList(said)
    case 'final_number':
      return finalNumber(said, truncated)
    case 'hash_marker':
      return hashMarked(said, truncated)
    case 'choice':
      return chosen(said, choices, truncated)
    case 'code':
      return lastCodeBlock(said)
    case 'json':
      return jsonAnswer(said, truncated)
    case 'list':
      return lastList(said, truncated)
    case 'last_line':
      return lastLine(said, truncated)
    case 'text':
      return { answer: said }
  }
}

function withoutCase({ normalizedCase: _, ...extraction }: ReturnType<typeof tagAnswer>): Extraction {
  return extraction
}
