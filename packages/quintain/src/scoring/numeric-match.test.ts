import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readNumber } from './number-read.ts'
import { matchNumber, type NumberPolicy, sameNumber } from './numeric-match.ts'

const same = (a: string, b: string, policy: NumberPolicy = {}) =>
  sameNumber(readNumber(a)!, readNumber(b)!, policy)
const match = (target: string, output: string, policy: NumberPolicy = {}) =>
  matchNumber({ target, output, policy }).correct

describe('sameNumber', () => {
  test('every digit counts, and the sign', () => {
    expect(same('123456789012345678901', '123456789012345678902')).toBe(false)
    expect(same('99999.1', '99999.4')).toBe(false)
    expect(same('-6', '6')).toBe(false)
    expect(same('0', '-0')).toBe(true)
    expect(same('0.5', '1/2')).toBe(true)
    expect(same('1/3', '0.3333333333333333')).toBe(false)
    expect(same('1e-30', '0')).toBe(false)
  })

  test('percent policies', () => {
    const pairs: [string, string, boolean, boolean, boolean][] = [
      // a, b, value, optional, ignore
      ['45%', '45 percent', true, true, true],
      ['45%', '0.45', true, true, false],
      ['45%', '45', false, true, true],
      ['45', '4500%', true, true, false],
      ['45%', '54', false, false, false],
    ]
    for (const [a, b, value, optional, ignore] of pairs) {
      expect([
        a,
        b,
        same(a, b),
        same(a, b, { percent: 'optional' }),
        same(a, b, { percent: 'ignore' }),
      ]).toEqual([a, b, value, optional, ignore])
    }
  })

  test('unit policies', () => {
    expect(same('12 cm', '12')).toBe(true)
    expect(same('12 cm', '12 m')).toBe(false)
    expect(same('12 cm', '12 m', { units: 'ignore' })).toBe(true)
    expect(same('12 cm', '12', { units: 'required' })).toBe(false)
    expect(same('$5', '5 dollars', { units: 'required' })).toBe(true)
    expect(same('$5', '500 cents')).toBe(false)
  })

  test('a tolerance is exact at its own border', () => {
    expect(same('1', '1.1', { tolerance: { abs: 0.1 } })).toBe(true)
    expect(same('1', '1.1000000000000000001', { tolerance: { abs: 0.1 } })).toBe(false)
    expect(same('200', '202', { tolerance: { rel: 0.01 } })).toBe(true)
    expect(same('200', '202.1', { tolerance: { rel: 0.01 } })).toBe(false)
    expect(same('1', '1.1', { tolerance: { abs: Number.NaN, rel: -1 } })).toBe(false)
  })

  test('equality is symmetric under every policy, and optional accepts what value does', () => {
    const number = fc
      .tuple(fc.integer({ min: -300, max: 300 }), fc.constantFrom('', '%', '.50', ' km', ' m', '/4'))
      .map(([value, tail]) => `${value}${tail}`)
    const policies = [
      {},
      { percent: 'optional' },
      { percent: 'ignore' },
      { units: 'required' },
      { units: 'ignore' },
    ] as const
    fc.assert(
      fc.property(number, number, (a, b) => {
        for (const policy of policies) expect(same(a, b, policy)).toBe(same(b, a, policy))
        if (same(a, b)) expect(same(a, b, { percent: 'optional' })).toBe(true)
        expect(same(a, a)).toBe(true)
      }),
    )
  })
})

describe('matchNumber', () => {
  test('the answer is matched, and nothing that only looks like it', () => {
    expect(matchNumber({ target: '46', output: 'The order costs $46.00 in all.' })).toEqual({
      correct: true,
      answer: '46.00',
    })
    expect(match('7', 'so we get 47')).toBe(false)
    expect(match('-6', 'it is 6')).toBe(false)
    expect(match('3', 'that is 3-5')).toBe(false)
    expect(match('25', 'That is 25 %', { percent: 'ignore' })).toBe(true)
    expect(matchNumber({ target: '5', output: 'I cannot say' })).toEqual({
      correct: false,
      answer: null,
      reason: 'no_candidate',
    })
  })

  test('a target that is no number is nobody’s score', () => {
    expect(matchNumber({ target: 'n/a', output: '5' })).toEqual({
      correct: null,
      answer: null,
      reason: 'invalid_target',
    })
  })

  test('places', () => {
    const at = (location: 'begin' | 'end' | 'any' | 'exact', output: string) =>
      matchNumber({ target: '5', output, location }).correct
    expect([at('begin', '5 or 6'), at('end', '5 or 6'), at('any', '4, 5 or 6'), at('exact', '5.')]).toEqual([
      true,
      false,
      true,
      true,
    ])
    expect(at('exact', 'It is 5')).toBe(false)
    expect(at('any', '<think>5</think> none')).toBe(false)
    expect(at('any', '<think>5')).toBe(false)
  })

  test('a pattern finds the answer: its group, or the whole match; the last one counts', () => {
    const with_ = (pattern: RegExp, output: string) => matchNumber({ target: '64', output, pattern })
    expect(with_(/\d+/, 'Result: 64').correct).toBe(true)
    expect(with_(/=(\d+)/, 'a=1, b=64').correct).toBe(true)
    expect(with_(/=(\d+)/, 'a=64, b=1').correct).toBe(false)
    expect(with_(/=(\d+)/, 'nothing')).toMatchObject({ correct: false, answer: null })
  })

  test('a changed digit, a lost sign or a moved point is never the target, whatever it is said in', () => {
    const frame = fc.constantFrom(
      (answer: string) => answer,
      (answer: string) => `So the total is ${answer}.`,
      (answer: string) => `12 + 3 = 15\n#### ${answer}`,
      (answer: string) => `**Final answer:** $${answer}`,
      (answer: string) => `\\boxed{${answer}}`,
    )
    fc.assert(
      fc.property(
        fc.integer({ min: -99_999, max: 99_999 }),
        fc.integer({ min: 1, max: 99_999 }),
        frame,
        (gold, by, say) => {
          expect(match(String(gold), say(String(gold)))).toBe(true)
          for (const wrong of [gold + by, gold - by, -gold, gold * 10]) {
            if (wrong !== gold)
              expect([wrong, match(String(gold), say(String(wrong)))]).toEqual([wrong, false])
          }
        },
      ),
    )
  })
})
