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
  return new Generator(`seed:${seed}`)
}

class Generator implements Rng {
  private readonly source: string
  /** What tells this generator from all others: 64 hex digits. */
  private name: string | undefined
  private seeded = false
  private a = 0
  private b = 0
  private c = 0
  private counter = 0

  /** Nothing is hashed before the first draw or fork: most generators that a rollout is given are never drawn from. */
  constructor(source: string) {
    this.source = source
  }

  next(): number {
    return this.bits() / 4294967296
  }

  int(bound: number): number {
    if (!Number.isInteger(bound) || bound <= 0 || bound > 4294967296) {
      throw new RangeError(`int(bound) needs an integer from 1 to 2^32, got ${bound}`)
    }
    const limit = 4294967296 - (4294967296 % bound)
    let value = this.bits()
    while (value >= limit) value = this.bits()
    return value % bound
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('pick() of an empty list')
    return items[this.int(items.length)]!
  }

  shuffle<T>(items: readonly T[]): T[] {
    const copy = items.slice()
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(i + 1)
      const held = copy[i]!
      copy[i] = copy[j]!
      copy[j] = held
    }
    return copy
  }

  fork(label: string | number): Rng {
    return new Generator(`fork:${this.named()}:${label}`)
  }

  private named(): string {
    this.name ??= sha256(this.source)
    return this.name
  }

  private seed(): void {
    this.seeded = true
    const digits = this.named()
    const word = (at: number): number => Number.parseInt(digits.slice(8 * at, 8 * at + 8), 16) | 0
    this.a = word(0)
    this.b = word(1)
    this.c = word(2)
    this.counter = word(3)
    for (let i = 0; i < 12; i++) this.bits()
  }

  private bits(): number {
    if (!this.seeded) this.seed()
    const t = (((this.a + this.b) | 0) + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (this.c << 21) | (this.c >>> 11)
    this.c = (this.c + t) | 0
    return t >>> 0
  }
}
