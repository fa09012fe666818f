import type { NoAnswer } from './extraction.ts'
import { goesOn, joins, readBefore, saysNothingNew } from './number-context.ts'
import { type NumberReading, type NumberToken, numbersBetween } from './number-text.ts'
import { negate, sameValue } from './number-value.ts'

/**
 * A part of a flat text in which a number is claimed to be the answer.
 * - `box`: its content is the number and nothing else, but what stands round it counts too: `-\boxed{5}`.
 * - `line`: a line that a marker gives over to the answer: one number, with words behind it.
 * - `prose`: the rest of a sentence: its first number, whatever is explained after it.
 * - `whole`: a text that is a number.
 */
export interface Claim {
  kind: 'box' | 'line' | 'prose' | 'whole'
  from: number
  to: number
}

/** The number that is claimed, or why there is none. `denied`: it is said not to be the answer. */
export type ClaimReading =
  | { start: number; end: number; reading: NumberReading; reason?: undefined }
  | { reason: NoAnswer | 'denied' | 'no_number' }

const brackets = /^[\s([{"'“‘~≈]+/
/** What may stand before the number of a claim that is a number and nothing else, each once: a name with an equals sign, `about`, a sign. */
const openings = [
  /^(?:(?:\p{L}\w{0,11}|total \p{L}{1,20})?\s?=|(?:answer\s?)?:)/iu,
  /^(?:(?:about|approximately|approx\.?|around|roughly|negative|minus)(?!\p{L})|[-−–](?=\s))/iu,
  /^[$€£¥₹]/,
]

function isOpening(lead: string): boolean {
  let rest = lead.replace(brackets, '')
  for (const part of openings) rest = rest.replace(part, '').replace(brackets, '')
  return rest === ''
}

/** Whether a line begins as a number does: a heading such as `Step 4` does not. */
export function opensWithNumber(text: string, from: number, to: number): boolean {
  const [first] = numbersBetween(text, from, Math.min(to, from + longestOpening))
  return first !== undefined && isOpening(text.slice(from, Math.max(from, first.start)))
}
const longestOpening = 80

/** Reads a claim in time linear in its length. */
export function readClaim(text: string, { kind, from, to }: Claim): ClaimReading {
  const tokens = numbersBetween(text, from, to)
  if (tokens.length === 0) return { reason: 'no_number' }
  const strict = kind !== 'prose'
  const [first] = tokens
  const lead = text.slice(from, Math.max(from, first!.start))
  if (strict && !isOpening(lead)) return { reason: kind === 'line' ? 'no_number' : 'not_a_number' }
  const outside = kind === 'box' ? sentenceBefore(text, from) : ''
  // A list's bullet is no sign, though it looks like one.
  const begins = kind === 'prose' && text.charAt(from - 1) === '\n'
  return readTokens(text, tokens, {
    before: outside + (begins ? lead.replace(/^[ \t]*[-−–][ \t]+/, '') : lead),
    strictUntil: strict ? to : from,
    kind,
  })
}

/** Reads a number that was not claimed but merely said, with the calculation that it ends and that begins at `from`. */
export function readSaid(
  text: string,
  tokens: readonly NumberToken[],
  at: number,
): ClaimReading & { from: number } {
  let from = at
  while (from > 0 && linkBetween(text, tokens[from - 1]!, tokens[from]!) !== undefined) from--
  return { ...readChain(text, tokens.slice(Math.max(0, from - 1), at + 1), from > 0), from }
}

/** `joined`: the first of the tokens stands before the calculation, and may belong to it as a choice does. */
function readChain(text: string, tokens: readonly NumberToken[], joined: boolean): ClaimReading {
  const chain = joined ? tokens.slice(1) : tokens
  const [earlier, first] = [tokens[0]!, chain[0]!]
  if (joined && joins(text, earlier, first) && !saysNothingNew(earlier, first)) return { reason: 'ambiguous' }
  return readTokens(text, chain, {
    before: sentenceBefore(text, first.start),
    strictUntil: 0,
    kind: 'prose',
  })
}

/** How much of a sentence is read. Who has not come to the point by then has none. */
const longestSentence = 400

/** The end of the sentence that a place is in; a full stop inside a number or a word is none. */
export function sentenceEnd(text: string, at: number): number {
  const found = /[.!?…]+(?=["'”’)\]]{0,3}(?:\s|$))|\n/.exec(text.slice(at, at + longestSentence))
  return found === null ? Math.min(text.length, at + longestSentence) : at + found.index
}

/** What stands before a place in its sentence, the last 80 characters of it. */
export function sentenceBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - 80), at)
  const cut = before.search(/(?:[.!?…]\s|\n)(?!.*(?:[.!?…]\s|\n))/s)
  return cut < 0 ? before : before.slice(cut + 1).trimStart()
}

interface Context {
  before: string
  /** Up to here there may be no other number. */
  strictUntil: number
  kind: Claim['kind']
}

function readTokens(text: string, tokens: readonly NumberToken[], context: Context): ClaimReading {
  const result = resultOf(text, tokens)
  if (typeof result === 'string') return { reason: result }
  const { token, sign, used } = result
  const { reading } = token
  if (reading === undefined || token.operand) return { reason: 'not_a_number' }
  const before = sign ?? readBefore(context.before)
  if (before === 'denied') return { reason: 'denied' }
  if (before === 'bound' || before === 'part') return { reason: 'not_a_number' }
  const { kind } = context
  const until = kind === 'whole' ? text.length : sentenceEnd(text, token.end)
  const strictUntil = kind === 'line' ? Math.min(until, context.strictUntil) : context.strictUntil
  const after = withoutAsides(text.slice(token.end, Math.max(until, strictUntil)))
  const exclaimed = /^ ?!/.exec(text.slice(token.end, token.end + 2))?.[0].length
  const formula = kind === 'box' || kind === 'whole'
  const factorial = formula && exclaimed !== undefined && token.end + exclaimed <= strictUntil
  if (factorial || goesOn(after.slice(0, Math.max(0, until - token.end)))) return { reason: 'not_a_number' }
  if (text.startsWith('?', until)) return { reason: 'ambiguous' }
  const shown = text.slice(0, token.end) + after
  const others = numbersBetween(shown, used, token.end + after.length)
  let last = token
  for (const other of others) {
    const joined = joins(shown, last, other)
    if (!joined && other.start >= strictUntil) break
    const conversion = joined && /\(/.test(text.slice(last.end, other.start)) && unitsDiffer(last, other)
    if (!conversion && !saysNothingNew(token, other)) return { reason: joined ? 'ambiguous' : 'not_a_number' }
    last = other
  }
  const value = before === 'negative' ? negate(reading.value) : reading.value
  const written = before === 'negative' ? `-${reading.text}` : reading.text
  return { start: token.start, end: token.end, reading: { ...reading, value, text: written } }
}

function unitsDiffer(one: NumberToken, other: NumberToken): boolean {
  const [a, b] = [one.reading?.unit, other.reading?.unit]
  return a !== undefined && b !== undefined && a !== b
}

/**
 * Blanks what stands in parentheses, `18 (apples)`, and what explains the number, `18, since 20 - 2 = 18`; what is in
 * parentheses as an alternative, `18 (or 7)`, stays.
 */
function withoutAsides(text: string): string {
  const shown = text.replace(/\((?!\s*(?:or|and)\b)[^()\n]{0,200}\)/gi, (aside) => ' '.repeat(aside.length))
  const reason = /(?<!\p{L})(?:because|since|as|which|where|so that)(?!\p{L})|[;—]/iu.exec(shown)
  return reason === null ? shown : shown.slice(0, reason.index)
}

/** What links two numbers of a calculation: an equals sign between its sides, or an operator. */
function linkBetween(text: string, first: NumberToken, next: NumberToken): 'equals' | 'operator' | undefined {
  if (next.start - first.end > 60) return undefined
  const gap = text.slice(first.end, next.start)
  if (/^ \(/.test(gap) && !gap.includes('=')) return undefined
  if (/^[^=<>≠≤≥!,;:.\n]*=[\s(]*(?:\\?[$€£¥₹]\s?)?$/.test(gap) && !clause.test(gap)) return 'equals'
  return /^[\s(){}$€£]*(?:\p{L}+\s+){0,3}?[+*×÷x/−–-][\s(){}$€£¥₹+*×÷/−–-]*$/iu.test(gap) && !clause.test(gap)
    ? 'operator'
    : undefined
}
const clause =
  /(?<!\p{L})(?:because|since|as|so|where|for|if|and|or|when|with|in|which|that|then|is|are|to)(?!\p{L})/iu

/**
 * The number that a calculation comes to: of `9 × 2 = 18` and of `18 = 9 × 2` it is 18. Sides that are single numbers
 * must be one number, unless a unit is converted; a calculation without a result is none.
 */
function resultOf(
  text: string,
  tokens: readonly NumberToken[],
): { token: NumberToken; sign: 'plain' | undefined; used: number } | NoAnswer {
  const sides: NumberToken[][] = [[tokens[0]!]]
  let index = 1
  for (; index < tokens.length; index++) {
    const link = linkBetween(text, tokens[index - 1]!, tokens[index]!)
    if (link === undefined) break
    if (link === 'equals') sides.push([])
    sides.at(-1)!.push(tokens[index]!)
  }
  const used = tokens[index - 1]!.end
  if (sides.length === 1) {
    return sides[0]!.length === 1 ? { token: tokens[0]!, sign: undefined, used } : 'not_a_number'
  }
  const single = sides.flatMap((side) => (side.length === 1 && isBare(side[0]!) ? side : []))
  const token = single.at(-1)
  if (token === undefined) return 'not_a_number'
  for (const other of single) if (!agree(other, token, text)) return 'ambiguous'
  // An unknown is not solved for: `3x = 18`.
  if (sides.some((side) => side.some(({ text: written }) => /\d\p{L}/u.test(written)))) return 'not_a_number'
  return { token, sign: token === tokens[0] ? undefined : 'plain', used }
}

function isBare({ reading, operand }: NumberToken): boolean {
  return reading !== undefined && !operand
}

function agree(one: NumberToken, token: NumberToken, text: string): boolean {
  if (one.reading === undefined || token.reading === undefined) return true
  if (sameValue(one.reading.value, token.reading.value)) return true
  const converted =
    one.reading.percent !== token.reading.percent || /^\s?\p{L}{2,}/u.test(text.slice(one.end, one.end + 4))
  return converted || unitsDiffer(one, token)
}
