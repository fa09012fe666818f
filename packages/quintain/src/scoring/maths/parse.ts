import { readList } from './parse-relation.ts'
import type { Node } from './syntax.ts'
import { TokenCursor, wordOf } from './token-cursor.ts'
import { fonts, mostSource, type TokenOptions, tokensOf } from './tokens.ts'
import { Unreadable } from './unreadable.ts'
import { constants, functions } from './vocabulary.ts'

const mostTokens = 6_000

/** An answer as it is written; undefined for one that cannot be read. Never throws. */
export function parseAnswer(source: string, options: TokenOptions = {}): Node | undefined {
  if (source.length > mostSource) return undefined
  const tokens = tokensOf(trimmed(source), options)
  if (tokens === undefined || tokens.length === 0 || tokens.length > mostTokens) return undefined
  try {
    return readAnswer(new TokenCursor(tokens))
  } catch (thrown) {
    if (thrown instanceof Unreadable) return undefined
    throw thrown
  }
}

/** Without what ends a sentence. */
function trimmed(source: string): string {
  const text = source.trim()
  let end = text.length
  while (end > 0 && /[\s$]/.test(text[end - 1]!)) end--
  const closing = text.slice(end - 2, end)
  if (closing === '\\]' || closing === '\\)') end -= 2
  let start = end
  while (start > 0 && /[\s.,;:]/.test(text[start - 1]!)) start--
  // Three dots are no end of a sentence.
  if (text.slice(start, end).includes('..')) return text
  return text.slice(0, start) + text.slice(end)
}

function readAnswer(cursor: TokenCursor): Node {
  if (isProse(cursor)) return { kind: 'text', text: cursor.wordsFrom(0) }
  const label = takeLabel(cursor)
  const node = readList(cursor)
  if (cursor.at < cursor.tokens.length) throw new Unreadable()
  if (label === undefined) return node
  const name: Node = { kind: 'text', text: label }
  return { kind: 'relation', items: [name, node], signs: ['='], builder: false }
}

/** An answer in words: it begins with one that names no function and no number. */
function isProse(cursor: TokenCursor): boolean {
  const first = cursor.tokens.find(
    (token) =>
      !(token.kind === 'sign' && '({['.includes(token.sign)) &&
      !(token.kind === 'command' && fonts.has(token.name)),
  )
  if (first === undefined || (first.kind !== 'text' && first.kind !== 'word')) return false
  if (first.kind === 'word' && (functions.get(first.text) !== undefined || constants.has(first.text)))
    return false
  // Words before a sign of equality are a label.
  return !cursor.tokens.some((token) => token.kind === 'sign' && token.sign === '=')
}

/** Words before a sign of equality, such as "Area = 5". */
function takeLabel(cursor: TokenCursor): string | undefined {
  const end = cursor.tokens.findIndex((token) => token.kind === 'sign' && token.sign === '=')
  const before = cursor.tokens.slice(0, Math.max(0, end))
  const isWords = before.every(({ kind }) => kind === 'word' || kind === 'text' || kind === 'letter')
  const isKnown = before.some((token) => token.kind === 'word' && functions.get(token.text) !== undefined)
  if (!isWords || isKnown || !before.some(({ kind }) => kind === 'word' || kind === 'text')) return undefined
  cursor.at = end + 1
  return before.map(wordOf).join(' ')
}
