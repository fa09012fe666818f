import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AllowedCall,
  actionMatches,
  argumentMatches,
  callAllowed,
  callsMatchUnordered,
  pairCalls,
  sqlResultEqual,
} from './index.ts'

const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args })

describe('actionMatches', () => {
  const cancel = call('cancel', { id: 'W1', reason: 'late' })

  test('all arguments of both sides count', () => {
    expect(actionMatches(cancel, call('cancel', { reason: 'late', id: 'W1' }))).toBe(true)
    for (const args of [
      {},
      { id: 'W1' },
      { id: 'W1', reason: 'late', force: true },
      { id: 'W1', reason: 'Late' },
    ])
      expect(actionMatches(cancel, call('cancel', args)), JSON.stringify(args)).toBe(false)
    expect(actionMatches(cancel, call('refund', cancel.arguments))).toBe(false)
  })

  test('compareArgs names what counts; none at all compares the name', () => {
    expect(actionMatches(cancel, call('cancel', { id: 'W1' }), { compareArgs: ['id'] })).toBe(true)
    expect(actionMatches(cancel, call('cancel', {}), { compareArgs: ['id'] })).toBe(false)
    expect(actionMatches(cancel, call('cancel', {}), { compareArgs: [] })).toBe(true)
    expect(actionMatches(cancel, call('cancel', {}), { compareArgs: ['note'] })).toBe(true)
  })

  test('a default may be left out on either side, and its type counts', () => {
    const schema = { limit: { default: 10, type: 'integer' } }
    expect(actionMatches(call('f', {}), call('f', { limit: 10 }), { schema })).toBe(true)
    expect(actionMatches(call('f', { limit: 10 }), call('f', {}), { schema })).toBe(true)
    expect(actionMatches(call('f', {}), call('f', { limit: 11 }), { schema })).toBe(false)
    expect(actionMatches(call('f', {}), call('f', { limit: '10' }), { schema })).toBe(false)
    expect(actionMatches(call('f', {}), call('f', { toString: 1 }), { schema })).toBe(false)
  })

  test('who makes the call counts where the expected one says who', () => {
    const mine = { ...cancel, requestor: 'customer' }
    expect(actionMatches(mine, { ...cancel, requestor: 'agent' })).toBe(false)
    expect(actionMatches(mine, mine)).toBe(true)
  })
})

test.each([
  ['integer', 3, 3.0, true],
  ['integer', 3, 3.5, false],
  ['float', 3, true, false],
  ['float', '3', '3', false],
  ['boolean', true, 1, false],
  ['float[][]', [[1], [2.5]], [[1], [2.5]], true],
  ['integer[]', [1, 2], [1, true], false],
  ['integer[]', [1, 2], [2, 1], false],
  ['integer[]', [1], 1, false],
  ['array<string>', ['a'], ['a'], true],
  ['object', { a: 1, b: [2] }, { b: [2], a: 1 }, true],
  ['object', { a: 1 }, { a: 1, b: 2 }, false],
  ['string', 'x', 'X', false],
  ['string', '1', 1, false],
  ['null', null, null, true],
  ['colour', 'red', 'red', false],
])('an argument of type %s: %j is %j: %j', (type, expected, actual, match) => {
  expect(argumentMatches(type, expected, actual)).toBe(match)
})

test('arguments that are no JSON are compared by what they are, or refused', () => {
  const same = (a: unknown, b: unknown) => argumentMatches('any', a, b)
  expect(same({ at: new Date(0) }, { at: new Date(1) })).toBe(false)
  expect(same({ at: new Date(0) }, { at: new Date(0) })).toBe(true)
  expect(() => same({ at: new Map([[1, 2]]) }, { at: new Map() })).toThrow(/a Map/)
})

test('loose texts leave out case, spaces and marks, and nothing else', () => {
  const loose = (a: string, b: string) => argumentMatches('string', a, b, { strings: 'loose' })
  expect(loose('New-York, NY', 'new york ny')).toBe(true)
  expect(loose('12', '1')).toBe(false)
  expect(argumentMatches('string[]', ['A b'], ['a-B'], { strings: 'loose' })).toBe(true)
})

