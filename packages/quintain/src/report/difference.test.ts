import { describe, expect, test } from 'vitest'
import { createRng } from '../core/index.ts'
import { signFlips } from '../stats/index.ts'
import { detectableFrom } from './difference.ts'

/** How often sign flips find a difference that every task has with some chance, in full, and else not at all. */
function shareFound(tasks: number, chance: number, size: number): number {
  const rng = createRng(`${tasks}/${chance}`)
  const trials = 2_000
  let found = 0
  for (let trial = 0; trial < trials; trial++) {
    const differences = Array.from({ length: tasks }, () => (rng.next() < chance ? size : 0))
    const p = signFlips(differences)?.p ?? 1
    if (p <= 0.05) found++
  }
  return found / trials
}

describe('the smallest change that could have been seen', () => {
  test.each([
    [10, 2, 1],
    [20, 2, 1],
    [40, 1, 0.5],
    [30, 3, 0.25],
  ])(
    'by %d tasks of which %d differ by %d is found in four of five cases, and not much less is',
    (tasks, few, size) => {
      const differences = Array.from({ length: tasks }, (_, at) => (at < few ? size : 0))
      const change = detectableFrom(differences, 0.05)!
      expect(shareFound(tasks, change / size, size)).toBeGreaterThan(0.77)
      expect(shareFound(tasks, (0.7 * change) / size, size)).toBeLessThan(0.77)
    },
  )

  test('is none where fewer tasks were compared than an exact test needs', () => {
    expect(detectableFrom([1, 0, 1, 0, 1], 0.05)).toBeNull()
    expect(detectableFrom([1, 0, 1, 0, 1], 0.1)).not.toBeNull()
  })
})
