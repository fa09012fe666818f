import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJsonAt, printJson } from './json-parse.ts'

const whole = (text: string, options = {}): unknown => {
  const parsed = parseJsonAt(text, 0, options)
  return parsed.ok && text.slice(parsed.end).trim() === '' ? parsed.value : parsed
}

describe('parseJsonAt', () => {
  test('agrees with JSON.parse on every JSON text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(0, 2), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent)
        expect(whole(spaced, { duplicateKeys: 'last' })).toEqual(JSON.parse(spaced))
      }),
      { numRuns: 1000 },
    )
  })

  test('agrees with JSON.parse on what is no JSON text', () => {
    const junk = fc.array(fc.constantFrom(...'{}[]",:0123456789.eE+-truefalsn\\ \n'), { maxLength: 12 })
    fc.assert(
      fc.property(junk, (characters) => {
        const text = characters.join('')
        let accepted = true
        try {
          JSON.parse(text)
        } catch {
          accepted = false
        }
        const parsed = parseJsonAt(text, 0, { duplicateKeys: 'last' })
        expect(parsed.ok && text.slice(parsed.end).trim() === '').toBe(accepted)
      }),
      { numRuns: 5000 },
    )
  })

  test.each([
    ['{"a": 1, "a": 2}', 'duplicate_key'],
    ['{"a": {"b": 1, "b": 1}}', 'duplicate_key'],
    ['{"a" 1}', 'malformed'],
    ['', 'truncated'],
    ['[1, ', 'truncated'],
    ['"abc', 'truncated'],
    ['['.repeat(100_000), 'too_deep'],
  ])('%.20s fails as %s', (text, failure) => {
    expect(parseJsonAt(text)).toMatchObject({ ok: false, failure })
  })

  test('mends only what it is told to, and says so', () => {
    expect(parseJsonAt('[1,2,]')).toMatchObject({ ok: false })
    const parsed = parseJsonAt('{"a": [1,], "b": "x\ny",}', 0, { trailingCommas: true, rawControls: true })
    expect(parsed).toMatchObject({ ok: true, value: { a: [1], b: 'x\ny' } })
    expect(parsed.ok && [...parsed.repairs].sort()).toEqual(['raw_control', 'trailing_comma'])
  })

  test('a key named __proto__ is a key', () => {
    const value = whole('{"__proto__": {"admin": true}}') as Record<string, unknown>
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect((value as { admin?: boolean }).admin).toBeUndefined()
  })

  test.each(['12345678901234567890', '{"n":9007199254740993,"x":[1.0,1e400,-0]}', '{"id":"a","k":null}'])(
    'lossless: %s comes out as it went in',
    (text) => {
      expect(printJson(whole(text, { lossless: true }))).toBe(text)
    },
  )

  test('lone surrogates are printed as escapes', () => {
    expect(printJson({ a: 'bad \ud83d half' })).toBe('{"a":"bad \\ud83d half"}')
  })
})
