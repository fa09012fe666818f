import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boxPath, bytesOfName, nameOfBytes } from './box-name.ts'

describe('names', () => {
  it('come back as the bytes that they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(new Uint8Array(bytesOfName(nameOfBytes(bytes)))).toEqual(bytes)
      }),
    )
  })

  it('are text where they are text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(nameOfBytes(Buffer.from(text))).toBe(text)
        expect(bytesOfName(text)).toEqual(Buffer.from(text))
      }),
    )
    expect(nameOfBytes(Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0xc3]))).toBe('a\udcffé\udcc3')
  })
})

describe('bytes that are no UTF-8', () => {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const isText = (bytes: Uint8Array) => {
    try {
      strict.decode(bytes)
      return true
    } catch {
      return false
    }
  }
  /** The first sequence, as a decoder that throws finds it. */
  const asDecoded = (bytes: Uint8Array): string => {
    if (bytes.length === 0) return ''
    const length = [1, 2, 3, 4].find((most) => most <= bytes.length && isText(bytes.subarray(0, most)))
    const first =
      length === undefined
        ? String.fromCharCode(0xdc00 + bytes[0]!)
        : strict.decode(bytes.subarray(0, length))
    return first + asDecoded(bytes.subarray(length ?? 1))
  }
  // Lead bytes and the ends of the ranges that may follow them are what differs.
  const byte = fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf),
    fc.constantFrom(0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef),
    fc.constantFrom(0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff),
  )

  it('are each a unit of their own, and what is between them is text', () => {
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 40 }), (bytes) => {
        const name = Uint8Array.from(bytes)
        expect(nameOfBytes(name)).toBe(asDecoded(name))
        expect(new Uint8Array(bytesOfName(nameOfBytes(name)))).toEqual(name)
      }),
      { numRuns: 2000, examples: [[[...Buffer.from('\u{10ffff}\u{10000}\ufeffa\uffff')].concat(0xf4)]] },
    )
  })

  it('may be as many as there are in the longest names of a whole box', () => {
    const name = Buffer.alloc(3976, 0xff)
    const names = Array.from({ length: 1000 }, () => nameOfBytes(name))
    expect(new Set(names)).toEqual(new Set(['\udcff'.repeat(3976)]))
    expect(bytesOfName(names[0]!)).toEqual(name)
  })

  it('are none where a text has half of a pair', () => {
    expect(bytesOfName('\udcff\ud800\udc00\ud800x\ude00')).toEqual(
      Buffer.concat([Buffer.from([0xff]), Buffer.from('\u{10000}\ud800x\ude00')]),
    )
  })
})

describe('paths', () => {
  it('are absolute, and never climb above the root', () => {
    expect(boxPath('a/b', '/box')).toBe('/box/a/b')
    expect(boxPath('.', '/box')).toBe('/box')
    expect(boxPath('/a//b/../c/', '/box')).toBe('/a/c')
    expect(boxPath('../../../etc', '/box')).toBe('/etc')
    expect(boxPath('', '/box')).toBeUndefined()
    expect(boxPath('a\0b', '/box')).toBeUndefined()
    fc.assert(
      fc.property(fc.string(), (path) => {
        const whole = boxPath(path, '/box')
        if (whole !== undefined) expect(whole).toMatch(/^\/(?!.*\/\.\.(\/|$))/s)
      }),
    )
  })
})
