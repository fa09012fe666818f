import { sha256 } from './canonical.ts'

/** A seeded source of randomness. Equal seeds give equal sequences on every machine and version. */
export interface Rng {
  /** Uniform in [0, 1), 32 bits of precision. */
  next(): number
  /** Uniform integer in [0, bound). */
  int(bound: number): number
  /** One element, uniformly. Throws a RangeError on an empty list. */
  pick<T>(items: readonly T[]): T
  /** A shuffled copy (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[]
  /** An independent generator named by `label`; drawing from it does not move this one. */
  fork(label: string | number): Rng
}

/**
 * A generator seeded by text or a number: sfc32 (Chris Doty-Humphrey's small fast counter generator), its 128 bits of
 * state taken from the SHA-256 of the seed. A shorter hash would give two of 100,000 tasks the same sequence.
 *
 * @example
 * const rng = createRng('task-7')
 * rng.pick(['a', 'b', 'c'])
 */
export function createRng(seed: string | number): Rng {
  return generator(`seed:${seed}`)
}

/** Nothing is hashed before the first draw or fork: most generators that a rollout is given are never drawn from. */
function generator(source: string): Rng {
  /** What tells this generator from all others: 64 hex digits. */
  let name: string | undefined
  const named = (): string => {
    name ??= sha256(source)
    return name
  }
  let seeded = false
  let a = 0
  let b = 0
  let c = 0
  let counter = 0
  const seed = (): void => {
    seeded = true
    const digits = named()
    const word = (at: number): number => Number.parseInt(digits.slice(8 * at, 8 * at + 8), 16) | 0
    a = word(0)
    b = word(1)
    c = word(2)
    counter = word(3)
    for (let i = 0; i < 12; i++) bits()
  }
  const bits = (): number => {
    if (!seeded) seed()
    const t = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }

  const rng: Rng = {
    next: () => bits() / 4294967296,
    int(bound) {
      if (!Number.isInteger(bound) || bound <= 0 || bound > 4294967296) {
        throw new RangeError(`int(bound) needs an integer from 1 to 2^32, got ${bound}`)
      }
      const limit = 4294967296 - (4294967296 % bound)
      let value = bits()
      while (value >= limit) value = bits()
      return value % bound
    },
    pick(items) {
      if (items.length === 0) throw new RangeError('pick() of an empty list')
      return items[rng.int(items.length)]!
    },
    shuffle(items) {
      const copy = items.slice()
      for (let i = copy.length - 1; i > 0; i--) {
        const j = rng.int(i + 1)
        const held = copy[i]!
        copy[i] = copy[j]!
        copy[j] = held
      }
      return copy
    },
    fork: (label) => generator(`fork:${named()}:${label}`),
  }
  return rng
}