/** Whether some order of the calls fits, by trying all. */
function anyOrderFits(allowed: AllowedCall[], made: ReturnType<typeof call>[]): boolean {
  if (allowed.length !== made.length) return false
  if (allowed.length === 0) return true
  return made.some(
    (one, i) => callAllowed(allowed[0]!, one) && anyOrderFits(allowed.slice(1), made.toSpliced(i, 1)),
  )
}

describe('calls without order', () => {
  const value = fc.constantFrom(0, 1, 2)
  const wanted = fc.array(
    fc.record({
      name: fc.constantFrom('f', 'g'),
      arguments: fc.dictionary(
        fc.constantFrom('x', 'y'),
        fc.array(fc.option(value), { minLength: 1, maxLength: 3 }),
      ),
    }),
    { maxLength: 5 },
  )
  const made = fc.array(
    fc.record({
      name: fc.constantFrom('f', 'g'),
      arguments: fc.dictionary(fc.constantFrom('x', 'y'), value),
    }),
    { maxLength: 5 },
  )

  test('match exactly when some order does', () => {
    fc.assert(
      fc.property(wanted, made, (allowed, calls) => {
        expect(callsMatchUnordered(allowed, calls)).toBe(anyOrderFits(allowed, calls))
      }),
      { numRuns: 2_000 },
    )
  })

  test('calls made as wanted, in any order, match; one fewer or one twice does not', () => {
    fc.assert(
      fc.property(wanted, fc.nat(), (allowed, turn) => {
        const calls = allowed.map(({ name, arguments: args }) =>
          call(
            name,
            Object.fromEntries(Object.entries(args).flatMap(([key, [v]]) => (v === null ? [] : [[key, v]]))),
          ),
        )
        const at = turn % Math.max(1, calls.length)
        expect(callsMatchUnordered(allowed, [...calls.slice(at), ...calls.slice(0, at)])).toBe(true)
        if (calls.length === 0) return
        expect(callsMatchUnordered(allowed, calls.slice(1))).toBe(false)
        expect(callsMatchUnordered(allowed, [...calls, calls[0]!])).toBe(false)
      }),
    )
  })

  test('no made call is paired twice, and a long chain of swaps is found', () => {
    const allowed = Array.from({ length: 300 }, (_, i) => ({ name: 'f', arguments: { x: [i, i + 1] } }))
    const calls = Array.from({ length: 300 }, (_, i) => call('f', { x: i + 1 }))
    const pairs = pairCalls(allowed, calls)
    expect(new Set(pairs).size).toBe(300)
    expect(pairs).not.toContain(undefined)
    expect(
      callsMatchUnordered([{ name: 'f', arguments: { x: [1], y: [null] } }], [call('f', { x: 1, z: 2 })]),
    ).toBe(false)
  })
})

