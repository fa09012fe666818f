import { readRawArgument } from './parse-brackets.ts'
import { readRelation } from './parse-relation.ts'
import type { Node } from './syntax.ts'
import type { TokenCursor } from './token-cursor.ts'
import { Unreadable } from './unreadable.ts'

/** A matrix, whose `\begin` was taken. */
export function readMatrix(cursor: TokenCursor): Node {
  const kind = readRawArgument(cursor)
  if (!/^(?:[pbvBV]?matrix|smallmatrix|array)$/.test(kind)) throw new Unreadable()
  if (kind === 'array') readRawArgument(cursor)
  const rows: Node[][] = [[]]
  for (;;) {
    if (cursor.isCommand('end')) {
      cursor.at++
      if (readRawArgument(cursor) !== kind) throw new Unreadable()
      break
    }
    if (cursor.take('\\\\')) rows.push([])
    else if (!cursor.take('&') || rows.at(-1)!.length === 0) rows.at(-1)!.push(readRelation(cursor))
  }
  if (rows.at(-1)!.length === 0) rows.pop()
  const [first] = rows
  if (first === undefined || rows.some(({ length }) => length !== first.length || length === 0))
    throw new Unreadable()
  return { kind: 'matrix', rows, determinant: kind === 'vmatrix' }
}
