import type { ModelRequest } from '../core/index.ts'

/** Four characters are about a token of English. */
export function tokensOfChars(chars: number): number {
  return Math.ceil(chars / 4)
}

/** A guess of the tokens of a prompt; pictures are left out. */
export function guessedTokens({ messages, tools }: ModelRequest): number {
  const text = JSON.stringify([messages, tools], (key, value: unknown) =>
    key === 'data' ? undefined : value,
  )
  return tokensOfChars(text.length)
}
