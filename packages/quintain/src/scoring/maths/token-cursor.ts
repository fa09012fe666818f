import type { Token } from './tokens.ts'
import { Unreadable } from './unreadable.ts'

/** Brackets, fractions and roots within each other. */
const mostDepth = 120

/** Where reading an answer stands among its tokens, and what surrounds that place. */
export class TokenCursor {
  readonly tokens: Token[]
  at = 0
  depth = 0
  /** Bars that are open: inside, a bar closes. */
  bars = 0
  /** The digits of the number that was read last. */
  lastNumber = ''

  constructor(tokens: Token[]) {
    this.tokens = tokens
  }

  wordsFrom(start: number): string {
    return this.tokens.slice(start).map(wordOf).join(' ').replace(/\s+/g, ' ').trim()
  }

  peek(offset = 0): Token | undefined {
    return this.tokens[this.at + offset]
  }

  isSign(sign: string, offset = 0): boolean {
    const token = this.peek(offset)
    return token?.kind === 'sign' && token.sign === sign
  }

  isCommand(name: string, offset = 0): boolean {
    const token = this.peek(offset)
    return token?.kind === 'command' && token.name === name
  }

  isWord(text: string): boolean {
    const token = this.peek()
    return (token?.kind === 'word' && token.text === text) || (token?.kind === 'text' && token.text === text)
  }

  take(sign: string): boolean {
    if (!this.isSign(sign)) return false
    this.at++
    return true
  }

  takeCommand(name: string): boolean {
    if (!this.isCommand(name)) return false
    this.at++
    return true
  }

  takeWord(word: string): boolean {
    if (!this.isWord(word)) return false
    this.at++
    return true
  }

  expect(name: string): void {
    const token = this.peek()
    const is =
      (token?.kind === 'sign' && token.sign === name) || (token?.kind === 'command' && token.name === name)
    if (!is) throw new Unreadable()
    this.at++
  }

  nested<T>(read: () => T): T {
    if (++this.depth > mostDepth) throw new Unreadable()
    try {
      return read()
    } finally {
      this.depth--
    }
  }
}

/** A token as it is written. */
export function wordOf(token: Token): string {
  switch (token.kind) {
    case 'number':
    case 'word':
    case 'text':
      return token.text
    case 'letter':
    case 'command':
      return token.name
    case 'sign':
      return token.sign
  }
}
