import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng } from '../core/index.ts'
import { type SideResult, UntilDecided } from './until-decided.ts'

/** Results of two runs that succeed at these rates, repeats of a task side by side. */
function results(
  seed: number,
  tasks: number,
  repeats: number,
  rates: readonly [number, number],
): SideResult[] {
  const rng = createRng(`decided/${seed}`)
  return Array.from({ length: tasks * repeats }, (_, seq) => seq).flatMap((seq) =>
    ([0, 1] as const).map((side) => ({ side, seq, score: Number(rng.next() < rates[side]) })),
  )
}

/** Tasks after which it was decided; undefined when it never was. */
function decidedAfter(all: readonly SideResult[], repeats: number, alpha?: number): number | undefined {
  const watch = new UntilDecided({ repeats, ...(alpha === undefined ? {} : { alpha }) })
  return all.some((result) => watch.add(result) !== undefined) ? watch.tasks : undefined
}

describe('looking after every task', () => {
  test('decides where nothing differs no more often than it says', () => {
    let wrong = 0
    const rounds = 100
    for (let seed = 0; seed < rounds; seed++) {
      if (decidedAfter(results(seed, 150, 1, [0.5, 0.5]), 1) !== undefined) wrong++
    }
    // Three standard errors of 100 rounds at 5 % are 6.5 points.
    expect(wrong / rounds).toBeLessThan(0.05 + 0.065)
  })

  test('finds a large difference early', () => {
    const after = decidedAfter(results(1, 400, 2, [0.3, 0.8]), 2)
    expect(after).toBeGreaterThan(5)
    expect(after).toBeLessThan(100)
  })
})

test('what is decided does not depend on the order in which results come', () => {
  const inOrder = results(7, 60, 2, [0.2, 0.8])
  const expected = new UntilDecided({ repeats: 2 })
  for (const result of inOrder) if (expected.add(result) !== undefined) break
  fc.assert(
    fc.property(fc.shuffledSubarray(inOrder, { minLength: inOrder.length }), (shuffled) => {
      const watch = new UntilDecided({ repeats: 2 })
      for (const result of shuffled) if (watch.add(result) !== undefined) break
      expect(watch.tasks).toBe(expected.tasks)
      expect(watch.state()).toEqual(expected.state())
    }),
    { numRuns: 20 },
  )
})

test('a task without a score on a side moves nothing, and is counted', () => {
  const watch = new UntilDecided({ repeats: 1 })
  watch.add({ side: 0, seq: 0, score: null })
  watch.add({ side: 1, seq: 0, score: 1 })
  expect(watch.state()).toMatchObject({ n: 0, missing: 1, p: null })
  expect(watch.tasks).toBe(1)
})
