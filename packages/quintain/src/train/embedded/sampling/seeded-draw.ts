import { hash } from 'node:crypto'

/** Four words of 32 bits for the text of a seed. Near texts have nothing in common. */
export function seedWords(text: string): Uint32Array {
  const digits = hash('sha256', text, 'hex')
  return Uint32Array.of(wordAt(digits, 0), wordAt(digits, 8), wordAt(digits, 16), wordAt(digits, 24))
}

function wordAt(digits: string, at: number): number {
  return Number.parseInt(digits.slice(at, at + 8), 16)
}

/**
 * A number in [0, 1) of 53 bits for a seed and a position: a function, not a sequence, so that what is drawn does not hang
 * on what else is drawn or in which order. The words are mixed by the finaliser of MurmurHash3 (Appleby).
 */
export function drawAt(seed: ArrayLike<number>, position: number): number {
  const high = mixed(mixed(seed[0]! ^ position) + seed[1]!) >>> 5
  const low = mixed(mixed(seed[2]! ^ position) + seed[3]!) >>> 6
  return (high * 0x4000000 + low) / 0x20000000000000
}

function mixed(word: number): number {
  let bits = word | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
