import { readArgument } from './parse-brackets.ts'
import { readPrimary } from './parse-primary.ts'
import type { Node } from './syntax.ts'
import type { TokenCursor } from './token-cursor.ts'
import { fonts } from './tokens.ts'
import { Unreadable } from './unreadable.ts'
import { constants, functions, isGreek, startsWithCommand } from './vocabulary.ts'

/** Products that are added, taken away, or both (±). */
export function readSum(cursor: TokenCursor): Node {
  return cursor.nested(() => {
    const items: Node[] = []
    let plusminus: Node | undefined
    if (cursor.isCommand('pm') || cursor.isCommand('mp')) {
      const isLower = cursor.isCommand('mp')
      cursor.at++
      plusminus = { kind: 'plusminus', left: undefined, right: readAfterSign(cursor, isLower) }
      items.push(plusminus)
    } else items.push(readProduct(cursor))
    for (;;) {
      if (cursor.take('+')) items.push(readProduct(cursor))
      else if (cursor.take('-')) items.push({ kind: 'minus', item: readProduct(cursor) })
      else if (cursor.isCommand('pm') || cursor.isCommand('mp')) {
        const isLower = cursor.isCommand('mp')
        cursor.at++
        const left: Node = items.length === 1 ? items[0]! : { kind: 'sum', items: [...items] }
        items.length = 0
        items.push({ kind: 'plusminus', left, right: readAfterSign(cursor, isLower) })
      } else break
    }
    return items.length === 1 ? items[0]! : { kind: 'sum', items }
  })
}

/** What follows ±; ∓ is its negative. */
function readAfterSign(cursor: TokenCursor, isLower: boolean): Node {
  const item = readProduct(cursor)
  return isLower ? { kind: 'minus', item } : item
}

function readProduct(cursor: TokenCursor): Node {
  if (cursor.take('-')) return { kind: 'minus', item: readProduct(cursor) }
  if (cursor.take('+')) return readProduct(cursor)
  let left = readPostfix(cursor)
  for (;;) {
    if (
      cursor.take('*') ||
      cursor.takeCommand('times') ||
      cursor.takeCommand('cdot') ||
      cursor.takeCommand('ast')
    ) {
      left = times(left, readSigned(cursor))
    } else if (cursor.take('/') || cursor.takeCommand('div')) {
      left = { kind: 'quotient', over: left, under: readSigned(cursor) }
    } else if (startsFactor(cursor)) {
      const start = cursor.at
      const before = cursor.peek(-1)
      const isNumber = cursor.peek()?.kind === 'number'
      const right = readPostfix(cursor)
      if (right.kind === 'number' && left.kind === 'number') {
        // 2 1/3 and 2\frac{1}{3} are mixed numbers; two numbers side by side are nothing else.
        const under = cursor.take('/') ? readPostfix(cursor) : undefined
        const part: Node | undefined = under && { kind: 'quotient', over: right, under }
        if (part === undefined || !isCount(left) || !isMixedPart(part)) throw new Unreadable()
        left = { kind: 'sum', items: [left, part] }
      } else if (isCount(left) && right.kind === 'percent' && isMixedPart(right.item)) {
        // The sign stands behind the whole mixed number.
        left = { kind: 'percent', item: { kind: 'sum', items: [left, right.item] } }
      } else if (isCount(left) && isMixedPart(right) && cursor.tokens[start]?.kind === 'command') {
        left = { kind: 'sum', items: [left, right] }
      } else {
        // x1 and \sqrt{3}1 are slips of the pen, \frac{2}{3}3^n is none.
        if (right.kind === 'number' || (isNumber && before?.kind === 'letter')) throw new Unreadable()
        left = times(left, right)
      }
    } else return left
  }
}

function readSigned(cursor: TokenCursor): Node {
  if (cursor.take('-')) return { kind: 'minus', item: readSigned(cursor) }
  if (cursor.take('+')) return readSigned(cursor)
  return readPostfix(cursor)
}

/** Whether a factor begins here, without a sign between. */
export function startsFactor(cursor: TokenCursor): boolean {
  const token = cursor.peek()
  if (token === undefined) return false
  switch (token.kind) {
    case 'number':
    case 'letter':
      return true
    case 'word':
      return functions.get(token.text) !== undefined || constants.has(token.text)
    case 'text':
      return false
    case 'sign':
      return (
        token.sign === '(' ||
        token.sign === '[' ||
        token.sign === '{' ||
        (token.sign === '|' && cursor.bars === 0)
      )
    case 'command':
      return (
        startsWithCommand.has(token.name) ||
        functions.get(token.name) !== undefined ||
        fonts.has(token.name) ||
        isGreek(token.name)
      )
  }
}

/** One thing with what stands behind it: exponents, factorials, per cent, degrees. */
export function readPostfix(cursor: TokenCursor): Node {
  let node = readPrimary(cursor)
  for (;;) {
    if (cursor.isSign('^') || cursor.isSign('**')) {
      cursor.at++
      if (cursor.isCommand('circ') || cursor.isCommand('degree')) {
        cursor.at++
        node = { kind: 'degrees', item: node }
        continue
      }
      const exponent = readArgument(cursor, true)
      // Towers without brackets are read from either end, and are another number each way.
      if (cursor.isSign('^') || cursor.isSign('**')) throw new Unreadable()
      node =
        exponent.kind === 'symbol' && exponent.name === '°'
          ? { kind: 'degrees', item: node }
          : { kind: 'power', base: node, exponent }
    } else if (cursor.take('!')) {
      if (cursor.isSign('!')) throw new Unreadable()
      node = { kind: 'factorial', item: node }
    } else if (cursor.take('%') || cursor.takeWord('percent')) node = { kind: 'percent', item: node }
    else if (
      cursor.takeCommand('degree') ||
      cursor.takeWord('degrees') ||
      cursor.takeWord('degree') ||
      cursor.takeWord('deg')
    )
      node = { kind: 'degrees', item: node }
    else if (cursor.isSign("'") && node.kind === 'symbol') {
      cursor.at++
      node = { kind: 'symbol', name: `${node.name}'` }
    } else return node
  }
}

/** The product of two; one of more is flat. */
export function times(left: Node, right: Node): Node {
  return { kind: 'product', items: left.kind === 'product' ? [...left.items, right] : [left, right] }
}

function isCount(node: Node): boolean {
  return node.kind === 'number' && node.value.d === 1n
}

function isMixedPart(node: Node): boolean {
  if (node.kind !== 'quotient') return false
  const { over, under } = node
  // 2\frac{5}{3} is a product: nobody writes so much beside a whole.
  return (
    over.kind === 'number' &&
    under.kind === 'number' &&
    isCount(over) &&
    isCount(under) &&
    over.value.n < under.value.n
  )
}
