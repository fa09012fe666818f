import { describe, expect, test } from 'vitest'
import { createRng } from '../core/index.ts'
import { type Candidate, regressionOf } from './regression.ts'

/** Differences of `tasks` tasks that were tried once each: some are lost, some are gained. */
function differences(seed: number, tasks: number, lost: number, gained: number): number[] {
  const rng = createRng(`regression/${seed}`)
  return Array.from({ length: tasks }, () => {
    const draw = rng.next()
    return draw < lost ? -1 : draw < lost + gained ? 1 : 0
  })
}

/** Differences of tasks that the first run had all solved. */
const of = (differences: readonly number[]): Candidate => ({
  differences,
  worst: differences.map(() => -1),
  largest: 1,
})

const rounds = 300
function share(tasks: number, lost: number, gained: number, options = {}): number {
  let found = 0
  for (let seed = 0; seed < rounds; seed++) {
    if (regressionOf([of(differences(seed, tasks, lost, gained))], options)[0]!.regressed === true) found++
  }
  return found / rounds
}

describe('the gate', () => {
  test('cries wolf no more often than it says where nothing changed', () => {
    // Three standard errors of 300 rounds at 5 % are 3.8 points.
    expect(share(60, 0.1, 0.1)).toBeLessThan(0.05 + 0.038)
    expect(share(200, 0.15, 0.15, { alpha: 0.01 })).toBeLessThan(0.01 + 0.017)
  })

  test('lets a loss pass that is within the margin, as often as it says', () => {
    expect(share(200, 0.12, 0.1, { margin: 0.02 })).toBeLessThan(0.05 + 0.038)
  })

  test('finds a loss of the size that it says it catches, in four of five cases', () => {
    const [found] = regressionOf([of(differences(1, 200, 0.1, 0.1))], {})
    const loss = found!.catches!
    expect(loss).toBeGreaterThan(0.03)
    expect(loss).toBeLessThan(0.15)
    const rate = share(200, 0.1 + loss / 2, 0.1 - loss / 2)
    expect(rate).toBeGreaterThan(0.7)
    expect(rate).toBeLessThan(0.95)
  })
})

test('many tasks that lose a little and few that gain much are no loss', () => {
  // A tenth of the tasks goes from never to always, and the rest pays for it: the mean stays.
  const gain = 0.1
  const rng = createRng('regression/skewed')
  const passes = (rate: number) => [0, 1, 2, 3].filter(() => rng.next() < rate).length / 4
  const task = () => (rng.next() < gain ? 1 : passes(1 - gain / (1 - gain)) - 1)
  for (const [tasks, margin] of [
    [10, 0],
    [30, 0],
    [50, 0],
    [10, 0.1],
  ] as const) {
    let alarms = 0
    for (let round = 0; round < rounds; round++) {
      const found = Array.from({ length: tasks }, () => task() - margin)
      const shifted = found.map((difference) => Math.max(-1, difference))
      if (regressionOf([of(shifted)], { margin })[0]!.regressed === true) alarms++
    }
    expect(alarms / rounds, `${tasks} tasks`).toBeLessThan(0.05 + 0.038)
  }
})

test('a loss that every task shows is one, and fewer than two tasks tell nothing', () => {
  const lost = regressionOf([of(Array.from({ length: 8 }, () => -1))], {})[0]!
  expect(lost).toMatchObject({ regressed: true, doubts: [], catches: null, catchesReason: 'alike' })
  expect(lost.p).toBeCloseTo(2 ** -8, 12)
  expect(regressionOf([of(Array.from({ length: 30 }, () => 0))], {})[0]).toMatchObject({ regressed: false })
  for (const differences of [[-1], []]) {
    const found = regressionOf([of(differences)], {})[0]
    expect(found).toMatchObject({ regressed: null, p: null, doubts: ['too_few_tasks'] })
  }
})

test('several candidates share the error rate', () => {
  const worse = [...Array.from({ length: 6 }, () => -1), ...Array.from({ length: 30 }, () => 0)]
  const same = Array.from({ length: 36 }, () => 0)
  const alone = regressionOf([of(worse)], { alpha: 0.02 })[0]!
  expect(alone.regressed).toBe(true)
  expect(alone.p).toBeCloseTo(2 ** -6, 12)
  const both = regressionOf([of(worse), of(same)], { alpha: 0.02 })[0]!
  expect(both).toMatchObject({ regressed: false, doubts: [] })
  expect(both.p).toBeCloseTo(2 ** -5, 12)
})

describe('a gate that cannot fail gives no all-clear', () => {
  const zeros = (n: number) => Array.from({ length: n }, () => 0)

  test('too few tasks for any p below alpha', () => {
    expect(regressionOf([of(zeros(4))], {})[0]).toMatchObject({
      regressed: null,
      doubts: ['cannot_fail'],
      smallestP: expect.closeTo(1 / 16, 9),
    })
    expect(regressionOf([of(zeros(5))], {})[0]).toMatchObject({ regressed: false, doubts: [] })
    expect(regressionOf([of([-1, -1, -1, -1])], {})[0]).toMatchObject({
      regressed: null,
      doubts: ['cannot_fail'],
    })
  })

  test('enough for one candidate is too few for three', () => {
    const three = Array.from({ length: 3 }, () => of(zeros(5)))
    for (const { regressed, doubts } of regressionOf(three, {})) {
      expect({ regressed, doubts }).toEqual({ regressed: null, doubts: ['cannot_fail'] })
    }
  })

  test('a first run that solved next to nothing has nothing to lose', () => {
    const worst = [-1, -1, ...zeros(28)]
    const found = regressionOf([{ differences: zeros(30), worst, largest: 1 }], {})[0]
    expect(found).toMatchObject({
      regressed: null,
      doubts: ['cannot_fail'],
      smallestP: expect.closeTo(0.25, 9),
    })
  })
})
