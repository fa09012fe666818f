import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRng } from '../core/index.ts'
import { decidedText } from './decided-text.ts'
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

describe('results that are missing', () => {
  test('count at their worst, and the state says how many tasks have any', () => {
    const watch = new UntilDecided({ repeats: 2 })
    for (const [side, seq, score] of [
      [0, 0, null],
      [0, 1, 1],
      [1, 0, 1],
      [1, 1, 1],
      [0, 2, 0],
      [0, 3, 0],
      [1, 2, 1],
      [1, 3, 1],
    ] as const) {
      watch.add({ side, seq, score })
    }
    // The first task differs by 0 to 0.5, the second by 1.
    expect(watch.state()).toMatchObject({ n: 2, missing: 1, mean: 0.625 })
    expect(watch.tasks).toBe(2)
  })

  test('failures that never come back decide nothing', () => {
    let wrong = 0
    const rounds = 60
    for (let seed = 0; seed < rounds; seed++) {
      const lose = createRng(`lost/${seed}`)
      const all = results(seed, 100, 2, [0.5, 0.5]).map((one) =>
        one.side === 1 && one.score === 0 && lose.next() < 0.5 ? { ...one, score: null } : one,
      )
      if (decidedAfter(all, 2) !== undefined) wrong++
    }
    expect(wrong / rounds).toBeLessThan(0.05 + 0.085)
  })

  test('do not hide a difference that is larger than they are', () => {
    const all = results(3, 300, 2, [0.2, 0.9]).map((one) =>
      one.seq % 9 === 0 ? { ...one, score: null } : one,
    )
    expect(decidedAfter(all, 2)).toBeLessThan(200)
  })
})

test('a decision that was taken while results were missing says so', () => {
  const decided = {
    alpha: 0.05,
    tasks: 40,
    difference: 0.4,
    interval: [0.05, 0.8],
    p: 0.04,
  } satisfies Parameters<typeof decidedText>[0]
  expect(decidedText(decided)).toMatch(/^Decided after 40 tasks: the second is better by 0\.400/)
  expect(decidedText({ ...decided, missing: 3 })).toMatch(
    /^Decided after 40 tasks, of which 3 lacked results, taken at their worst for it: the second is better/,
  )
})
