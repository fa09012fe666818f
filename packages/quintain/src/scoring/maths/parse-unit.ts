import { readArgument } from './parse-brackets.ts'
import { readSum, times } from './parse-sum.ts'
import { rational } from './rational.ts'
import type { Node } from './syntax.ts'
import { type TokenCursor, wordOf } from './token-cursor.ts'
import { Unreadable } from './unreadable.ts'
import { operators, scales } from './vocabulary.ts'

/** A value with what it is measured in, before or behind it. */
export function readWithUnit(cursor: TokenCursor): Node {
  const currency = takeCurrency(cursor)
  const item = readSum(cursor)
  if (currency !== undefined) return { kind: 'quantity', item, unit: currency }
  const scaled = readScaled(cursor, item)
  const unit = readUnit(cursor)
  if (scaled !== item) return unit === undefined ? scaled : { kind: 'quantity', item: scaled, unit }
  return unit === undefined ? item : { kind: 'quantity', item, unit }
}

/** 5 million is a number; words that would make another of it are not passed over as units. */
function readScaled(cursor: TokenCursor, item: Node): Node {
  let value = item
  for (;;) {
    const token = cursor.peek()
    if (token === undefined || (token.kind !== 'word' && token.kind !== 'text')) return value
    const [first = ''] = token.text.toLowerCase().split(/[^a-z]+/)
    if (operators.has(first)) throw new Unreadable()
    const scale = scales.get(token.text.toLowerCase())
    if (scale === undefined) return value
    cursor.at++
    value = times(value, { kind: 'number', value: rational(scale) })
  }
}

function takeCurrency(cursor: TokenCursor): string | undefined {
  const token = cursor.peek()
  if (token?.kind !== 'sign' || !'$€£¥₹'.includes(token.sign)) return undefined
  cursor.at++
  return token.sign
}

function readUnit(cursor: TokenCursor): string | undefined {
  const start = cursor.at
  const words: string[] = []
  for (;;) {
    const token = cursor.peek()
    if (token === undefined) break
    const isText =
      token.kind === 'text' || (token.kind === 'word' && !['and', 'or', 'union'].includes(token.text))
    if (isText && !(token.kind === 'text' && ['and', 'or'].includes(token.text))) words.push(wordOf(token))
    else if (words.length > 0 && cursor.isSign('^')) {
      cursor.at++
      const exponent = readArgument(cursor)
      if (exponent.kind !== 'number') throw new Unreadable()
      words.push(`^${exponent.value.n}`)
      continue
    } else if (words.length > 0 && cursor.isSign('/')) words.push('/')
    else if (words.length > 0 && words.at(-1) === '/' && token.kind === 'letter') words.push(token.name)
    else if (words.length === 0 && token.kind === 'sign' && '€£¥₹'.includes(token.sign))
      words.push(token.sign)
    else break
    cursor.at++
  }
  if (words.length === 0) {
    cursor.at = start
    return undefined
  }
  return words.join(' ')
}
