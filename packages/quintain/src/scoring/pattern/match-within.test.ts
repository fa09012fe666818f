import { describe, expect, test } from 'vitest'
import { withinProcessorTime } from '../../core/processor-budget.ts'
import { matchWithin, testWithin } from './match-within.ts'

describe('matchWithin', () => {
  test('gives every match with its groups', () => {
    const { matches } = matchWithin('(\\w)=(\\d+)', 'a=1, b=22')
    expect(matches?.map(([, name, value]) => [name, value])).toEqual([
      ['a', '1'],
      ['b', '22'],
    ])
    expect(matchWithin('x', 'abc')).toEqual({ matches: [] })
    expect(matchWithin(/B/iy, 'aB').matches).toHaveLength(1)
    expect(matchWithin('(?<=\\$)(\\d)\\1', '$77 $78').matches?.[0]?.[0]).toBe('77')
  })

  test.each([
    ['(a+)+$', `${'a'.repeat(40)}!`],
    ['(x+x+)+y', 'x'.repeat(60)],
    ['^(?:.*?,){30}P', `${'1,'.repeat(60)}`],
    ['(?:a|b|ab)*c', 'ab'.repeat(5_000_000)],
    ['\\s+$', `${' '.repeat(300_000)}x`],
  ])('breaks off %s', (pattern, text) => {
    expect(matchWithin(pattern, text, { ms: 30 })).toEqual({ error: 'deadline' })
    expect(testWithin(pattern, text, { ms: 30 })).toEqual({ error: 'deadline' })
    // The engine is as good as new.
    expect(testWithin('a', 'cat')).toEqual({ found: true })
  })

  test.each(['(', '[b-a]', 'a{2,1}', '\\', `${'('.repeat(100_000)}`, 'a{1000}{1000}{1000}'])(
    'says that %.20s is no pattern, or cannot be had in time',
    (pattern) => {
      const { error } = matchWithin(pattern, 'a'.repeat(2_000), { ms: 50 })
      expect(['invalid_pattern', 'deadline']).toContain(error)
    },
  )

  test('keeps the last of very many matches, and says so', () => {
    const { matches, cut } = matchWithin('.', `${'a'.repeat(250_000)}z`, { ms: 5_000 })
    expect([matches?.length, matches?.at(-1)?.[0], cut]).toEqual([100_000, 'z', true])
    expect(matchWithin('.', 'a'.repeat(100_000), { ms: 5_000 })).not.toHaveProperty('cut')
  })

  test('says that flags are none', () => {
    expect(matchWithin('a', 'a', { flags: 'q' })).toEqual({ error: 'invalid_pattern' })
    expect(testWithin('a', 'a', { flags: 'ii' })).toEqual({ error: 'invalid_pattern' })
  })
})

describe('the budget of patterns', () => {
  test('breaks off a loop, and one within another', () => {
    let inner: boolean | undefined
    const outer = withinProcessorTime(1_000, () => {
      inner = withinProcessorTime(20, () => {
        for (;;);
      }).done
    })
    expect([outer.done, inner]).toEqual([true, false])
  })

  test('passes on what the code throws', () => {
    expect(() =>
      withinProcessorTime(100, () => {
        throw new RangeError('mine')
      }),
    ).toThrow('mine')
  })
})
