import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ArrayElements } from './array-elements.ts'

function split(text: string, sizes: readonly number[] = [], mostBytes?: number) {
  const splitter = new ArrayElements(mostBytes)
  const bytes = Buffer.from(text)
  const found: (string | undefined)[] = []
  let at = 0
  for (let i = 0; at < bytes.length; i++) {
    // One buffer, filled again and again, as a reader does.
    const chunk = Buffer.from(
      bytes.subarray(at, at + Math.max(1, sizes[i % Math.max(1, sizes.length)] ?? bytes.length)),
    )
    for (const element of splitter.push(chunk)) {
      expect(element.index).toBe(found.length)
      found.push(element.bytes?.toString())
    }
    at += chunk.length
    chunk.fill(0x2a)
  }
  return { found, end: splitter.end() }
}

test('gives every element of any array, wherever the chunks are cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom(undefined, 1, '\t'),
      (values, sizes, space) => {
        const { found, end } = split(JSON.stringify(values, null, space), sizes)
        expect(end).toBeUndefined()
        expect(found.map((text) => JSON.parse(text ?? ''))).toEqual(JSON.parse(JSON.stringify(values)))
      },
    ),
  )
})

describe('what is no whole array', () => {
  test('cut off: what was whole is given, and the end is told', () => {
    expect(split('[{"a":1}, {"a":2}, {"a":')).toEqual({ found: ['{"a":1}', ' {"a":2}'], end: 'not_closed' })
    expect(split('[1,2')).toEqual({ found: ['1'], end: 'not_closed' })
  })
  test('text behind it', () => {
    expect(split('[1]\n\0 ')).toEqual({ found: ['1'], end: undefined })
    expect(split('[1] [2]')).toEqual({ found: ['1'], end: 'trailing_text' })
  })
  test('none at all', () => {
    expect(split('{"a":1}').end).toBe('no_array')
    expect(split('[]')).toEqual({ found: [], end: undefined })
    expect(split('[ \n ]')).toEqual({ found: [], end: undefined })
  })
  test('an empty place is an element that is no JSON, but not behind a last comma', () => {
    expect(split('[1,,2,]').found).toEqual(['1', '', '2'])
  })
  test('an element beyond the limit is not held, and the next is read', () => {
    expect(split('[1,"aaaaaaaaaaaa",2]', [3], 6).found).toEqual(['1', undefined, '2'])
  })
})
