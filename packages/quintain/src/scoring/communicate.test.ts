import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admitTask, communicated, composeReward, daysIn, lintTask, numbersIn, onlyValue } from './index.ts'

test.each([
  ['1,250', 'Your refund is 1,250 dollars.', true],
  ['1250', 'Your refund is $1,250.00.', true],
  ['1,250', 'Your refund is 1250 dollars', true],
  ['1,250', 'Your refund is 11,250 dollars.', false],
  ['1,250', 'Your refund is 1,2501 dollars.', false],
  ['250', 'Your refund is 1,250 dollars.', false],
  ['10', 'It takes 100 days.', false],
  ['10', 'It takes 10.5 days.', false],
  ['10', 'That is 10.', true],
  ['10', 'A discount of 10%.', false],
  ['10%', 'A discount of 10 percent.', true],
  ['-5', 'The balance is 5.', false],
  ['5', 'The balance is -5.', false],
  ['5', 'Between 2-5 days', false],
  ['5', 'Order A5 is on its way', false],
  ['1250', 'It is not 1,250 dollars but 1,300.', false],
  ['1250', "It isn't for $1,250.", false],
  ['1250', 'I could not find it at first. It is 1,250.', true],
  ['327', 'You will not get 327', false],
  ['327', 'It cannot be 327.', false],
  ['327', 'It can’t possibly be more or less 327.', false],
  ['327', 'You wont get back the 327 that you paid.', false],
  ['327', 'There is no refund of 327.', false],
  ['327', 'We have never charged anybody $327.', false],
  ['327', 'It is not 300, 320 or 327.', false],
  ['327', 'You get neither 300 nor 327.', false],
  ['327', 'I cannot refund the shipping, but you get 327.', true],
  ['327', 'I cannot refund the shipping and you get 327.', true],
  ['327', 'I could not find it at first, it is 327.', true],
  ['327', 'It is not 300 but 327.', true],
  ['327', 'You will not get 300. You get 327.', true],
  ['327', 'You get 327, not 300.', true],
  ['327', 'That is not a problem: 327 it is.', true],
  ['327', 'No, it is 327.', true],
  ['327', 'Your ticket is no 327.', true],
  ['327', 'You will not pay more than 327.', true],
  ['2026-05-22', 'It will not ship until 22 May.', true],
  ['2026-05-22', 'It does not ship on 22 May.', false],
  ['gold', 'You do not have a gold account.', false],
  ['3 000', 'You have 3,000 points.', true],
  ['gold', 'You are a GOLD member.', true],
  ['gold', 'A golden frame.', false],
  ['basic economy', 'It is basic-economy.', true],
  ['basic economy', 'Basic, and then economy.', false],
  ['no', 'In November.', false],
  ['W1234', 'order #w1234 is shipped', true],
  ['W1234', 'order W12345 is shipped', false],
  ['eligible', 'You are not eligible.', false],
  ['2026-05-22', 'We deliver on May 22nd.', true],
  ['2026-05-22', 'We deliver on 22 May 2026.', true],
  ['May 22', 'We deliver on 2026-05-22.', true],
  ['2026-05-22', 'We deliver on May 12.', false],
  ['2026-05-22', 'Reference 12026-05-221.', false],
  ['22', 'We deliver on 22 May.', false],
  ['', 'anything', false],
  ['10', '', false],
])('%j is told by %j: %j', (info, message, met) => {
  expect(communicated(info, [message])).toBe(met)
  expect(communicated(info, ['Hello there.', message])).toBe(met)
})

