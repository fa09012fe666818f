import type { Message } from '../core/message.ts'
import { textOf } from '../core/message.ts'
import { type Extraction, none } from './extraction.ts'
import { reasoningTags, stripReasoning } from './thinking.ts'

/**
 * `lenient` (when absent): a name in another case is taken where there is none in the right one, and the result says so.
 * `strict`: names as they were declared.
 */
export type TagMode = 'lenient' | 'strict'

/** A model's words: a text, a message, or a conversation, of which the last assistant message counts. */
export type Said = string | Message | readonly Message[]

/** The text of what was said. The same words give the same answer in whatever form they come. */
export function saidText(said: Said): string {
  if (typeof said === 'string') return said
  if (!isConversation(said)) return textOf(said.content)
  const last = said.findLast(({ role }) => role === 'assistant')
  return last === undefined ? '' : textOf(last.content)
}

function isConversation(said: Message | readonly Message[]): said is readonly Message[] {
  return Array.isArray(said)
}

interface Pair {
  start: number
  end: number
  content: string
}

/**
 * The complete elements of one name, innermost first where they are nested, and how many tags have no partner. A
 * scanner of plain text: `<`, `>` and `&` inside an element are content, and nothing is unescaped.
 */
function scan(text: string, field: string, ignoreCase: boolean): { pairs: Pair[]; stray: number } {
  const name = field.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const tags = new RegExp(`<(/?)${name}(?:\\s[^<>]{0,200})?>`, ignoreCase ? 'gi' : 'g')
  const open: { at: number; from: number }[] = []
  const pairs: Pair[] = []
  let stray = 0
  for (const match of text.matchAll(tags)) {
    const after = match.index + match[0].length
    if (match[1] === '') {
      open.push({ at: match.index, from: after })
      continue
    }
    const start = open.pop()
    if (start === undefined) stray++
    else pairs.push({ start: start.at, end: after, content: text.slice(start.from, match.index).trim() })
  }
  return { pairs, stray: stray + open.length }
}

/**
 * The content of the last complete `<field>` element, after the reasoning (unless the field is where the model reasons).
 * An element that holds nothing but another of its name is that one; an unclosed element is no candidate.
 *
 * @example tagAnswer('<think>as <answer>X</answer></think><answer>D</answer>', { field: 'answer' }).answer // 'D'
 */
export function tagAnswer(
  said: Said,
  options: { field: string; mode?: TagMode },
): Extraction & { normalizedCase: boolean } {
  const { field, mode = 'lenient' } = options
  const whole = saidText(said)
  const reasons = isReasoningTag(field)
  const text = reasons ? whole : stripReasoning(whole).answer
  if (text === null) return { ...none('unterminated_reasoning'), normalizedCase: false }
  let { pairs, stray } = scan(text, field, false)
  let normalizedCase = false
  if (pairs.length === 0 && mode === 'lenient') {
    ;({ pairs, stray } = scan(text, field, true))
    normalizedCase = pairs.length > 0
  }
  const last = pairs.at(-1)
  if (last === undefined) return { ...none(stray > 0 ? 'unclosed' : 'no_candidate'), normalizedCase: false }
  return { answer: innermost(last, pairs), normalizedCase }
}

function isReasoningTag(field: string): boolean {
  return (reasoningTags as readonly string[]).includes(field.toLowerCase())
}

/** Pairs are in the order of their ends, so what is inside one stands right before it. */
function innermost(outer: Pair, pairs: readonly Pair[]): string {
  let chosen = outer
  for (let index = pairs.indexOf(outer) - 1; index >= 0; index--) {
    const inner = pairs[index]!
    const fills = inner.start > chosen.start && chosen.content.length === inner.end - inner.start
    if (!fills) break
    chosen = inner
  }
  return chosen.content
}

/** How well a text keeps a format of elements. */
export interface TagFormat {
  /** Each field stands there once, complete, in the declared order, beside the others and not inside them. */
  wellFormed: boolean
  /** The share of fields for which that is so; 1 exactly when the whole is well formed. */
  score: number
  /** The fields that are not kept. */
  broken: readonly string[]
}

/**
 * Judges the format alone. A field counts when its one opening and one closing tag match by name and it follows the
 * fields that are declared before it; a text without tags scores 0.
 */
export function tagFormat(said: Said, options: { fields: readonly string[] }): TagFormat {
  const { fields } = options
  const whole = saidText(said)
  const text = fields.some(isReasoningTag) ? whole : (stripReasoning(whole).answer ?? '')
  const scans = fields.map((field) => scan(text, field, false))
  const broken: string[] = []
  let from = 0
  for (const [index, { pairs, stray }] of scans.entries()) {
    const [pair] = pairs
    const once = pair !== undefined && pairs.length === 1 && stray === 0
    const inside =
      once &&
      scans.some(
        (other, place) =>
          place !== index && other.pairs.some(({ start, end }) => start < pair.start && pair.end < end),
      )
    if (!once || inside || pair.start < from) broken.push(fields[index]!)
    else from = pair.end
  }
  const kept = fields.length - broken.length
  return {
    wellFormed: fields.length > 0 && broken.length === 0,
    score: fields.length === 0 ? 0 : kept / fields.length,
    broken,
  }
}
