import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mcnemarPower, requiredTasksPaired, smallestDetectablePaired } from './mcnemar-power.ts'
import { plannedDetectable } from './plan-detectable.ts'
import { type Design, powerOf, requiredTasks, smallestDetectable, taskVariance } from './power.ts'

const paired = (repeats: number): Design => ({ kind: 'paired', between: 1 / 9, within: 1 / 6, repeats })

describe('the published sample sizes (Miller, arXiv 2411.00640)', () => {
  test.each([
    [Number.POSITIVE_INFINITY, 969],
    [10, 1260],
    [1, 3876],
  ])('three points at K = %d want %d tasks', (repeats, tasks) => {
    expect(requiredTasks(0.03, paired(repeats), { reference: 'normal' }).value).toBe(tasks)
    // Student's t wants two tasks more for the spread being estimated.
    expect(requiredTasks(0.03, paired(repeats)).value! - tasks).toBeLessThanOrEqual(3)
  })

  // The table of minimum detectable differences by psi and n = 7.849 psi / delta^2, in points.
  test.each([
    [100, 0.2, 12.5],
    [300, 0.2, 7.2],
    [1000, 0.1, 2.8],
    [50, 0.3, 22],
  ])('%d tasks at psi = %d find %d points', (tasks, psi, points) => {
    const design = { kind: 'constant', between: psi, within: 0, repeats: 1 } as const
    const { value } = smallestDetectable(tasks, design, { reference: 'normal' })
    expect(value! * 100).toBeCloseTo(points, points < 10 ? 1 : 0)
  })
})

describe('smallestDetectable and requiredTasks', () => {
  test('undo each other and have the power they promise', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: 400 }), fc.constantFrom(1, 2, 8), (tasks, repeats) => {
        const design = paired(repeats)
        const { value } = smallestDetectable(tasks, design)
        expect(powerOf(value!, tasks, design).value).toBeCloseTo(0.8, 6)
        expect(Math.abs(requiredTasks(value! * (1 + 1e-9), design).value! - tasks)).toBeLessThanOrEqual(1)
      }),
      { numRuns: 30 },
    )
  })

  test('more tasks and more repeats find smaller differences; repeats of few tasks soon do not', () => {
    const at = (tasks: number, repeats: number) => smallestDetectable(tasks, paired(repeats)).value!
    expect(at(60, 4)).toBeLessThan(at(30, 4))
    expect(at(30, 8)).toBeLessThan(at(30, 4))
    expect(at(60, 4)).toBeLessThan(at(30, 1000))
  })

  test('on these tasks again the variance between tasks is left out', () => {
    expect(taskVariance({ ...paired(4), scope: 'these tasks again' })).toBeCloseTo(2 / 24, 12)
    expect(taskVariance({ ...paired(4), kind: 'constant' })).toBeCloseTo(1 / 9 + 1 / 24, 12)
    expect(taskVariance({ ...paired(4), withinOther: 0, repeatsOther: 1 })).toBeCloseTo(1 / 9 + 1 / 24, 12)
  })

  test('what cannot be said is null with the reason', () => {
    expect(smallestDetectable(1, paired(4))).toEqual({ value: null, reason: 'single_task' })
    expect(smallestDetectable(2, paired(4), { largest: 1 })).toEqual({
      value: null,
      reason: 'beyond_largest',
    })
    expect(smallestDetectable(30, paired(0))).toEqual({ value: null, reason: 'bad_design' })
    expect(smallestDetectable(30, { ...paired(4), between: Number.NaN })).toMatchObject({
      reason: 'bad_design',
    })
    expect(smallestDetectable(30, { ...paired(4), between: 0, within: 0 })).toMatchObject({
      reason: 'no_variance',
    })
    expect(requiredTasks(0, paired(4))).toEqual({ value: null, reason: 'no_difference' })
    expect(requiredTasks(1.5, paired(4), { largest: 1 })).toMatchObject({ reason: 'beyond_largest' })
    expect(requiredTasks(0.1, paired(4), { alpha: 0.05, power: 1 })).toMatchObject({ reason: 'bad_design' })
  })
})

test('thirty tasks times four, before anything is known', () => {
  expect(plannedDetectable({ tasks: 30, repeats: 4 }).value).toBeCloseTo(0.233, 3)
  expect(plannedDetectable({ tasks: 30, repeats: 4, kind: 'constant' }).value).toBeLessThan(0.2)
  expect(plannedDetectable({ tasks: 1, repeats: 100 })).toEqual({ value: null, reason: 'single_task' })
  expect(plannedDetectable({ tasks: 3, repeats: 1 })).toEqual({ value: null, reason: 'beyond_largest' })
})

describe('pass or fail, one sample each', () => {
  test('no more tasks can change hands than differ', () => {
    expect(smallestDetectablePaired(50, { discordant: 0.1 })).toEqual({
      value: null,
      reason: 'exceeds_discordance',
    })
    expect(smallestDetectablePaired(50, { discordant: 0.1, test: 'formula' })).toMatchObject({ value: null })
    expect(requiredTasksPaired(0.2, { discordant: 0.1 })).toMatchObject({ reason: 'exceeds_discordance' })
    expect(mcnemarPower(0.2, 50, { discordant: 0.1 })).toMatchObject({ reason: 'exceeds_discordance' })
    expect(mcnemarPower(0.1, 0, { discordant: 0.1 })).toMatchObject({ reason: 'bad_design' })
  })

  test('the exact test wants a little more than the formula, and has the power', () => {
    const options = { discordant: 0.2 }
    const formula = requiredTasksPaired(0.05, { ...options, test: 'formula' }).value!
    const exact = requiredTasksPaired(0.05, options).value!
    // (z sqrt(0.2) + z_power sqrt(0.2 - 0.05^2))^2 / 0.05^2 = 625.5
    expect(formula).toBe(626)
    expect(exact).toBeGreaterThan(formula)
    expect(exact).toBeLessThan(1.1 * formula)
    expect(mcnemarPower(0.05, exact, options).value).toBeGreaterThanOrEqual(0.8)
    expect(mcnemarPower(0.05, exact - 1, options).value).toBeLessThan(0.8)
    expect(smallestDetectablePaired(exact, options).value).toBeCloseTo(0.05, 3)
  })

  test('six to nothing is the least that is significant', () => {
    expect(mcnemarPower(1, 5, { discordant: 1 }).value).toBe(0)
    expect(mcnemarPower(1, 6, { discordant: 1 }).value).toBeCloseTo(1, 12)
  })
})
