import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bootstrapInterval, bootstrapIntervalAsync } from './bootstrap.ts'
import { bootstrapDraws, drawnFrom } from './bootstrap-draws.ts'
import { passHatK } from './pass-hat-k.ts'
import { passInterval } from './pass-interval.ts'
import { wilsonInterval } from './wilson.ts'

const single = (scores: readonly number[]) => scores.map((score) => [score])
const upTo99 = single(Array.from({ length: 100 }, (_, i) => i))

describe('bootstrapInterval', () => {
  test('of 0 to 99 lies round 49.5, by both methods', () => {
    for (const method of ['percentile', 'bca'] as const) {
      const { interval, stderr } = bootstrapInterval(upTo99, { method, seed: 1 })
      expect(interval![0]).toBeGreaterThan(43)
      expect(interval![0]).toBeLessThan(45)
      expect(interval![1]).toBeGreaterThan(54)
      expect(interval![1]).toBeLessThan(56.5)
      expect(stderr).toBeCloseTo(2.9, 1)
    }
  })

  test('equal seeds give equal intervals, other seeds others', () => {
    const first = bootstrapInterval(upTo99, { seed: 4 })
    expect(bootstrapInterval(upTo99, { seed: 4 })).toEqual(first)
    expect(bootstrapInterval(upTo99, { seed: 5 }).interval).not.toEqual(first.interval)
    expect(bootstrapInterval(upTo99, { seed: 4.5 }).interval).not.toEqual(first.interval)
  })

  test.each([
    [{ resamples: 1 }, 'resamples_too_few'],
    [{ resamples: 39 }, 'resamples_too_few'],
    [{ resamples: Number.NaN }, 'resamples_too_few'],
    [{ resamples: 100, level: 0.999 }, 'resamples_too_few'],
    [{ resamples: 1e9 }, 'resamples_too_many'],
    [{ level: 95 }, 'level_out_of_range'],
    [{ resamples: 9e6 }, 'too_much_work'],
  ])('%j is refused: %s', (options, reason) => {
    expect(bootstrapInterval(upTo99, options)).toMatchObject({ interval: null, stderr: null, reason })
  })

  test('says what cannot be drawn from', () => {
    expect(bootstrapInterval([])).toMatchObject({ mean: null, interval: null, reason: 'no_scores' })
    expect(bootstrapInterval([[Number.NaN]])).toMatchObject({ mean: null, reason: 'no_scores' })
    expect(bootstrapInterval([[1, 0]])).toMatchObject({ mean: 0.5, interval: null, reason: 'single_cluster' })
  })

  test('scores that do not differ give no interval but, for rates, a fallback that does not collapse', () => {
    const perfect = single([1, 1, 1, 1, 1])
    expect(bootstrapInterval(perfect)).toMatchObject({
      interval: null,
      reason: 'no_spread',
      fallback: { method: 'wilson', interval: wilsonInterval(5, 5) },
    })
    expect(bootstrapInterval(perfect, { fallback: 'none' }).fallback).toBeUndefined()
    expect(bootstrapInterval(perfect, { fallback: 'clopper_pearson' }).fallback?.interval[0]).toBeCloseTo(
      0.4782,
      4,
    )
    expect(bootstrapInterval(single([0.3, 0.3, 0.3])).fallback).toBeUndefined()
  })

  test('draws whole clusters: copies inside one add nothing', () => {
    const once = bootstrapInterval(single([1, 0, 1, 0.25, 0.5]), { method: 'percentile' })
    const copied = [1, 0, 1, 0.25, 0.5].map((score) => Array<number>(20).fill(score))
    expect(bootstrapInterval(copied, { method: 'percentile' }).interval).toEqual(once.interval)
  })

  test('a shift moves it and nothing else; it holds the mean', () => {
    const score = fc.integer({ min: -1000, max: 1000 }).map((value) => value / 100)
    const clusters = fc.array(fc.array(score, { minLength: 1, maxLength: 4 }), {
      minLength: 5,
      maxLength: 12,
    })
    fc.assert(
      fc.property(clusters, fc.constantFrom('percentile', 'bca'), (values, method) => {
        const here = bootstrapInterval(values, { resamples: 400, method })
        fc.pre(here.interval !== null)
        const moved = values.map((cluster) => cluster.map((value) => value + 3))
        const there = bootstrapInterval(moved, { resamples: 400, method })
        expect(there.interval![0]).toBeCloseTo(here.interval![0] + 3, 6)
        expect(there.interval![1]).toBeCloseTo(here.interval![1] + 3, 6)
        expect(here.interval![0]).toBeLessThanOrEqual(here.mean!)
        expect(here.interval![1]).toBeGreaterThanOrEqual(here.mean!)
      }),
      { numRuns: 60 },
    )
  })
})

describe('bootstrapIntervalAsync', () => {
  test('gives the same numbers, and lets others run', async () => {
    let turns = 0
    let done = false
    const other = () => {
      turns++
      if (!done) setImmediate(other)
    }
    other()
    const options = { resamples: 60_000, seed: 9 }
    const found = await bootstrapIntervalAsync(upTo99, options)
    done = true
    expect(found).toEqual(bootstrapInterval(upTo99, options))
    expect(turns).toBeGreaterThan(5)
  })

  test('a million draws fit', async () => {
    const { interval, resamples } = await bootstrapIntervalAsync(single([0, 1, 1, 0.5]), { resamples: 1e6 })
    expect(resamples).toBe(1e6)
    expect(interval![0]).toBeLessThan(0.625)
  })

  test('can be called off', async () => {
    const reason = new Error('enough')
    const drawing = bootstrapIntervalAsync(upTo99, { resamples: 1e6, signal: AbortSignal.abort(reason) })
    await expect(drawing).rejects.toBe(reason)
  })
})

test('the draws do not depend on how they are sliced', () => {
  const from = drawnFrom([[1, 0], [1], [0, 0, 1]])
  const whole = bootstrapDraws(from, { resamples: 50, seed: 2 }).next().value
  const sliced = bootstrapDraws(from, { resamples: 50, seed: 2, slice: 7 })
  let last = sliced.next()
  while (last.done !== true) last = sliced.next()
  expect(last.value).toEqual(whole)
})

describe('passInterval', () => {
  test('bootstraps over tasks, and says so', () => {
    const trials = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`t${i}`, [1, 1, Number(i > 5), Number(i > 12)]]),
    )
    const found = passInterval(passHatK, trials, 4)
    expect(found).toMatchObject({ value: 7 / 20, method: 'bca', scope: 'new tasks', tasks: 20 })
    expect(found.interval![0]).toBeGreaterThan(0.05)
    expect(found.interval![1]).toBeLessThan(0.7)
  })

  test('all tasks alike: Wilson over the tasks, not a point', () => {
    const trials = { a: [1, 1], b: [1, 1], c: [1, 1] }
    expect(passInterval(passHatK, trials, 2)).toMatchObject({
      value: 1,
      interval: wilsonInterval(3, 3),
      method: 'wilson_over_tasks',
    })
  })

  test('a missing trial is no trial', () => {
    expect(passInterval(passHatK, { a: [1, null], b: [1, 1] }, 2)).toMatchObject({
      value: null,
      interval: null,
      tasksWithoutEnoughTrials: ['a'],
      reason: 'too_few_trials',
    })
    expect(passInterval(passHatK, {}, 2)).toMatchObject({ value: null, reason: 'no_tasks' })
  })
})
