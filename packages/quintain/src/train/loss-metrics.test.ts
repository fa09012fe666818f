import { expect, test } from 'vitest'
import { mergeMetrics } from './loss-metrics.ts'

test('metrics of the parts of a batch are merged as their names say', () => {
  const parts = [
    { 'tokens:sum': 3, 'ratio:max': 2, 'ratio:min': 0.5 },
    { 'tokens:sum': 4, 'ratio:max': 1.5, 'ratio:min': 0.25 },
    { 'kl:sum': 1 },
  ]
  expect(mergeMetrics(parts)).toEqual({ 'tokens:sum': 7, 'ratio:max': 2, 'ratio:min': 0.25, 'kl:sum': 1 })
  expect(mergeMetrics([])).toEqual({})
  expect(() => mergeMetrics([{ loss: 1 }, { loss: 2 }])).toThrow('none of :sum, :max, :min')
})
