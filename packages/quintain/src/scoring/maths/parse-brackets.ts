import { readPrimary } from './parse-primary.ts'
import { readList } from './parse-relation.ts'
import { readSum } from './parse-sum.ts'
import { rational } from './rational.ts'
import type { Brackets, Node } from './syntax.ts'
import { type TokenCursor, wordOf } from './token-cursor.ts'
import { Unreadable } from './unreadable.ts'

/** What an opening sign, which was taken, holds: a group, a set, an absolute value, a tuple or an interval. */
export function readBracketed(cursor: TokenCursor, sign: string): Node {
  if (sign === '{') {
    const items = readItems(cursor, '}')
    if (items.length === 0) throw new Unreadable()
    return items.length === 1 ? items[0]! : { kind: 'set', items }
  }
  if (sign === '|') {
    cursor.bars++
    const item = readSum(cursor)
    cursor.bars--
    cursor.expect('|')
    return { kind: 'function', name: 'abs', args: [item] }
  }
  // ]0, 5[ is how some countries write what others write as (0, 5).
  const open = sign === '(' || sign === ']' ? '(' : sign === '[' ? '[' : undefined
  if (open === undefined) throw new Unreadable()
  const bars = cursor.bars
  cursor.bars = 0
  const list = readList(cursor)
  cursor.bars = bars
  const end = cursor.peek()
  cursor.at++
  const close =
    end?.kind === 'sign' && (end.sign === ')' || (end.sign === '[' && sign !== '('))
      ? ')'
      : end?.kind === 'sign' && end.sign === ']'
        ? ']'
        : undefined
  if (close === undefined) throw new Unreadable()
  const brackets: Brackets = { open, close }
  if (list.kind === 'list') return rowsOf(list.items) ?? { kind: 'tuple', items: list.items, brackets }
  if ((open === '(') !== (close === ')')) throw new Unreadable()
  return rowsOf([list]) ?? list
}

/** A set, whose opening brace was taken. */
export function readSet(cursor: TokenCursor, close: string): Node {
  // {x | x > 2} is the set of what fulfils it.
  const start = cursor.at
  const first = cursor.peek()
  const bar = cursor.peek(1)
  const isBar =
    bar !== undefined &&
    ((bar.kind === 'sign' && (bar.sign === '|' || bar.sign === ':')) ||
      (bar.kind === 'command' && bar.name === 'mid'))
  if (first?.kind === 'letter' && isBar) {
    cursor.at += 2
    const condition = readList(cursor)
    cursor.expect(close)
    if (condition.kind === 'relation') return { ...condition, builder: true }
    cursor.at = start
  }
  return { kind: 'set', items: readItems(cursor, close) }
}

/** Items up to a closing sign; none where it comes at once. */
export function readItems(cursor: TokenCursor, close: string): Node[] {
  const bars = cursor.bars
  cursor.bars = 0
  const token = cursor.peek()
  const isEnd =
    (token?.kind === 'sign' && token.sign === close) || (token?.kind === 'command' && token.name === close)
  const list = isEnd ? undefined : readList(cursor)
  cursor.bars = bars
  cursor.expect(close)
  if (list === undefined) return []
  return list.kind === 'list' ? [...list.items] : [list]
}

/** The one item up to a closing sign. */
export function readUntil(cursor: TokenCursor, close: string): Node {
  const items = readItems(cursor, close)
  if (items.length !== 1) throw new Unreadable()
  return items[0]!
}

/** The argument of a command or an exponent: a group, or one thing. A bare number is one digit, but as an exponent. */
export function readArgument(cursor: TokenCursor, whole = false): Node {
  if (cursor.take('{')) {
    if (cursor.isCommand('circ') || cursor.isCommand('degree')) {
      cursor.at++
      cursor.expect('}')
      return { kind: 'symbol', name: '°' }
    }
    return readUntil(cursor, '}')
  }
  const token = cursor.peek()
  if (!whole && token?.kind === 'number' && token.text.length > 1 && /^\d+$/.test(token.text)) {
    cursor.tokens[cursor.at] = { ...token, text: token.text.slice(1), spaced: false }
    return { kind: 'number', value: rational(BigInt(token.text[0]!)) }
  }
  if (cursor.take('-')) return { kind: 'minus', item: readArgument(cursor, whole) }
  return readPrimary(cursor)
}

/** The signs of an argument as they stand, for names. */
export function readRawArgument(cursor: TokenCursor): string {
  if (!cursor.take('{')) {
    const token = cursor.peek()
    cursor.at++
    return token === undefined ? '' : wordOf(token)
  }
  let text = ''
  for (let open = 1; ; ) {
    const token = cursor.peek()
    if (token === undefined) throw new Unreadable()
    cursor.at++
    if (token.kind === 'sign' && token.sign === '{') open++
    if (token.kind === 'sign' && token.sign === '}' && --open === 0) return text
    text += wordOf(token)
  }
}

/** [[1, 2], [3, 4]] is a matrix. */
function rowsOf(items: readonly Node[]): Node | undefined {
  const rows = items.map((item) =>
    item.kind === 'tuple' && item.brackets.open === '[' ? item.items : undefined,
  )
  const [first] = rows
  if (first === undefined || rows.some((row) => row?.length !== first.length)) return undefined
  return { kind: 'matrix', rows: rows.filter((row) => row !== undefined), determinant: false }
}
