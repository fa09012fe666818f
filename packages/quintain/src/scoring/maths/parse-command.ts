import { readArgument, readItems, readRawArgument, readSet, readUntil } from './parse-brackets.ts'
import { readApplied, readLetter } from './parse-function.ts'
import { readMatrix } from './parse-matrix.ts'
import { readPrimary } from './parse-primary.ts'
import { rational } from './rational.ts'
import type { Node } from './syntax.ts'
import type { TokenCursor } from './token-cursor.ts'
import { fonts } from './tokens.ts'
import { Unreadable } from './unreadable.ts'
import { functions, isGreek } from './vocabulary.ts'

/** What a command, which was taken, is: a fraction, a root, a named set, a function, a letter. */
export function readCommand(cursor: TokenCursor, name: string): Node {
  switch (name) {
    case 'frac':
    case 'dfrac':
    case 'tfrac':
    case 'cfrac':
      return { kind: 'quotient', over: readArgument(cursor), under: readArgument(cursor) }
    case 'binom':
    case 'dbinom':
    case 'tbinom':
      return { kind: 'binomial', n: readArgument(cursor), k: readArgument(cursor) }
    case 'surd':
    case 'sqrt': {
      const index = cursor.take('[') ? readUntil(cursor, ']') : undefined
      const item = cursor.isSign('(') ? readPrimary(cursor) : readArgument(cursor, name === 'surd')
      if (index === undefined) return { kind: 'function', name: 'sqrt', args: [item] }
      const one: Node = { kind: 'number', value: rational(1n) }
      return { kind: 'power', base: item, exponent: { kind: 'quotient', over: one, under: index } }
    }
    case 'pi':
      return { kind: 'constant', name: 'pi' }
    case 'infty':
      return { kind: 'infinity' }
    case 'emptyset':
    case 'varnothing':
      return { kind: 'set', items: [] }
    case 'mathbb':
    case 'reals': {
      const set = name === 'reals' ? 'R' : readRawArgument(cursor)
      if (set !== 'R') return { kind: 'text', text: `mathbb ${set}` }
      const infinity: Node = { kind: 'infinity' }
      const items: Node[] = [{ kind: 'minus', item: infinity }, infinity]
      return { kind: 'tuple', items, brackets: { open: '(', close: ')' } }
    }
    case 'lbrace':
      return readSet(cursor, 'rbrace')
    case 'langle':
      return { kind: 'tuple', items: readItems(cursor, 'rangle'), brackets: { open: '(', close: ')' } }
    case 'lfloor':
      return { kind: 'function', name: 'floor', args: readItems(cursor, 'rfloor') }
    case 'lceil':
      return { kind: 'function', name: 'ceil', args: readItems(cursor, 'rceil') }
    case 'lvert':
    case 'vert':
      return { kind: 'function', name: 'abs', args: [readUntil(cursor, name === 'lvert' ? 'rvert' : 'vert')] }
    case 'begin':
      return readMatrix(cursor)
    case 'circ':
      return { kind: 'symbol', name: '°' }
    case 'log':
    case 'ln':
      return readApplied(cursor, name)
  }
  if (fonts.has(name)) return readArgument(cursor)
  const known = functions.get(name)
  if (known !== undefined) return readApplied(cursor, known)
  if (isGreek(name)) return readLetter(cursor, name.replace(/^var/, ''))
  throw new Unreadable()
}
