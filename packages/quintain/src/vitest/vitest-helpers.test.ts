import { describe, expect, test } from 'vitest'
import { environment } from '../core/index.ts'
import { evaluate } from '../evaluate.ts'
import { testEnvironment } from './index.ts'
import { secretStrings, standsIn } from './secret-strings.ts'

const sums = environment({
  tasks: Array.from({ length: 12 }, (_, i) => ({
    id: `sum-${i}`,
    prompt: `${i} + ${i} = ?`,
    secret: { answer: String(2 * i), note: `the-gold-${i}` },
  })),
  rewards: { exact: ({ task, transcript }) => Number(transcript.answer === task.secret.answer) },
  success: ({ rewards }) => rewards.exact === 1,
  *oracle({ task }) {
    yield task.secret.answer
  },
})

testEnvironment(sums, { tasks: 4 })

describe('matchers', () => {
  test('toReachSuccess holds the lower end of the interval against the rate', async () => {
    const good = await evaluate(sums, { policy: 'script:oracle' })
    expect(good).toReachSuccess(0.7)
    expect(good).toHaveCoverage()
    expect(() => expect(good).toReachSuccess(0.99)).toThrow(
      /lower end of the interval to reach 0.99: success 1.000/,
    )
    const silent = await evaluate(sums, { policy: 'script:noop' })
    expect(silent).not.toReachSuccess(0.1)
  })

  test('neither accepts what is no result', () => {
    expect(() => expect({}).toReachSuccess(0)).toThrow('the result of evaluate()')
    expect(() => expect(null).toHaveCoverage(0)).toThrow('the result of evaluate()')
  })
})

describe('secrets in sight', () => {
  test('texts of four characters and more, at any depth', () => {
    expect(secretStrings({ a: 'word', b: ['longer', 'no'], c: { d: ' pad ' }, e: 12345 })).toEqual([
      'word',
      'longer',
    ])
  })

  test('as words of their own, ignoring case', () => {
    expect(standsIn('The answer is CRANE.', 'crane')).toBe(true)
    expect(standsIn('cranes are birds; crane', 'crane')).toBe(true)
    expect(standsIn('cranes are birds', 'crane')).toBe(false)
    expect(standsIn('', 'crane')).toBe(false)
  })
})
