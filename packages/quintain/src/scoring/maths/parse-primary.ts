import { readArgument, readBracketed } from './parse-brackets.ts'
import { readCommand } from './parse-command.ts'
import { readLetter, readWord } from './parse-function.ts'
import type { Node } from './syntax.ts'
import type { TokenCursor } from './token-cursor.ts'
import { Unreadable } from './unreadable.ts'
import { basesByName } from './vocabulary.ts'
import { decimal, repeating } from './written-number.ts'

/** One thing that stands by itself: a number, a letter, a word, a command or a bracket. */
export function readPrimary(cursor: TokenCursor): Node {
  return cursor.nested(() => {
    const token = cursor.peek()
    if (token === undefined) throw new Unreadable()
    cursor.at++
    switch (token.kind) {
      case 'number':
        return readNumber(cursor, token.text)
      case 'letter':
        return readLetter(cursor, token.name)
      case 'word':
        return readWord(cursor, token.text)
      case 'text':
        return { kind: 'text', text: token.text }
      case 'command':
        return readCommand(cursor, token.name)
      case 'sign':
        return readBracketed(cursor, token.sign)
    }
  })
}

function readNumber(cursor: TokenCursor, text: string): Node {
  if (cursor.isSign('_')) {
    cursor.at++
    return readOtherBase(cursor, text)
  }
  if (cursor.isCommand('overline') || cursor.isCommand('bar')) {
    if (!text.includes('.')) throw new Unreadable()
    cursor.at++
    const period = readArgument(cursor)
    if (period.kind !== 'number') throw new Unreadable()
    return repeating(text, cursor.lastNumber)
  }
  const value = decimal(text)
  if (value === undefined) throw new Unreadable()
  cursor.lastNumber = text
  return value
}

function readOtherBase(cursor: TokenCursor, digits: string): Node {
  const base = readArgument(cursor)
  const named = base.kind === 'text' ? basesByName.get(base.text.toLowerCase()) : undefined
  const value = base.kind === 'number' ? Number(base.value.n) : named
  if (value === undefined || !(value >= 2 && value <= 36) || digits.includes('.')) throw new Unreadable()
  if ([...digits].some((digit) => Number.parseInt(digit, 36) >= value)) throw new Unreadable()
  if (value === 10) return decimal(digits) ?? { kind: 'dots' }
  return { kind: 'digits', digits: digits.replace(/^0+(?=.)/, ''), base: value }
}
