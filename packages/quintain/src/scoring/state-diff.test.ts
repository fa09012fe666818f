import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changeLines, nearestGoal, type StateRules, stateDiff, stateDigest, stateEqual } from './index.ts'

const json = fc.jsonValue({ maxDepth: 3 })

/** The same value with the keys of its objects in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reordered(inner)]),
  )
}

describe('stateDiff', () => {
  test('a state equals itself, whatever the order of its keys', () => {
    fc.assert(fc.property(json, (state) => stateEqual(state, reordered(state))))
  })

  test('one digest for equal states and two for others, under any rules', () => {
    const small = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(
          null,
          undefined,
          true,
          0,
          1,
          '1',
          'x',
          new Date(0),
          Uint8Array.of(1),
          2n ** 60n,
          '2026-03-01T00:00:00Z',
          '2026-03-01T01:00:00+01:00',
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2 }),
      ),
    })).value
    const path = fc.constantFrom('a', 'b', '*', '**.a', 'a.*', '**', 'a.b', '0', '**.0')
    const rules = fc.record({
      ignore: fc.array(path, { maxLength: 2 }),
      unordered: fc.array(path, { maxLength: 2 }),
      types: fc.dictionary(path, fc.constantFrom('datetime' as const, 'decimal' as const), { maxKeys: 2 }),
    })
    fc.assert(
      fc.property(small, small, rules, (a, b, given) => {
        expect(stateDigest(a, given) === stateDigest(b, given)).toBe(stateEqual(a, b, given))
        expect(stateEqual(a, b, given)).toBe(stateEqual(b, a, given))
      }),
      { numRuns: 2_000 },
    )
  })

  test('every changed leaf is found, and nothing else', () => {
    const table = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,4}$/),
      fc.record({ n: fc.integer(), s: fc.string() }),
      {
        minKeys: 1,
      },
    )
    fc.assert(
      fc.property(table, fc.nat(), (before, pick) => {
        const ids = Object.keys(before)
        const id = ids[pick % ids.length]!
        const after = { ...before, [id]: { ...before[id]!, n: before[id]!.n + 1 } }
        expect(stateDiff(before, after)).toEqual([
          { path: [id, 'n'], kind: 'changed', before: before[id]!.n, after: before[id]!.n + 1 },
        ])
      }),
    )
  })

  test('values are equal as what they are', () => {
    const equal: [unknown, unknown][] = [
      [10, 10.0],
      [0, -0],
      [10n, 10],
      [{ a: undefined }, {}],
    ]
    const different: [unknown, unknown][] = [
      [10, '10'],
      [1, true],
      [0, false],
      [null, 0],
      [null, ''],
      [{ a: null }, {}],
      [[], {}],
      [
        [1, 2],
        [2, 1],
      ],
      [2n ** 53n + 1n, 2n ** 53n],
      [Number.NaN, null],
      ['é', 'e\u0301'],
    ]
    for (const [a, b] of equal) expect(stateDiff(a, b)).toEqual([])
    for (const [a, b] of different) expect(stateDiff(a, b)).not.toEqual([])
  })

  test.each([
    ['datetime', '2026-03-01T00:00:00Z', '2026-03-01T01:00:00.000+01:00', true],
    ['datetime', '2026-03-01T00:00:00.1Z', '2026-03-01 00:00:00.100000Z', true],
    ['datetime', '2026-03-01T00:00:00.0000000001Z', '2026-03-01T00:00:00Z', false],
    ['datetime', '2026-03-01T00:00:00Z', '2026-03-01T00:00:00', false],
    ['datetime', '2026-02-30T00:00:00Z', '2026-03-02T00:00:00Z', false],
    ['datetime', '2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00Z', true],
    ['datetime', 'soon', 'soon', true],
    ['date', '2026-03-01', 'March 1, 2026', true],
    ['date', '2026-03-01', '1 March', false],
    ['decimal', '10.50', 10.5, true],
    ['decimal', '1e3', 1000, true],
    ['decimal', '-0.00', 0, true],
    ['decimal', '0.1', '0.10000000000000000001', false],
    ['decimal', '10,5', 10.5, false],
    ['decimal', true, 1, false],
  ] as const)('as %s %j and %j are equal: %j', (type, a, b, equal) => {
    expect(stateEqual({ at: a }, { at: b }, { types: { at: type } })).toBe(equal)
  })

  describe('what JSON has no word for', () => {
    class Money {
      readonly #cents: number
      constructor(cents: number) {
        this.#cents = cents
      }
      get cents() {
        return this.#cents
      }
    }
    const places: [string, (value: unknown) => unknown, StateRules?][] = [
      ['alone', (value) => value],
      ['in a field', (value) => ({ a: { b: value } })],
      ['in a list', (value) => [1, [value]]],
      ['in an unordered list', (value) => ({ a: [{ b: value }] }), { unordered: ['a'] }],
      ['under a type', (value) => ({ a: value }), { types: { a: 'datetime' } }],
      ['inside a value under a type', (value) => ({ a: { b: [value] } }), { types: { a: 'decimal' } }],
    ]

    test.each(places)('is compared by what it is, %s', (_, put, rules) => {
      const differ: [unknown, unknown][] = [
        [new Date(0), new Date(1)],
        [new Date(0), {}],
        [new Date(0), { $date: '1970-01-01T00:00:00.000Z' }],
        [Uint8Array.of(1), Uint8Array.of(2)],
        [Uint8Array.of(1), [1]],
        [Uint8Array.of(1), { 0: 1 }],
        [2n ** 60n, 2n ** 60n + 1n],
        [2n ** 60n, { $integer: String(2n ** 60n) }],
        [{ $integer: '1' }, { $$integer: '1' }],
        [Number.NaN, Number.POSITIVE_INFINITY],
      ]
      const equal: [unknown, unknown][] = [
        [new Date(5), new Date(5)],
        [Uint8Array.of(1, 2), Buffer.from([1, 2])],
        [2n ** 60n, 2n ** 60n],
        [Number.NaN, Number.NaN],
        [{ $date: 'x' }, { $date: 'x' }],
        [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
      ]
      for (const [a, b] of differ) {
        expect(stateDiff(put(a), put(b), rules)).not.toEqual([])
        expect(stateDigest(put(a), rules)).not.toBe(stateDigest(put(b), rules))
      }
      for (const [a, b] of equal) {
        expect(stateDiff(put(a), put(b), rules)).toEqual([])
        expect(stateDigest(put(a), rules)).toBe(stateDigest(put(b), rules))
      }
    })

    test.each(places)('or refused, %s', (_, put, rules) => {
      const refused: unknown[] = [
        new Map([[1, 2]]),
        new Set([1]),
        /a/,
        () => 1,
        Symbol('a'),
        new Money(1),
        new Date(Number.NaN),
        new Error('no'),
        new Number(1),
        new Float64Array(1),
        new ArrayBuffer(1),
        new URL('https://quintain.example'),
        Promise.resolve(),
        /a/.exec('a'),
        { [Symbol('a')]: 1 },
      ]
      const notJson = expect.objectContaining({ code: 'not_json' })
      for (const value of refused) {
        const text = String(Object.prototype.toString.call(value))
        for (const other of [value, {}, undefined, []]) {
          expect(() => stateDiff(put(value), put(other), rules), text).toThrow(notJson)
          expect(() => stateDiff(put(other), put(value), rules), text).toThrow(notJson)
        }
        expect(() => stateDigest(put(value), rules), text).toThrow(notJson)
      }
    })

    test('is refused by its place, and where it is ignored it is not looked at', () => {
      const state = { orders: { A: { seen: new Map() } } }
      expect(() => stateDiff(state, state)).toThrow(/a Map at orders\.A\.seen/)
      expect(() => stateDiff({}, state)).toThrow(/a Map at orders\.A\.seen/)
      const rules: StateRules = { ignore: ['orders.*.seen'] }
      expect(stateDiff(state, { orders: { A: { seen: new Set() } } }, rules)).toEqual([])
      expect(stateDigest(state, rules)).toBe(stateDigest({ orders: { A: {} } }, rules))
      expect(changeLines(stateDiff({ orders: {} }, state, rules))).toEqual(['orders.A: + (not plain data)'])
    })

    test('a state that holds itself is refused, and a deep one is not', () => {
      const loop = (): unknown => {
        const state: Record<string, unknown> = { list: [] }
        state['list'] = [state]
        return state
      }
      for (const rules of [{}, { unordered: ['**'] }]) {
        expect(() => stateDiff(loop(), loop(), rules)).toThrow(/holds itself/)
        expect(() => stateDigest(loop(), rules)).toThrow(/holds itself/)
      }
      const deep = (end: number): unknown => {
        let state: unknown = end
        for (let depth = 0; depth < 900; depth++) state = depth % 2 === 0 ? [state] : { a: state }
        return state
      }
      expect(stateDiff(deep(1), deep(2))).toHaveLength(1)
      expect(stateDigest(deep(1))).not.toBe(stateDigest(deep(2)))
    })

    test('undefined in a list is a thing of its own', () => {
      for (const other of [[null], [], [0]]) {
        expect(stateEqual([undefined], other)).toBe(false)
        expect(stateDigest([undefined])).not.toBe(stateDigest(other))
      }
      expect(stateEqual([undefined], Array(1))).toBe(true)
      expect(stateDigest([undefined])).toBe(stateDigest(Array(1)))
    })

    test('a Date is the instant that a datetime names', () => {
      const rules: StateRules = { types: { at: 'datetime' } }
      expect(stateEqual({ at: new Date(0) }, { at: '1970-01-01T01:00:00+01:00' }, rules)).toBe(true)
      expect(stateEqual({ at: new Date(0) }, { at: '1970-01-01T01:00:00Z' }, rules)).toBe(false)
    })
  })

  test('order and repeats count where nothing else is declared', () => {
    const rules: StateRules = { unordered: ['orders.*.tags'], ignore: ['orders.*.seen', 'orders.*.log.*.id'] }
    const order = (tags: string[], more: object = {}) => ({ orders: { A: { tags, ...more } } })
    expect(stateDiff(order(['x', 'y']), order(['y', 'x']), rules)).toEqual([])
    expect(stateDiff(order(['x', 'y']), order(['y', 'x']))).toHaveLength(2)
    expect(stateDiff(order(['x', 'x', 'y']), order(['x', 'y', 'y']), rules)).toEqual([
      { path: ['orders', 'A', 'tags'], kind: 'removed', before: 'x' },
      { path: ['orders', 'A', 'tags'], kind: 'added', after: 'y' },
    ])
    expect(stateDiff(order([], { seen: 1 }), order([], { seen: 2 }), rules)).toEqual([])
    expect(stateDiff(order([]), order([], { seen: 2 }), rules)).toEqual([])
    expect(
      stateDiff(order([], { log: [{ id: 1, t: 'a' }] }), order([], { log: [{ id: 2, t: 'a' }] }), rules),
    ).toEqual([])
    // A name is anchored at the root: what is not named is not ignored.
    expect(stateDiff({ seen: 1 }, { seen: 2 }, rules)).toHaveLength(1)
  })

  test('a path may be a list of names, for names that have dots', () => {
    expect(stateDiff({ 'a.b': 1 }, { 'a.b': 2 }, { ignore: [['a.b']] })).toEqual([])
    expect(stateDiff({ 'a.b': 1 }, { 'a.b': 2 }, { ignore: ['a.b'] })).toHaveLength(1)
  })

  test('a type that does not exist is refused', () => {
    expect(() => stateDiff(1, 1, { types: { a: 'timestamp' as 'datetime' } })).toThrow(/no type "timestamp"/)
  })

  test('differences are told line by line', () => {
    const before = { orders: { A: { status: 'placed' } }, refunds: [], old: 1 }
    const after = { orders: { A: { status: 'cancelled' } }, refunds: [{ cents: 5n }] }
    expect(changeLines(stateDiff(before, after, { unordered: ['refunds'] }))).toEqual([
      'old: - 1',
      'orders.A.status: "placed" -> "cancelled"',
      'refunds: + {"cents":5}',
    ])
  })

  test('of several goals the nearest is taken', () => {
    expect(nearestGoal([{ a: 1, b: 1 }, { a: 2, b: 2 }, { a: 3 }], { a: 2, b: 3 })).toMatchObject({ goal: 1 })
    expect(nearestGoal([{ a: 1 }, { a: 2 }], { a: 2 })).toEqual({ goal: 1, changes: [] })
    expect(nearestGoal([], {})).toBeUndefined()
  })
})
