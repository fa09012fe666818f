import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseLimits, parseOptions, parsePrice, parseSeats, share, threshold, wholeNumber } from './parse.ts'

describe('parseLimits', () => {
  test('names, units, several at once', () => {
    expect(parseLimits(['turns=8,wall=2m', 'cost=0.5', 'tool=30'])).toEqual({
      turns: 8,
      wall: '2m',
      costUsd: 0.5,
      tool: '30s',
    })
    expect(parseLimits([])).toEqual({})
  })

  test.each([
    ['turn=8', 'did you mean "turns"'],
    ['turns', 'write name=value'],
    ['turns=0', 'above zero'],
    ['turns=1.5', 'a whole number'],
    ['turns=', 'a whole number'],
    ['wall=soon', 'milliseconds above zero or text'],
    ['wall=-1s', 'milliseconds above zero or text'],
    ['__proto__=1', 'is no limit'],
  ])('%s is refused and says what to do', (text, message) => {
    expect(() => parseLimits([text])).toThrow(
      expect.objectContaining({ code: 'limits_invalid', message: expect.stringContaining(message) }),
    )
  })
})

describe('parseOptions', () => {
  test('JSON where it is JSON, text elsewhere, "=" in values', () => {
    expect(
      parseOptions(['n=8', 'on=true', 'name=textarena', 'words=["a"]', 'q=a=b', 'id=007', 'empty=']),
    ).toEqual({
      n: 8,
      on: true,
      name: 'textarena',
      words: ['a'],
      q: 'a=b',
      id: '007',
      empty: '',
    })
  })

  test('broken JSON and a missing "=" are usage errors', () => {
    for (const text of ['words=["a"', 'nothing', '=x']) {
      expect(() => parseOptions([text])).toThrow(expect.objectContaining({ code: 'usage' }))
    }
  })

  test('no name can reach the prototype', () => {
    const options = parseOptions(['__proto__={"polluted":true}'])
    expect(Object.keys(options)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('every text that is not JSON comes back as it was typed', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        fc.pre(!/^[[{"]/.test(value))
        let wanted: unknown = value
        try {
          wanted = JSON.parse(value)
        } catch {}
        expect(parseOptions([`key=${value}`])).toEqual({ key: wanted })
      }),
    )
  })
})

test('parseSeats', () => {
  expect(parseSeats(['user=script:polite', 'judge=gpt=4'])).toEqual({ user: 'script:polite', judge: 'gpt=4' })
  expect(() => parseSeats(['user'])).toThrow(expect.objectContaining({ code: 'usage' }))
})

test('numbers of options', () => {
  expect(wholeNumber(0)('0')).toBe(0)
  expect(() => wholeNumber(1)('0')).toThrow('at least 1')
  for (const text of ['', '1.5', '-1', '1e3', 'x', '99999999999999999999'])
    expect(() => wholeNumber(0)(text)).toThrow()
  expect(share('95%')).toBe(0.95)
  expect(share('0.5')).toBe(0.5)
  for (const text of ['', '1.5', '150%', '-1', '%']) expect(() => share(text)).toThrow()
})

test('thresholds', () => {
  expect([threshold('0.8'), threshold('80%'), threshold('-2'), threshold('12.5 %')]).toEqual([
    0.8, 0.8, -2, 0.125,
  ])
  for (const text of ['', '%', 'most', '1e999', '80%%']) expect(() => threshold(text)).toThrow('such as 0.8')
})

describe('parsePrice', () => {
  test('reads dollars per million tokens', () => {
    expect(parsePrice('in=0.15,out=0.6')).toEqual({ input: 0.15, output: 0.6 })
    expect(parsePrice('out=8,in=2,cached=0.2')).toEqual({ input: 2, output: 8, cacheRead: 0.2 })
  })
  test.each(['', 'in=1', 'in=x,out=1', 'in=-1,out=1', 'input=1,out=1', 'in=1,out='])('refuses %j', (text) => {
    expect(() => parsePrice(text)).toThrow()
  })
})
