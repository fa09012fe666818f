import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Limits } from './environment.ts'
import { resolveLimits } from './limits.ts'

const defaults = { wallMs: 3_600_000, toolMs: 60_000, gradeMs: 120_000 }

test('without any limits the defaults are in force', () => {
  expect(resolveLimits()).toEqual(defaults)
  expect(resolveLimits(undefined, {}, undefined)).toEqual(defaults)
})

test('a later layer wins, field by field', () => {
  const resolved = resolveLimits({ turns: 5, wall: '2m' }, undefined, { turns: 3, tokens: 100 })
  expect(resolved).toEqual({ ...defaults, turns: 3, tokens: 100, wallMs: 120_000 })
})

test('a field that is undefined leaves the earlier one in force', () => {
  expect(resolveLimits({ turns: 5 }, { turns: undefined } as unknown as Limits).turns).toBe(5)
})

test('infinity takes a limit away, and what is resolved survives JSON', () => {
  const resolved = resolveLimits({ turns: 5, costUsd: 0.5 }, { turns: Number.POSITIVE_INFINITY })
  expect(resolved).toEqual({ ...defaults, costUsd: 0.5 })
  expect(JSON.parse(JSON.stringify(resolved))).toEqual(resolved)
})

test('layers can be merged one after another or all at once', () => {
  const layer: fc.Arbitrary<Limits> = fc.record(
    {
      turns: fc.integer({ min: 1, max: 99 }),
      tokens: fc.integer({ min: 1, max: 99 }),
      wall: fc.integer({ min: 1, max: 99 }),
      grade: fc.constantFrom('1s' as const, '2m' as const),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(layer, layer, layer, (a, b, c) => {
      expect(resolveLimits(a, b, c)).toEqual(resolveLimits({ ...a, ...b }, c))
      expect(resolveLimits(a, a)).toEqual(resolveLimits(a))
    }),
  )
})

test('an unknown limit is refused and the nearest named', () => {
  expect(() => resolveLimits({ turn: 5 } as Limits)).toThrow(
    expect.objectContaining({
      code: 'limits_invalid',
      message: 'unknown limit "turn", did you mean "turns"?',
    }),
  )
  expect(() => resolveLimits(JSON.parse('{"__proto__":{"turns":1}}') as Limits)).toThrow('unknown limit')
})

test.each([
  ['turns', 0],
  ['turns', -1],
  ['turns', Number.NaN],
  ['turns', '5'],
  ['turns', null],
  ['tokens', 1n],
  ['costUsd', 0],
  ['wall', '0s'],
  ['tool', null],
  ['grade', 'soon'],
])('limit %s of %s is refused by name', (name, value) => {
  expect(() => resolveLimits({ [name]: value } as Limits)).toThrow(
    expect.objectContaining({ code: 'limits_invalid', message: expect.stringContaining(`limit ${name}`) }),
  )
})