describe('units', () => {
  test('a number is found in any grouping, and never inside another', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10 ** 9 }), fc.nat({ max: 10 ** 9 }), (a, b) => {
        expect(communicated(String(a), [`It is ${a.toLocaleString('en')}.`])).toBe(true)
        expect(communicated(a.toLocaleString('en'), [`€${a}.00 it is`])).toBe(true)
        if (a !== b) expect(communicated(String(a), [`It is ${b}, or ${b.toLocaleString('en')}`])).toBe(false)
      }),
    )
  })

  test('numbersIn tells money and percent', () => {
    expect(
      numbersIn('€ 12.50, 12.50, 15 EUR, 15%, 3 items, $1,000').map(({ value, money }) => [value, money]),
    ).toEqual([
      ['12.5', true],
      ['12.5', true],
      ['15', true],
      ['15', false],
      ['3', false],
      ['1000', true],
    ])
  })

  test('reading any text takes no time and never throws', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => Array.isArray(numbersIn(text))))
    const long = '1,1'.repeat(50_000) + ' '.repeat(50_000)
    expect(numbersIn(long)).toEqual([])
    expect(daysIn('May 1'.repeat(20_000))).toEqual([])
  })

  test('daysIn reads what is plain and leaves what is not', () => {
    const text =
      'On 2026-02-28, Feb 29 2027, February 29, the 3rd of Sept. 2026, 5/6/2026 or 31 June; mayor 5'
    expect(daysIn(text).map(({ date }) => date)).toEqual(['2026-02-28', '--02-29', '2026-09-03'])
    expect(daysIn('2026-3-1 to 2026-03-15, not 2026-13-1').map(({ date }) => date)).toEqual([
      '2026-03-01',
      '2026-03-15',
    ])
  })

  test('an answer of several values tells none', () => {
    expect(onlyValue(['5', '5'])).toBe('5')
    expect(onlyValue(['5', '6'])).toBeUndefined()
    expect(onlyValue([])).toBeUndefined()
  })
})

test('a reward counts its basis, shows the rest, and is no number where a part is missing', () => {
  expect(composeReward(['DB', 'COMMUNICATE'], { DB: 1, COMMUNICATE: 0.5, ACTION: 0 })).toEqual({
    reward: 0.5,
    unused: ['ACTION'],
    missing: [],
  })
  expect(composeReward(['DB', 'NL'], { DB: 1 })).toEqual({ reward: null, unused: [], missing: ['NL'] })
  expect(composeReward(['DB'], { DB: null })).toMatchObject({ reward: null, missing: ['DB'] })
  expect(composeReward(['DB'], { DB: Number.NaN })).toMatchObject({ reward: null, missing: ['DB'] })
  expect(composeReward([], { DB: 1 })).toEqual({ reward: null, unused: ['DB'], missing: [] })
  expect(composeReward(['toString'], {})).toMatchObject({ reward: null })
  expect(composeReward(['DB', 'DB'], { DB: 0.5 }).reward).toBe(0.5)
})

test('a task is admitted when gold succeeds and doing nothing does not', () => {
  expect(admitTask({ goldReward: 1, nullReward: 0 })).toEqual({ valid: true, reason: null })
  expect(admitTask({ goldFailed: true, goldReward: 1, nullReward: 0 }).reason).toBe('gold_action_failed')
  expect(admitTask({ goldReward: 0.5, nullReward: 0 }).reason).toBe('gold_fails')
  expect(admitTask({ goldReward: null }).reason).toBe('gold_fails')
  expect(admitTask({ goldRuns: [true, true], nullReward: 0 }).valid).toBe(true)
  expect(admitTask({ goldRuns: [true, false, true] }).reason).toBe('gold_flaky')
  expect(admitTask({ goldRuns: [false, false] }).reason).toBe('gold_fails')
  expect(admitTask({ goldReward: 1, nullReward: 1 }).reason).toBe('null_agent_passes')
  expect(admitTask({ goldReward: 1, nullReward: 0.6, successAt: 0.5 }).reason).toBe('null_agent_passes')
})

test('words and gold actions that name different days are found', () => {
  const lint = (date: string, text: string) =>
    lintTask({ goldActions: [{ arguments: { date } }], texts: [text] })
  expect(lint('2026-05-22', 'searched flights for May 12 2026')).toEqual(['date_mismatch'])
  expect(lint('2026-05-22', 'searched flights for 22 May')).toEqual([])
  expect(lint('2026-05-22', 'searched flights')).toEqual([])
  expect(lint('W1', 'on May 12')).toEqual([])
})