describe('sqlResultEqual', () => {
  const rows = fc.array(fc.array(fc.constantFrom(1, 2, '1', null, 0.5), { minLength: 2, maxLength: 2 }), {
    maxLength: 6,
  })

  test('rows are a multiset', () => {
    expect(sqlResultEqual([[1], [1], [2]], [[2], [1], [1]])).toBe(true)
    expect(sqlResultEqual([[1], [1], [2]], [[1], [2], [2]])).toBe(false)
    fc.assert(
      fc.property(rows, rows, (a, b) => {
        const count = (of: unknown[][]) => of.map((row) => JSON.stringify(row)).sort()
        expect(sqlResultEqual(a, b)).toBe(JSON.stringify(count(a)) === JSON.stringify(count(b)))
        expect(sqlResultEqual(a, a.toReversed())).toBe(true)
      }),
    )
  })

  test('order counts where it is asked for; columns and types always do', () => {
    expect(sqlResultEqual([[1], [2]], [[2], [1]], { ordered: true })).toBe(false)
    expect(sqlResultEqual([[1, 'a']], [['a', 1]])).toBe(false)
    expect(sqlResultEqual([[1]], [['1']])).toBe(false)
    expect(sqlResultEqual([[null]], [[0]])).toBe(false)
    expect(sqlResultEqual([[1]], [[1, null]])).toBe(false)
    expect(sqlResultEqual([[10n]], [[10]])).toBe(true)
    expect(sqlResultEqual([], [])).toBe(true)
  })

  test('a tolerance is absolute and declared', () => {
    expect(sqlResultEqual([[0.3]], [[0.1 + 0.2]])).toBe(false)
    expect(
      sqlResultEqual(
        [
          [0.3, 'x'],
          [1, 'y'],
        ],
        [
          [1, 'y'],
          [0.1 + 0.2, 'x'],
        ],
        { tolerance: 1e-9 },
      ),
    ).toBe(true)
    expect(sqlResultEqual([[0.3]], [[0.31]], { tolerance: 1e-9 })).toBe(false)
  })

  test('with a tolerance rows are paired, whatever stands beside their numbers', () => {
    expect(
      sqlResultEqual(
        [
          [1, 'b'],
          [1.0000001, 'a'],
        ],
        [
          [1.0000001, 'b'],
          [1, 'a'],
        ],
        { tolerance: 1e-3 },
      ),
    ).toBe(true)
    const cell = fc.oneof(
      fc.integer({ min: 0, max: 6 }),
      fc.constantFrom<unknown>('x', null, 2n, Number.NaN, new Date(0)),
    )
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 3 }), { maxLength: 5 })
    const nearCell = (a: unknown, b: unknown): boolean => {
      const [x, y] = [a, b].map((of) => (typeof of === 'bigint' ? Number(of) : of))
      return typeof x === 'number' && typeof y === 'number' && !Number.isNaN(x) && !Number.isNaN(y)
        ? Math.abs(x - y) <= 1
        : String(x) === String(y) && typeof x === typeof y
    }
    const somePairing = (a: unknown[][], b: unknown[][]): boolean =>
      a.length === b.length &&
      (a.length === 0 ||
        b.some(
          (row, i) =>
            row.length === a[0]!.length &&
            row.every((value, column) => nearCell(a[0]![column], value)) &&
            somePairing(a.slice(1), b.toSpliced(i, 1)),
        ))
    const shaken = table.chain((rows) =>
      fc.tuple(
        fc.constant(rows),
        fc
          .tuple(
            ...rows.map((row) =>
              fc.tuple(
                ...row.map((value) =>
                  fc
                    .integer({ min: -1, max: 1 })
                    .map((by) => (typeof value === 'number' ? value + by : value)),
                ),
              ),
            ),
          )
          .map((moved) => moved.toReversed()),
      ),
    )
    fc.assert(
      fc.property(fc.oneof(fc.tuple(table, table), shaken), ([a, b]) => {
        const equal = somePairing(a, b)
        expect(sqlResultEqual(a, b, { tolerance: 1 })).toBe(equal)
        expect(sqlResultEqual(b, a, { tolerance: 1 })).toBe(equal)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a cell is compared by what it is, or refused', () => {
    for (const tolerance of [0, 1e-6]) {
      expect(sqlResultEqual([[new Date(0)]], [[new Date(1)]], { tolerance })).toBe(false)
      expect(sqlResultEqual([[new Date(0)]], [[new Date(0)]], { tolerance })).toBe(true)
      expect(sqlResultEqual([[Uint8Array.of(1)]], [[Uint8Array.of(2)]], { tolerance })).toBe(false)
      expect(sqlResultEqual([[Number.NaN]], [[Number.NaN]], { tolerance })).toBe(true)
      expect(() => sqlResultEqual([[new Map()]], [[new Map()]], { tolerance })).toThrow(/a Map at 0\.0/)
    }
  })
})
