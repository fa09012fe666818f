/** A seeded stream of uniform random numbers. */
export interface SeededStream {
  /** 32 random bits, as an integer from 0 to 2^32 - 1. */
  bits(): number
  /** Uniform in [0, 1), 32 bits of precision. */
  next(): number
  /** Uniform integer in [0, bound), for a bound below 2^32; its bias is below bound / 2^32. */
  below(bound: number): number
}

/**
 * The stream that resampling draws from: sfc32 (Chris Doty-Humphrey), its state filled with the bits of the seed, so
 * that different seeds never share a state. Equal seeds give equal numbers on every machine and version.
 *
 * Not `createRng` of core: this room imports nothing, and a bootstrap needs a hundred million draws a second.
 */
export function seededStream(seed: number): SeededStream {
  const words = new Int32Array(new Float64Array([seed]).buffer)
  let a = words[0]!
  let b = words[1]!
  let c = 0x9e3779b9 | 0
  let counter = 1
  const bits = (): number => {
    const t = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + t) | 0
    return t >>> 0
  }
  for (let i = 0; i < 15; i++) bits()
  return {
    bits,
    next: () => bits() / 4294967296,
    below: (bound) => Math.floor((bits() / 4294967296) * bound),
  }
}
