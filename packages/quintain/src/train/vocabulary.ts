import { QuintainError } from '../core/errors.ts'

/** The tokens that no text can spell, in the order of their ids: they open a message by its role, or end a reply. */
export const specialTokens = ['<system>', '<user>', '<assistant>', '<tool>', '<end>'] as const
export type SpecialToken = (typeof specialTokens)[number]

export function specialId(token: SpecialToken): number {
  return specialTokens.indexOf(token)
}

/** Text as ids and back. Ids below those of its tokens are the special ones. */
export interface Vocabulary {
  /** Special tokens counted. */
  readonly size: number
  /** Whether any text can be written. */
  readonly isWhole: boolean
  /** Appends the ids of a text. Throws `prompt_invalid` for text that no token covers. */
  encode(text: string, to: number[]): void
  /** The text of ids, special tokens left out. Bytes that are no UTF-8 are replacement characters. */
  decode(ids: ArrayLike<number>): string
}

/** The 256 bytes of UTF-8. */
export function byteVocabulary(): Vocabulary {
  const first = specialTokens.length
  return {
    size: first + 256,
    isWhole: true,
    encode(text, to) {
      for (const byte of Buffer.from(text, 'utf8')) to.push(first + byte)
    },
    decode(ids) {
      return Buffer.from(Array.from(ids, (id) => id - first).filter((byte) => byte >= 0)).toString('utf8')
    },
  }
}

/**
 * Given texts, the longest that fits at each place, so that the whole can be written. Throws `options_invalid` for texts that are empty or stand there twice.
 */
export function textVocabulary(texts: readonly string[]): Vocabulary {
  const first = specialTokens.length
  const idOf = new Map<string, number>()
  for (const [at, text] of texts.entries()) {
    if (text === '') throw new QuintainError('options_invalid', `Text ${at} of the vocabulary is empty.`)
    if (idOf.has(text)) {
      throw new QuintainError(
        'options_invalid',
        `The vocabulary has ${JSON.stringify(text)} twice: at ${idOf.get(text)! - first} and at ${at}.`,
      )
    }
    idOf.set(text, first + at)
  }
  if (texts.length === 0) throw new QuintainError('options_invalid', 'The vocabulary has no texts.')
  // The lengths of texts that begin alike, the longest first: few, however many texts there are.
  const lengths = new Map<string, number[]>()
  for (const [beginning, alike] of Map.groupBy(texts, (text) => text[0]!)) {
    lengths.set(
      beginning,
      [...new Set(alike.map(({ length }) => length))].sort((a, b) => b - a),
    )
  }
  const longestFit = (text: string, at: number, isDead: (end: number) => boolean): string | undefined => {
    for (const length of lengths.get(text[at]!) ?? []) {
      const end = at + length
      if (end > text.length || isDead(end)) continue
      const piece = text.slice(at, end)
      if (idOf.has(piece)) return piece
    }
    return undefined
  }
  return {
    size: first + texts.length,
    isWhole: false,
    encode(text, to) {
      for (const piece of longestPieces(text, longestFit)) to.push(idOf.get(piece)!)
    },
    decode(ids) {
      return Array.from(ids, (id) => texts[id - first] ?? '').join('')
    },
  }
}

/**
 * The longest piece at each place, but for one after which the rest could not be written: whatever ids say, its text can be
 * written again.
 */
function longestPieces(
  text: string,
  longestFit: (text: string, at: number, isDead: (end: number) => boolean) => string | undefined,
): string[] {
  const pieces: string[] = []
  const deadEnds = new Set<number>()
  const isDead = (end: number) => deadEnds.has(end)
  let furthest = 0
  for (let at = 0; at < text.length; ) {
    const piece = longestFit(text, at, isDead)
    if (piece !== undefined) {
      pieces.push(piece)
      at += piece.length
      furthest = Math.max(furthest, at)
      continue
    }
    deadEnds.add(at)
    const last = pieces.pop()
    if (last === undefined) throw uncovered(text, furthest)
    at -= last.length
  }
  return pieces
}

function uncovered(text: string, at: number): QuintainError {
  const rest = text.slice(at, at + 40)
  const before = text.slice(Math.max(0, at - 40), at)
  return new QuintainError(
    'prompt_invalid',
    `No token of the policy's vocabulary begins ${JSON.stringify(rest)}${before === '' ? '' : `, after ${JSON.stringify(before)}`}. Take a vocabulary that has it; \`bytes\` covers all text. A policy keeps the one that it began with.`,
    { facts: { text: rest, before } },
  )
}
