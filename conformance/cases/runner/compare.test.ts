import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCase } from './case.ts'
import { compare, show } from './compare.ts'

/** Whether a result passes, for an `expected` as it would stand in a case file. */
function passes(expected: string | object, value: unknown, tookMs = 0): boolean {
  const text = typeof expected === 'string' ? expected : JSON.stringify(expected)
  const { expected: parsed } = parseCase(`{"id":"x","input":{"op":"o"},"expected":${text}}`)
  return compare(parsed, { value, tookMs }).length === 0
}

describe('what is compared', () => {
  test('keys that are not named are not, at any depth', () => {
    expect(passes({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 })).toBe(true)
    expect(passes({ a: { b: 1 } }, { a: { c: 2 } })).toBe(false)
    expect(passes({ a: 1 }, undefined)).toBe(false)
    expect(passes({}, undefined)).toBe(false)
  })

  test('arrays are, whole and in order', () => {
    expect(passes({ a: [1, 2] }, { a: [1, 2] })).toBe(true)
    for (const a of [[2, 1], [1], [1, 2, 3], { 0: 1, 1: 2 }, '1,2', undefined]) {
      expect(passes({ a: [1, 2] }, { a })).toBe(false)
    }
  })

  test('elements of arrays are compared by the same rules', () => {
    expect(passes({ a: [{ b: 1 }, { n_lt: 3 }] }, { a: [{ b: 1, c: 2 }, { n: 2 }] })).toBe(true)
    expect(passes({ a: [{ b: 1 }, { n_lt: 3 }] }, { a: [{ b: 1 }, { n: 3 }] })).toBe(false)
  })

  test('typed arrays are arrays', () => {
    expect(passes({ ids: [1, 2] }, { ids: Int32Array.of(1, 2) })).toBe(true)
  })

  test('types are not mixed', () => {
    const values = [0, '0', false, null, '', [], {}]
    for (const wanted of values) {
      for (const given of values) {
        const same = JSON.stringify(wanted) === JSON.stringify(given)
        const anyObject = JSON.stringify(wanted) === '{}' && typeof given === 'object' && given !== null
        if (!anyObject)
          expect([wanted, given, passes({ a: wanted }, { a: given })]).toEqual([wanted, given, same])
      }
    }
  })

  test('null is a value, and nothing is not null', () => {
    expect(passes({ a: null }, { a: null })).toBe(true)
    expect(passes({ a: null }, {})).toBe(false)
    expect(passes({ a: null }, { a: undefined })).toBe(false)
  })

  test('inherited fields are none', () => {
    expect(passes({ constructor: {} }, {})).toBe(false)
  })

  test('any JSON equals itself, and stops to when a named leaf is changed', () => {
    // Names that say nothing, since a name may be a condition.
    const plain = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.integer(),
        fc.boolean(),
        fc.string(),
        fc.constant(null),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('p', 'q', 'r'), tie('value')),
      ),
    })).value
    fc.assert(
      fc.property(plain, fc.integer(), (value, leaf) => {
        expect(passes({ v: value, leaf }, { v: value, leaf, more: 1 })).toBe(true)
        expect(passes({ v: value, leaf }, { v: value, leaf: leaf + 1 })).toBe(false)
      }),
    )
  })
})

describe('numbers', () => {
  test('are equal after rounding to six decimals', () => {
    expect(passes('{"a":0.333333}', { a: 1 / 3 })).toBe(true)
    expect(passes('{"a":0.333333}', { a: 0.333334 })).toBe(false)
    expect(passes('{"a":0.5}', { a: 0.5000004 })).toBe(true)
    expect(passes('{"a":0.5}', { a: 0.50001 })).toBe(false)
    expect(passes('{"a":0.3333333333}', { a: 1 / 3 })).toBe(true)
  })

  test('to four or five where so many are given, zeros at the end too', () => {
    expect(passes('{"a":0.3333}', { a: 1 / 3 })).toBe(true)
    expect(passes('{"a":0.33333}', { a: 1 / 3 })).toBe(true)
    expect(passes('{"a":0.2500}', { a: 0.25004 })).toBe(true)
    expect(passes('{"a":0.25}', { a: 0.25004 })).toBe(false)
    expect(passes('{"a":[0.3333,0.333]}', { a: [1 / 3, 1 / 3] })).toBe(false)
    expect(passes('{"a":[0.3333,0.6667]}', { a: [1 / 3, 2 / 3] })).toBe(true)
    expect(passes('{"a":0.3333}', { a: 0.33336 })).toBe(false)
  })

  test('what is no number equals none', () => {
    for (const a of [Number.NaN, Number.POSITIVE_INFINITY, '1', 1n, null])
      expect(passes({ a: 1 }, { a })).toBe(false)
  })
})

