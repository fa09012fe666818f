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
