import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unscored } from './environment.ts'
import { checkReward } from './reward-value.ts'

describe('a reward', () => {
  test('is any finite number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(checkReward(value)).toEqual({ ok: true, value })
      }),
    )
  })

  test('may be numbers per step, whose sum counts', () => {
    const steps = [0.5, -1, 2]
    const checked = checkReward(steps)
    expect(checked).toEqual({ ok: true, value: 1.5, steps: [0.5, -1, 2] })
    // What the grader does with its list afterwards changes nothing.
    steps.push(100)
    expect(checked).toMatchObject({ steps: [0.5, -1, 2] })
  })

  test('may come with its evidence', () => {
    expect(checkReward({ value: 1, explain: { gold: 'x' } })).toEqual({
      ok: true,
      value: 1,
      explain: { gold: 'x' },
    })
    expect(checkReward({ value: [1, 2], checks: { expected: 2, run: 3 } })).toEqual({
      ok: true,
      value: 3,
      steps: [1, 2],
      checks: { expected: 2, run: 3 },
    })
    expect(checkReward({ value: unscored('no_answer'), explain: 1 })).toMatchObject({ ok: true, value: null })
  })

  test('may be declined, with a reason', () => {
    expect(checkReward(unscored('no_answer'))).toEqual({ ok: true, value: null, reason: 'no_answer' })
    expect(checkReward(unscored(''))).toMatchObject({ value: null, reason: 'no_reason_given' })
    expect(checkReward(unscored(undefined as unknown as string))).toMatchObject({ reason: 'no_reason_given' })
  })
})

describe('what is no reward', () => {
  const cycle: Record<string, unknown> = {}
  cycle['value'] = cycle
  test.each<[string, unknown, string, string | undefined]>([
    ['NaN', Number.NaN, 'reward_not_finite', 'NaN'],
    ['Infinity', Number.POSITIVE_INFINITY, 'reward_not_finite', 'Infinity'],
    ['-Infinity', Number.NEGATIVE_INFINITY, 'reward_not_finite', '-Infinity'],
    ['nothing', undefined, 'reward_not_a_number', 'nothing (undefined)'],
    ['null', null, 'reward_not_a_number', 'null'],
    ['text', '1', 'reward_not_a_number', 'a string'],
    ['true', true, 'reward_not_a_number', 'a boolean'],
    ['a bigint', 1n, 'reward_not_a_number', 'a bigint'],
    ['a boxed number', new Number(1), 'reward_not_a_number', 'an object'],
    ['a function', () => 1, 'reward_not_a_number', 'a function'],
    ['a promise', Promise.resolve(1), 'reward_not_a_number', 'an object'],
    ['a date', new Date(), 'reward_not_a_number', 'an object'],
    ['an empty list', [], 'reward_not_a_number', 'an empty list'],
    ['a list with text', [1, '2'], 'reward_not_a_number', undefined],
    // biome-ignore lint/suspicious/noSparseArray: it is what is tested
    ['a list with a hole', [1, , 2], 'reward_not_a_number', undefined],
    ['a list in a list', [[1]], 'reward_not_a_number', undefined],
    ['a list with NaN', [1, Number.NaN], 'reward_not_finite', undefined],
    ['a list whose sum is too large', [1e308, 1e308], 'reward_not_finite', undefined],
    ['a graded NaN', { value: Number.NaN }, 'reward_not_finite', 'NaN'],
    ['a graded nothing', { value: undefined }, 'reward_not_a_number', undefined],
    ['a graded null', { value: null }, 'reward_not_a_number', undefined],
    ['a graded value of itself', cycle, 'reward_not_a_number', undefined],
    ['a graded value of a graded value', { value: { value: 1 } }, 'reward_not_a_number', undefined],
    ['a score by another name', { score: 1 }, 'reward_not_a_number', 'an object'],
    ['too few checks', { value: 1, checks: { expected: 3, run: 2 } }, 'checks_missing', '2 of 3 checks ran'],
    ['uncounted checks', { value: 1, checks: { expected: Number.NaN, run: 2 } }, 'checks_missing', undefined],
    ['checks in text', { value: 1, checks: { expected: '3', run: '20' } }, 'checks_missing', undefined],
    ['checks that never ran', { value: 1, checks: { expected: 3 } }, 'checks_missing', undefined],
    ['no checks at all', { value: 1, checks: null }, 'checks_missing', undefined],
  ])('%s', (_name, value, code, detail) => {
    const checked = checkReward(value)
    expect(checked).toMatchObject({ ok: false, code, ...(detail === undefined ? {} : { detail }) })
  })

  test('never throws, and never lets through what is not finite', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withSparseArray: true }), (value) => {
        const checked = checkReward(value)
        if (!checked.ok) expect(checked.detail).not.toBe('')
        else if (checked.value !== null) expect(Number.isFinite(checked.value)).toBe(true)
      }),
    )
  })
})
