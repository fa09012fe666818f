import { readWithUnit } from './parse-unit.ts'
import type { Node, RelationSign } from './syntax.ts'
import type { TokenCursor } from './token-cursor.ts'
import { Unreadable } from './unreadable.ts'
import { relations } from './vocabulary.ts'

/** Items apart by commas, "and", "or". */
export function readList(cursor: TokenCursor): Node {
  return cursor.nested(() => {
    const items = [readItem(cursor)]
    for (;;) {
      const comma = cursor.take(',') || cursor.take(';')
      const word = takeConnective(cursor)
      if (!comma && !word) break
      if (cursor.at >= cursor.tokens.length) throw new Unreadable()
      items.push(readItem(cursor))
    }
    return items.length === 1 ? items[0]! : { kind: 'list', items }
  })
}

function takeConnective(cursor: TokenCursor): boolean {
  if (!cursor.isWord('and') && !cursor.isWord('or')) return false
  cursor.at++
  return true
}

function readItem(cursor: TokenCursor): Node {
  if (
    cursor.isCommand('ldots') ||
    cursor.isCommand('cdots') ||
    cursor.isCommand('dots') ||
    cursor.isCommand('dotsc')
  ) {
    cursor.at++
    return { kind: 'dots' }
  }
  return readRelation(cursor)
}

/** Values beside each other with signs between them: x = 5, 0 < x < 1. */
export function readRelation(cursor: TokenCursor): Node {
  const items = [readRatio(cursor)]
  const signs: RelationSign[] = []
  for (;;) {
    const token = cursor.peek()
    const name = token?.kind === 'sign' ? token.sign : token?.kind === 'command' ? token.name : undefined
    const sign = name === undefined || !relations.has(name) ? undefined : relations.get(name)
    if (sign === undefined) break
    cursor.at++
    signs.push(sign)
    items.push(readRatio(cursor))
  }
  if (signs.length === 0) return items[0]!
  // A list after a label belongs to it: n = 3, 4, 5.
  const last = items.at(-1)!
  if (signs.length === 1 && signs[0] === '=' && cursor.isSign(',') && cursor.depth === 1) {
    const rest = readRestOfList(cursor, last)
    if (rest !== undefined) return { kind: 'relation', items: [items[0]!, rest], signs, builder: false }
  }
  return { kind: 'relation', items, signs, builder: false }
}

/** The items of a list after its first, where none of them is a relation itself. */
function readRestOfList(cursor: TokenCursor, first: Node): Node | undefined {
  const start = cursor.at
  const hasMore = cursor.tokens
    .slice(start)
    .some(
      (token) =>
        (token.kind === 'sign' && relations.has(token.sign)) ||
        (token.kind === 'command' && relations.has(token.name)),
    )
  if (hasMore) return undefined
  const items = [first]
  while (cursor.take(',') || cursor.take(';') || takeConnective(cursor)) {
    takeConnective(cursor)
    items.push(readItem(cursor))
  }
  return { kind: 'list', items }
}

function readRatio(cursor: TokenCursor): Node {
  const items = [readSets(cursor)]
  while (cursor.isSign(':') || cursor.isCommand('colon')) {
    cursor.at++
    items.push(readSets(cursor))
  }
  return items.length === 1 ? items[0]! : { kind: 'ratio', items }
}

function readSets(cursor: TokenCursor): Node {
  let left = readWithUnit(cursor)
  for (;;) {
    const kind =
      cursor.isCommand('cup') || cursor.isWord('union')
        ? 'union'
        : cursor.isCommand('cap')
          ? 'intersection'
          : cursor.isCommand('setminus') || cursor.isCommand('backslash')
            ? 'without'
            : undefined
    if (kind === undefined) return left
    cursor.at++
    const right = readWithUnit(cursor)
    const items = left.kind === kind && kind !== 'without' ? [...left.items, right] : [left, right]
    left = { kind, items }
  }
}
