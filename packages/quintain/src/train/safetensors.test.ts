import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeSafetensors, encodeSafetensors, type Tensor } from './safetensors.ts'

const golden = readFileSync(join(import.meta.dirname, '__golden__', 'reference.safetensors'))

const tensor = fc.array(fc.nat(4), { maxLength: 3 }).chain((shape) =>
  fc
    .float32Array({
      minLength: shape.reduce((product, size) => product * size, 1),
      maxLength: shape.reduce((product, size) => product * size, 1),
    })
    .map((data): Tensor => ({ shape, data })),
)
const tensorsOf = fc
  .dictionary(
    fc.string().filter((name) => name !== '__metadata__'),
    tensor,
    { maxKeys: 5 },
  )
  .map((entries) => new Map(Object.entries(entries)))

/** A file of a header and so many bytes of numbers. */
function fileOf(header: unknown, bytes: number): Uint8Array {
  const text = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(text.length))
  return Buffer.concat([length, text, Buffer.alloc(bytes)])
}
const entry = (begin: number, end: number, more = {}) => ({
  dtype: 'F32',
  shape: [(end - begin) / 4],
  data_offsets: [begin, end],
  ...more,
})

describe('safetensors', () => {
  it('reads a file of the reference implementation', () => {
    const { tensors, metadata } = decodeSafetensors(golden)
    expect(metadata).toEqual({ made: 'safetensors 0.5.3' })
    expect(Object.fromEntries(tensors)).toEqual({
      head: { shape: [2, 3], data: Float32Array.of(0, 0.25, 0.5, 0.75, 1, 1.25) },
      none: { shape: [0, 4], data: Float32Array.of() },
      norm: { shape: [3], data: Float32Array.of(1, -0.5, 3e-8) },
      scalar: { shape: [], data: Float32Array.of(7) },
    })
  })

  it('writes the bytes that the reference implementation writes', () => {
    const { tensors, metadata } = decodeSafetensors(golden)
    expect(Buffer.from(encodeSafetensors({ tensors, metadata }))).toEqual(golden)
  })

  it('gives back what it was given, to the bit', () => {
    fc.assert(
      fc.property(tensorsOf, fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }), (tensors, metadata) => {
        const file = encodeSafetensors({ tensors, metadata })
        const read = decodeSafetensors(file)
        expect(new Map(read.tensors)).toEqual(tensors)
        expect({ ...read.metadata }).toEqual({ ...metadata })
        expect(encodeSafetensors(read)).toEqual(file)
      }),
    )
  })

  it('tells any cut of a file', () => {
    for (let length = 0; length < golden.length; length++) {
      expect(() => decodeSafetensors(golden.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'checkpoint_invalid' }),
      )
    }
  })

  it('reads what differs in a byte as another file, or refuses it', () => {
    fc.assert(
      fc.property(fc.nat(golden.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const file = Buffer.from(golden)
        file[at]! ^= flip
        try {
          const { tensors, metadata } = decodeSafetensors(file)
          expect([...tensors, metadata]).not.toEqual([
            ...decodeSafetensors(golden).tensors,
            decodeSafetensors(golden).metadata,
          ])
        } catch (error) {
          // Space round the header is no difference.
          if (!(error instanceof Error && error.name === 'QuintainError')) expect(golden[at]).toBe(0x20)
        }
      }),
    )
  })

  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(0x7fffffffffffffffn)
  it.each([
    ['a header of any length', Buffer.concat([length, Buffer.from('{}')]), /header is said to have/],
    ['a header that is no UTF-8', fileOf('\ud800', 0), /no JSON/],
    ['a header that is no object', fileOf('[]', 0), /no JSON object/],
    ['a header that is followed by something', fileOf('{} {}', 0), /follows its header/],
    ['a name twice', fileOf('{"a":{},"a":{}}', 0), /duplicate_key/],
    [
      'tensors that overlap',
      fileOf({ a: entry(0, 8), b: entry(4, 12) }, 12),
      /begins at byte 4 and not at 8/,
    ],
    ['one that is read twice', fileOf({ a: entry(0, 8), b: entry(0, 8) }, 8), /begins at byte 0/],
    ['a hole', fileOf({ a: entry(0, 8), b: entry(12, 16) }, 16), /begins at byte 12/],
    ['numbers that belong to nothing', fileOf({ a: entry(0, 8) }, 12), /4 bytes follow/],
    ['numbers that are not there', fileOf({ a: entry(0, 8) }, 4), /it is cut/],
    ['another type', fileOf({ a: entry(0, 4, { dtype: 'F16', shape: [2] }) }, 4), /"F16"; F32 is read/],
    ['a shape of another length', fileOf({ a: entry(0, 8, { shape: [3] }) }, 8), /wants 12/],
    ['a shape past all numbers', fileOf({ a: entry(0, 8, { shape: [2 ** 53, 2 ** 53] }) }, 8), /no shape/],
    ['a negative place', fileOf({ a: entry(0, 8, { data_offsets: [-8, 0] }) }, 8), /no place/],
    ['metadata that is no text', fileOf({ __metadata__: { step: 1 } }, 0), /is no text/],
  ])('refuses %s', (_, file, says) => {
    expect(() => decodeSafetensors(file)).toThrow(
      expect.objectContaining({ code: 'checkpoint_invalid', message: expect.stringMatching(says) }),
    )
  })

  it('writes nothing that it would not read', () => {
    const tensors = new Map([['a', { shape: [3], data: Float32Array.of(1, 2) }]])
    expect(() => encodeSafetensors({ tensors })).toThrow(RangeError)
  })
})
