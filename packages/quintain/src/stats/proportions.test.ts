import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { binomialProbability } from './binomial.ts'
import { clopperPearsonInterval } from './clopper-pearson.ts'
import { clusteredProportion } from './clustered-proportion.ts'
import { wilsonInterval } from './wilson.ts'

describe('wilsonInterval', () => {
  test.each([
    [0, 10, 0, 0.27753279986288926],
    [3, 10, 0.10779126740630102, 0.6032218525388546],
    [10, 10, 0.7224672001371109, 1],
    [999, 1000, 0.9943574414020421, 0.9998234536293739],
    [1, 1, 0.20654931437723745, 1],
  ])('%d of %d as SciPy has it', (k, n, low, high) => {
    const interval = wilsonInterval(k, n)
    expect(interval?.[0]).toBeCloseTo(low, 10)
    expect(interval?.[1]).toBeCloseTo(high, 10)
  })

  test('what is no proportion has no interval', () => {
    expect(wilsonInterval(0, 0)).toBeNull()
    expect(wilsonInterval(2, 1)).toBeNull()
    expect(wilsonInterval(-1, 5)).toBeNull()
    expect(wilsonInterval(Number.NaN, 5)).toBeNull()
    expect(wilsonInterval(1, 5, 1)).toBeNull()
  })
})

describe('clopperPearsonInterval', () => {
  test.each([
    [0, 10, 0, 0.3084971078187607],
    [3, 10, 0.06673951117773447, 0.6524528500599973],
    [10, 10, 0.6915028921812392, 1],
    [50, 1000, 0.03733539760466178, 0.06539048791549364],
  ])('%d of %d as SciPy has it', (k, n, low, high) => {
    const interval = clopperPearsonInterval(k, n)
    expect(interval?.[0]).toBeCloseTo(low, 9)
    expect(interval?.[1]).toBeCloseTo(high, 9)
  })

  test('counts must be whole', () => {
    expect(clopperPearsonInterval(1.5, 3)).toBeNull()
    expect(clopperPearsonInterval(4, 3)).toBeNull()
  })
})

/** How often an interval of k in n holds p: by every outcome and its probability, no simulation. */
function exactCoverage(interval: typeof wilsonInterval, n: number, p: number): number {
  let covered = 0
  for (let k = 0; k <= n; k++) {
    const [low, high] = interval(k, n)!
    if (low <= p && p <= high) covered += binomialProbability(k, n, p)
  }
  return covered
}

test.each([5, 10, 30, 60])('coverage at n = %d, worked out exactly', (n) => {
  const shares = Array.from({ length: 99 }, (_, i) => (i + 1) / 100)
  const wilson = shares.map((p) => exactCoverage(wilsonInterval, n, p))
  const exact = shares.map((p) => exactCoverage(clopperPearsonInterval, n, p))
  // Clopper-Pearson never covers less than it says; Wilson covers so much on average, and dips near the ends.
  expect(Math.min(...exact)).toBeGreaterThanOrEqual(0.95)
  expect(wilson.reduce((sum, value) => sum + value, 0) / wilson.length).toBeGreaterThan(0.948)
  expect(Math.min(...wilson)).toBeGreaterThan(0.83)
})

test('intervals hold the estimate, lie in [0, 1], and mirror when success and failure are swapped', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, share) => {
      const k = Math.round(n * share)
      for (const interval of [wilsonInterval, clopperPearsonInterval]) {
        const found = interval(k, n)
        const mirror = interval(n - k, n)
        expect(found?.[0]).toBeGreaterThanOrEqual(0)
        expect(found?.[0]).toBeLessThanOrEqual(k / n)
        expect(found?.[1]).toBeGreaterThanOrEqual(k / n)
        expect(found?.[1]).toBeLessThanOrEqual(1)
        expect((found?.[0] ?? 9) + (mirror?.[1] ?? 9)).toBeCloseTo(1, 9)
      }
    }),
  )
})

describe('clusteredProportion', () => {
  test('is Wilson when every cluster has one score', () => {
    const found = clusteredProportion([[1], [0], [1], [1]])
    expect(found.method).toBe('wilson')
    expect(found.interval).toEqual(wilsonInterval(3, 4))
  })

  test('eight of eight in two clusters is two of two, not eight of eight', () => {
    const found = clusteredProportion([
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ])
    expect(found.method).toBe('wilson_over_clusters')
    expect(found.interval).toEqual(wilsonInterval(2, 2))
  })

  test('repeats that agree inside tasks widen the interval; repeats that do not add as much as they should', () => {
    const rigid = clusteredProportion(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? [1, 1, 1, 1] : [0, 0, 0, 0])),
    )
    const loose = clusteredProportion(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? [1, 0, 1, 0] : [0, 1, 1, 0])),
    )
    const width = (interval: [number, number] | null) => (interval ? interval[1] - interval[0] : Number.NaN)
    expect(width(rigid.interval)).toBeGreaterThan(width(wilsonInterval(40, 80)) * 1.5)
    expect(loose.interval?.[0]).toBeGreaterThanOrEqual(0)
  })

  test('one cluster gives no interval, and says why', () => {
    expect(clusteredProportion([[1, 0, 1]])).toMatchObject({ interval: null, reason: 'single_cluster' })
    expect(clusteredProportion([])).toMatchObject({ mean: null, interval: null, reason: 'no_scores' })
  })

  test('covers the truth about as often as it says, where tasks differ', () => {
    // 30 tasks of 4 repeats, task rates 0.1 or 0.9; a plain interval over 120 trials would cover near 0.7.
    let state = 12345
    const random = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return state / 2 ** 32
    }
    let covered = 0
    const runs = 2000
    for (let run = 0; run < runs; run++) {
      const tasks = Array.from({ length: 30 }, () => {
        const rate = random() < 0.5 ? 0.1 : 0.9
        return Array.from({ length: 4 }, () => Number(random() < rate))
      })
      const interval = clusteredProportion(tasks).interval
      if (interval && interval[0] <= 0.5 && 0.5 <= interval[1]) covered++
    }
    expect(covered / runs).toBeGreaterThan(0.93)
    expect(covered / runs).toBeLessThan(0.98)
  })

  test('always lies in [0, 1] round the mean', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 6 }), {
          minLength: 2,
          maxLength: 30,
        }),
        (clusters) => {
          const { mean, interval } = clusteredProportion(clusters)
          expect(interval).not.toBeNull()
          expect(interval![0]).toBeGreaterThanOrEqual(0)
          expect(interval![0]).toBeLessThanOrEqual(mean! + 1e-12)
          expect(interval![1]).toBeGreaterThanOrEqual(mean! - 1e-12)
          expect(interval![1]).toBeLessThanOrEqual(1)
        },
      ),
    )
  })
})
