import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { microBatches } from './micro-batches.ts'

const sized = (length: number, unit?: number) => ({
  input: new Int32Array(length),
  target: new Int32Array(length),
  ...(unit === undefined ? {} : { unit }),
})

describe('microBatches', () => {
  it('takes each datum once, in order, whole units at a time, and no more tokens than fit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ size: fc.integer({ min: 1, max: 30 }), joined: fc.boolean() }), {
          minLength: 1,
        }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 30, max: 100 }),
        (sizes, count, most) => {
          let unit = 0
          const data = sizes.map(({ size, joined }) => sized(size, joined ? unit : ++unit))
          const shares = microBatches(data, count, most)
          expect(shares.length).toBe(count)
          expect(shares.flat(3)).toEqual(data.map((_, at) => at))
          for (const part of shares.flat()) {
            const units = part.map((piece) => piece.map((at) => data[at]!.unit))
            // All of a unit is in one part, and only a unit that is too long has pieces.
            for (const own of new Set(units.flat())) {
              expect(units.flat().filter((one) => one === own).length).toBe(
                data.filter((datum) => datum.unit === own).length,
              )
            }
            if (part.length > 1) expect(new Set(units.flat()).size).toBe(1)
            for (const piece of part) {
              expect(piece.reduce((sum, at) => sum + data[at]!.input.length, 0)).toBeLessThanOrEqual(most)
            }
          }
        },
      ),
    )
  })

  it('shares out evenly what can be', () => {
    const shares = microBatches(
      Array.from({ length: 48 }, () => sized(37)),
      4,
      1024,
    )
    expect(shares.map((parts) => parts.flat(2).length)).toEqual([12, 12, 12, 12])
  })
})
