import { expect, test } from 'vitest'
import type { Estimate } from '../estimate.ts'
import { estimateTiles } from './tiles.ts'

const estimate = (value: number, interval: [number, number]): Estimate => ({
  value,
  observed: value,
  n: 9,
  planned: 9,
  tasks: { scored: 9, planned: 9 },
  interval,
  level: 0.95,
  method: 't',
  scope: 'new tasks',
  bounds: null,
})

test('headlines stand on one axis', () => {
  const [rate, reward] = [estimate(0.5, [0.2, 0.8]), estimate(0.9, [0.6, 1.2])]
  const tiles = estimateTiles(
    [
      { title: 'Success', found: rate, again: rate },
      { title: 'Mean reward', found: reward, again: reward },
    ],
    false,
  )
  const ends = tiles.map((tile) =>
    [...tile.text.matchAll(/<text class="axis[^>]*>([^<]*)</g)].map(([, text]) => text),
  )
  expect(ends).toEqual([
    ['0', '1.2'],
    ['0', '1.2'],
  ])
})
