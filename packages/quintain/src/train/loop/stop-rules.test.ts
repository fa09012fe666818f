import { describe, expect, test } from 'vitest'
import { madeUpEnd, madeUpEvaluation, madeUpStep, madeUpSteps } from '../__fixtures__/made-up-history.ts'
import { bestOf, stopOf } from './stop-rules.ts'

test('the best checkpoint is the earliest of equals, and the start only where nothing is as good', () => {
  const best = (...successes: number[]) =>
    bestOf(successes.map((success, at) => madeUpEvaluation(10 * at, success)))?.step
  expect([best(0.2, 0.4, 0.4), best(0.4, 0.3), best(0, 0, 0), best()]).toEqual([10, 0, 10, undefined])
})

describe('a training stops', () => {
  test('not while it gets better', () => {
    const steps = madeUpSteps(40, (step) => ({ success: step / 40, rewardMean: step / 40 }))
    const evaluations = [0, 10, 20, 30].map((step) => madeUpEvaluation(step, 0.1 + step / 100))
    expect(stopOf([...steps, ...evaluations], { plateau: 2 })).toBeUndefined()
  })

  test.each([
    ['seconds', { seconds: 12 }, 12],
    ['rollouts', { rollouts: 64 * 5 }, 5],
    ['tokens', { tokens: 64 * 40 * 7 }, 7],
  ] as const)('when its budget of %s is spent, and not before', (_, budget, at) => {
    expect(stopOf(madeUpSteps(at - 1), { budget })).toBeUndefined()
    expect(stopOf(madeUpSteps(at), { budget })?.reason).toBe('budget')
  })

  test('on a plateau of validation, not by other evaluations', () => {
    const rising = madeUpSteps(30, (step) => ({ success: step / 30 }))
    const evaluations = [
      madeUpEvaluation(0, 0.2),
      madeUpEvaluation(10, 0.6),
      madeUpEvaluation(20, 0.6),
      madeUpEvaluation(20, 0.1, { role: 'train' }),
      madeUpEvaluation(20, 0.1, { temperature: 0 }),
    ]
    expect(stopOf([...rising, ...evaluations], { plateau: 2 })).toBeUndefined()
    const further = madeUpEvaluation(30, 0.5)
    expect(stopOf([...rising, ...evaluations, further], { plateau: 2 })).toMatchObject({
      reason: 'plateau',
      says: expect.stringContaining('0.6 of step 10'),
    })
  })

  test('when success falls far below its best, unless that is not wanted', () => {
    const steps = madeUpSteps(30, (step) => ({ success: step < 15 ? 0.7 : 0.2 }))
    expect(stopOf(steps, {})?.reason).toBe('collapse')
    expect(stopOf(steps, { collapse: false })).toBeUndefined()
    // One bad step is none.
    expect(stopOf([...madeUpSteps(20), madeUpStep(21, { success: 0 })], {})).toBeUndefined()
  })

  test('when validation falls far below where it began, before rollouts are enough to tell', () => {
    const began = madeUpEvaluation(0, 0.7, { interval: [0.54, 0.82] })
    const after = (success: number, interval: [number, number]) => [
      ...[began, ...madeUpSteps(2, () => ({ success })), madeUpEvaluation(2, success, { interval })],
    ]
    expect(stopOf(after(0, [0, 0.1]), {})).toMatchObject({
      reason: 'collapse',
      says: expect.stringMatching(/fallen to 0 \(step 2\) from 0\.7 \(step 0\).*lower learning rate/),
    })
    expect(stopOf(after(0, [0, 0.1]), { collapse: false })).toBeUndefined()
    // Of so few tasks it says little.
    expect(stopOf(after(0, [0, 0.43]), {})).toBeUndefined()
    expect(stopOf(after(0.4, [0.26, 0.55]), {})).toBeUndefined()
  })

  test('when it plays one game while rewards fall, and not when it plays one good game', () => {
    const cold = (step: number) => ({ entropy: step < 15 ? 1 : 0.001, success: null })
    const falls = madeUpSteps(30, (step) => ({ ...cold(step), rewardMean: step < 15 ? 0.9 : 0.1 }))
    expect(stopOf(falls, {})?.reason).toBe('collapse')
    const holds = madeUpSteps(30, (step) => ({ ...cold(step), rewardMean: 0.9 }))
    expect(stopOf(holds, {})).toBeUndefined()
  })

  test('after three steps in a row without a group to learn from', () => {
    const dead = { groups: [], left: { zero_variance: 48 }, success: 0 }
    const steps = [...madeUpSteps(4), madeUpStep(5, dead), madeUpStep(6, dead)]
    expect(stopOf(steps, {})).toBeUndefined()
    expect(stopOf([...steps, madeUpStep(7, dead)], {})).toMatchObject({
      reason: 'all_dead',
      says: expect.stringMatching(/48 of equal rewards.*came to the same reward.*too hard/),
    })
    // A policy that sampled nothing is no task that is too hard.
    const mute = [1, 2, 3].map((step) => madeUpStep(step, { ...dead, left: { untrainable: 8 } }))
    expect(stopOf(mute, {})?.says).toMatch(/8 without tokens to learn from.*sampled nothing/)
    expect(stopOf(mute, {})?.says).not.toMatch(/same reward|too hard/)
  })

  test('at once when nothing is scored, with the reason', () => {
    const step = madeUpStep(1, { groups: [], left: { unscored: 3 }, scored: 0 })
    expect(stopOf([step], {}, 'the judge is out of credit')).toMatchObject({
      reason: 'all_unscored',
      says: expect.stringContaining('the judge is out of credit'),
    })
  })

  test('where it was killed just as if it had not been; taken up after its end it goes on', () => {
    const fallen = madeUpSteps(30, (step) => ({ success: step < 15 ? 0.7 : 0.2 }))
    expect(stopOf(fallen, {})?.reason).toBe('collapse')
    expect(stopOf([...fallen, madeUpEnd(30, 'collapse')], {})).toBeUndefined()
    expect(stopOf([...fallen, madeUpEnd(30, 'budget')], { budget: { seconds: 30 } })?.reason).toBe('budget')
  })
})
