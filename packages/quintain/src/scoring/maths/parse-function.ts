import { readArgument, readItems, readRawArgument } from './parse-brackets.ts'
import { readPostfix, startsFactor, times } from './parse-sum.ts'
import type { Node } from './syntax.ts'
import type { TokenCursor } from './token-cursor.ts'
import { Unreadable } from './unreadable.ts'
import { constants, functions, inverses } from './vocabulary.ts'

/** A letter, which was taken, with its index. */
export function readLetter(cursor: TokenCursor, name: string): Node {
  if (cursor.isSign('_')) {
    cursor.at++
    return readSymbol(cursor, `${name}_${readRawArgument(cursor)}`)
  }
  if (name === 'e' || name === 'i') return { kind: 'constant', name }
  return readSymbol(cursor, name)
}

/** A variable, or a function of that name where brackets follow the letters that name functions. */
function readSymbol(cursor: TokenCursor, name: string): Node {
  if (/^[fgh](?:_.*|')?$/.test(name) && cursor.isSign('(')) {
    cursor.at++
    const args = readItems(cursor, ')')
    return { kind: 'function', name: `${name}()`, args }
  }
  return { kind: 'symbol', name }
}

/** A word, which was taken: a constant or a function. */
export function readWord(cursor: TokenCursor, text: string): Node {
  if (constants.has(text)) return text === 'pi' ? { kind: 'constant', name: 'pi' } : { kind: 'infinity' }
  const name = functions.get(text)
  if (name === undefined) throw new Unreadable()
  return readApplied(cursor, name)
}

/** A function, whose name was taken, with its base, its exponent and its arguments. */
export function readApplied(cursor: TokenCursor, name: string): Node {
  let base: Node | undefined
  if (name === 'log' && cursor.isSign('_')) {
    cursor.at++
    // \log_28 is the logarithm of 8, and log_10 2 that of 2.
    const isWhole = cursor.peek(1)?.kind === 'number' || cursor.isSign('(', 1) || cursor.isSign('{', 1)
    base = readArgument(cursor, isWhole)
  }
  let exponent: Node | undefined
  if (cursor.isSign('^') && name !== 'sqrt') {
    cursor.at++
    exponent = readArgument(cursor, true)
  }
  let args: Node[]
  if (cursor.isSign('(')) {
    cursor.at++
    args = readItems(cursor, ')')
  } else if (cursor.isSign('{')) {
    cursor.at++
    args = readItems(cursor, '}')
  } else args = [readBareArgument(cursor)]
  if (base !== undefined) args.push(base)
  const inverse = inverses.get(name)
  const isInverse =
    exponent?.kind === 'minus' && exponent.item.kind === 'number' && exponent.item.value.n === 1n
  if (exponent !== undefined && isInverse && inverse !== undefined)
    return { kind: 'function', name: inverse, args }
  const call: Node = { kind: 'function', name, args }
  return exponent === undefined ? call : { kind: 'power', base: call, exponent }
}

/** What a function without brackets is of: sin 2x is the sine of 2x, and sin x cos x a product. */
function readBareArgument(cursor: TokenCursor): Node {
  if (cursor.take('-')) return { kind: 'minus', item: readBareArgument(cursor) }
  let node = readPostfix(cursor)
  for (;;) {
    const token = cursor.peek()
    const isFunction =
      (token?.kind === 'command' && functions.get(token.name) !== undefined) ||
      (token?.kind === 'word' && functions.get(token.text) !== undefined)
    if (token === undefined || isFunction || cursor.isSign('(') || !startsFactor(cursor)) break
    node = times(node, readPostfix(cursor))
  }
  if (cursor.isSign('/') && node.kind !== 'sum') {
    const over = cursor.peek(1)
    if (over?.kind === 'number') {
      cursor.at++
      node = { kind: 'quotient', over: node, under: readPostfix(cursor) }
    }
  }
  return node
}
