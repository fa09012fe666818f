import { expect, test } from 'vitest'
import { filterText, passes, rowFilter } from './row-filter.ts'

const code = (make: () => unknown): unknown => {
  try {
    return make()
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('a filter is a word, or a reward with its threshold, said in one of three ways', () => {
  for (const made of [rowFilter('reward>=0.5'), rowFilter('reward', 0.5), rowFilter(undefined, 0.5)])
    expect(made).toEqual({ kind: 'reward', least: 0.5 })
  expect(rowFilter('all')).toEqual({ kind: 'all' })
  expect(rowFilter(undefined)).toBeUndefined()
  expect(filterText(rowFilter('reward >= -1')!)).toBe('reward>=-1')
})

test('what is no filter is refused, and what a shell leaves of one as well', () => {
  // `--filter reward>=0.5` without quotes: the shell writes a file `=0.5`.
  expect(() => rowFilter('reward')).toThrow(/quotes/)
  for (const text of ['reward>=', 'reward>=x', 'reward>0.5', 'sucess', '', 'reward>=NaN'])
    expect(code(() => rowFilter(text))).toBe('usage')
  expect(code(() => rowFilter('success', 0.5))).toBe('usage')
  expect(code(() => rowFilter('reward>=1', 0.5))).toBe('usage')
})

test('no reward is above no threshold, and a success that nobody declared is none', () => {
  expect(passes({ kind: 'reward', least: -5 }, { reward: null, success: null })).toBe(false)
  expect(passes({ kind: 'reward', least: 0.5 }, { reward: 0.5, success: null })).toBe(true)
  expect(passes({ kind: 'success' }, { reward: 1, success: null })).toBe(false)
})