describe('conditions', () => {
  test('bounds, on the key without the suffix', () => {
    const table: [string, number, number, boolean][] = [
      ['n_lt', 3, 2, true],
      ['n_lt', 3, 3, false],
      ['n_gt', 3, 4, true],
      ['n_gt', 3, 3, false],
      ['n_ge', 3, 3, true],
      ['n_ge', 3, 2, false],
      ['n_min', 3, 3, true],
      ['n_min', 3, 2, false],
      ['n_max', 3, 3, true],
      ['n_max', 3, 4, false],
    ]
    for (const [key, bound, n, holds] of table)
      expect([key, passes({ [key]: bound }, { n })]).toEqual([key, holds])
    for (const n of [undefined, null, '2', Number.NaN]) expect(passes({ n_lt: 3 }, { n })).toBe(false)
  })

  test('between two bounds, both of them in', () => {
    for (const [low, holds] of [
      [43, true],
      [45, true],
      [44.2, true],
      [42.9, false],
      [45.1, false],
    ] as const) {
      expect(passes({ low_between: [43, 45] }, { low })).toBe(holds)
    }
  })

  test('a field that is only called like a condition is a field', () => {
    expect(passes({ is_min: true }, { is_min: true })).toBe(true)
    expect(passes({ is_min: true }, { is_min: false })).toBe(false)
  })

  test('_contains looks in code and message, ignoring case', () => {
    expect(passes({ error_contains: 'LOGPROBS' }, { error: 'no_logprobs' })).toBe(true)
    expect(passes({ error_contains: 'install it' }, { error: 'gone', message: 'Please Install it' })).toBe(
      true,
    )
    expect(passes({ hint_contains: 'install' }, { error: 'not_installed', message: 'x' })).toBe(true)
    expect(passes({ hint_contains: 'install' }, { hint: 'run npm', error: 'not_installed' })).toBe(false)
    expect(passes({ error_contains: 'x' }, { other: 'x' })).toBe(false)
    expect(passes({ error_contains: 'x' }, {})).toBe(false)
  })

  test('contains and not_contains look at every text of the result', () => {
    const text = { contains: '{"score":3}', not_contains: '[object Object]' }
    expect(passes(text, { prompt: 'grade {"score":3}' })).toBe(true)
    expect(passes(text, 'grade {"score":3}')).toBe(true)
    expect(passes(text, { prompt: 'grade [object Object]' })).toBe(false)
    expect(passes(text, { messages: [{ content: '{"score":3} [object Object]' }] })).toBe(false)
  })

  test('the log has its own', () => {
    const wanted = { log_contains: 'TOKEN=***', log_not_contains: 'abc123' }
    expect(passes(wanted, { log: 'run TOKEN=***', args: ['TOKEN=abc123'] })).toBe(true)
    expect(passes(wanted, { log: ['TOKEN=***', 'then abc123'] })).toBe(false)
    expect(passes(wanted, { log: '' })).toBe(false)
  })

  test('has: all of these are present', () => {
    expect(passes({ has: ['a', 'b'] }, { a: 1, b: 0 })).toBe(true)
    expect(passes({ has: ['a', 'b'] }, { has: ['b', 'a', 'c'] })).toBe(true)
    expect(passes({ has: ['a', 'b'] }, { a: 1, b: null })).toBe(false)
    expect(passes({ has: ['a', 'b'] }, { a: 1 })).toBe(false)
  })

  test('contains_mean: an interval round the mean', () => {
    expect(passes({ contains_mean: 49.5 }, { low: 44, high: 55 })).toBe(true)
    expect(passes({ contains_mean: 49.5 }, { low: 50, high: 55 })).toBe(false)
    expect(passes({ contains_mean: 49.5 }, {})).toBe(false)
  })

  test('time: what the result says, or what the call took', () => {
    expect(passes({ within_ms: 100 }, {}, 50)).toBe(true)
    expect(passes({ within_ms: 100 }, {}, 150)).toBe(false)
    expect(passes({ within_ms: 100 }, { within_ms: 90 }, 150)).toBe(true)
    expect(passes({ within_ms: 100 }, { elapsed_ms: 101 }, 5)).toBe(false)
    expect(passes({ returns_within_s: 4 }, {}, 3999)).toBe(true)
    expect(passes({ returns_within_s: 4 }, {}, 4001)).toBe(false)
    expect(passes({ surfaced_within_s: 15 }, { surfaced_s: 14 })).toBe(true)
    expect(passes({ surfaced_within_s: 15 }, {}, 10)).toBe(false)
  })

  test('or_error: the whole passes with this code too', () => {
    const wanted = { calls: ['a'], or_error: 'no_tool_calls' }
    expect(passes(wanted, { calls: ['a'] })).toBe(true)
    expect(passes(wanted, { error: 'no_tool_calls' })).toBe(true)
    expect(passes(wanted, { error: 'another' })).toBe(false)
    expect(passes(wanted, { calls: [] })).toBe(false)
  })

  test('errors are compared by code, and none is null', () => {
    expect(passes({ error: 'timeout' }, { error: { code: 'timeout', message: 'm' } })).toBe(true)
    expect(passes({ error: 'timeout' }, {})).toBe(false)
    expect(passes({ error: null }, {})).toBe(true)
    expect(passes({ error: null }, { error: null })).toBe(true)
    expect(passes({ error: null }, { error: 'timeout' })).toBe(false)
  })
})

describe('parseCase', () => {
  test('refuses what is no case', () => {
    for (const text of ['null', '{}', '[1]', '{"id":"a","input":{}}', '{"id":"a","input":{"op":"x"}}']) {
      expect(() => parseCase(text)).toThrow(SyntaxError)
    }
  })
})

test('show is one short line whatever it is given', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  for (const value of [
    undefined,
    Number.NaN,
    1n,
    cycle,
    new Error('x\ny'),
    'a\nb'.repeat(1000),
    { a: undefined },
  ]) {
    expect(show(value)).toMatch(/^[^\n]{1,400}$/)
  }
  expect(show({ a: Number.NaN, b: undefined })).toBe('{"a":"<NaN>","b":"<undefined>"}')
})
