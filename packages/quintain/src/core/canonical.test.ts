import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson, framedDigest, sha256 } from './canonical.ts'

/** The same data with the keys of every object in another order. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, turned(inner)]),
  )
}

describe('canonicalJson', () => {
  test('sorts keys at every depth and leaves lists in their order', () => {
    expect(canonicalJson({ b: [{ z: 1, a: 2 }, 3], a: { d: null, c: 'x' } })).toBe(
      '{"a":{"c":"x","d":null},"b":[{"a":2,"z":1},3]}',
    )
  })

  test('is the same for the same data in any order of keys, and data again', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value)
        expect(canonicalJson(turned(value))).toBe(text)
        expect(canonicalJson(JSON.parse(text))).toBe(text)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test('differs for different data', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const equal = canonicalJson(a) === canonicalJson(b)
        const [left, right] = [a, b].map((one) => JSON.parse(JSON.stringify(one)) as unknown)
        if (equal) expect(left).toEqual(right)
        else expect(left).not.toEqual(right)
      }),
    )
  })

  test('takes undefined for absent, dates for their text, and keeps a key named __proto__', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe(canonicalJson({ b: 1 }))
    expect(canonicalJson(undefined)).toBe('null')
    expect(canonicalJson(new Date(0))).toBe('"1970-01-01T00:00:00.000Z"')
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}')
  })

  test('what JSON cannot hold is an error of ours', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    for (const value of [cycle, { n: 1n }]) {
      expect(() => canonicalJson(value)).toThrow(expect.objectContaining({ code: 'not_json' }))
    }
  })
})

describe('digests', () => {
  test('sha256 is SHA-256', () => {
    expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(sha256(Buffer.from('abc'))).toBe(sha256('abc'))
  })

  test('framedDigest is the same for ever', () => {
    expect(framedDigest([])).toBe(sha256(''))
    expect(framedDigest(['a', 'bc'])).toBe(sha256('1:a2:bc'))
    expect(framedDigest(['é'])).toBe(framedDigest([Buffer.from('é')]))
  })

  test('no two lists have one digest, however their parts run together', () => {
    const part = fc.string({ unit: fc.constantFrom('1', ':', 'a', '2'), maxLength: 5 })
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), fc.array(part, { maxLength: 5 }), (a, b) => {
        expect(framedDigest(a) === framedDigest(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
      { numRuns: 2_000 },
    )
    expect(framedDigest(['ab'])).not.toBe(framedDigest(['a', 'b']))
    expect(framedDigest(['a'])).not.toBe(framedDigest(['a', '']))
    expect(framedDigest(['1:a'])).not.toBe(framedDigest(['a']))
  })
})
