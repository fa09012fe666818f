import { describe, expect, test } from 'vitest'
import { foldRun } from '../../core/index.ts'
import type { StepLine, StepRecord } from '../records.ts'
import { readTraining } from '../training-folder.ts'
import { echo, echoAlgorithm, echoTraining } from './__fixtures__/echo.ts'
import { train } from './train.ts'
import type { TrainOptions } from './train-options.ts'

/** No step takes nearly as long here. */
const stallMs = 3_000

/**
 * A training in which some rollouts are held up: `hold` says how many steps must be made before the nth rollout of a task is
 * graded. By steps and not by the clock, so that nothing here depends on how quick a machine is. On a slow one a rollout may
 * be graded so late that the step that it waits for waits for it: what is held is let go where no step is made any more.
 */
async function heldTraining(
  options: Partial<TrainOptions>,
  hold: (task: string, nth: number) => number = () => 0,
) {
  const steps = options.steps ?? 8
  const held: { until: number; go: () => void }[] = []
  const counts = new Map<string, number>()
  let made = 0
  const env = echo({
    train: 24,
    reward: async (said, wanted, task) => {
      const nth = counts.get(task) ?? 0
      counts.set(task, nth + 1)
      const until = Math.min(steps, made + hold(task, nth))
      if (until > made) await new Promise<void>((go) => held.push({ until, go }))
      return said.filter((letter) => letter === wanted).length / 2
    },
  })
  const onStep = ({ step }: StepRecord) => {
    made = step
    for (const { until, go } of held) if (until <= made) go()
  }
  let seen = 0
  const stall = setInterval(() => {
    if (made === seen) for (const { go } of held.splice(0)) go()
    seen = made
  }, stallMs)
  const end = await train(await echoTraining({ env, ...options, steps, onStep })).finally(() =>
    clearInterval(stall),
  )
  const { lines } = await readTraining(end.dir)
  const { states } = await foldRun(end.dir)
  const recorded = lines.filter((line: StepLine): line is StepRecord => line.kind === 'step')
  return { ...end, lines, steps: recorded, states }
}

/** The tasks of the first draws of the seed are among these, each time around. */
const slowTasks = new Set(['train-0', 'train-5', 'train-11', 'train-17', 'train-22'])
const isSlow = (task: string, _nth?: number) => slowTasks.has(task)

type Played = Awaited<ReturnType<typeof heldTraining>>

/** Every order of the plan is consumed by one step, left by one with a reason, or open at the end. */
function expectAccounted({ steps, lines, states }: Played): void {
  const end = lines.at(-1)!
  const groups = [
    ...steps.flatMap((step) => [...step.groups, ...(step.leftGroups ?? [])]),
    ...(end.kind === 'end' ? (end.open ?? []) : []),
  ]
  const orders = groups.flatMap((group) => group.orders)
  expect(new Set(orders).size).toBe(orders.length)
  expect(orders.sort()).toEqual(states.map(({ order }) => order.id).sort())
}

describe('stragglers', () => {
  test('wait: each step has all of its groups', async () => {
    const played = await heldTraining({})
    expect(played.reason).toBe('done')
    expectAccounted(played)
    for (const { groups, staleness } of played.steps) {
      expect(groups.every(({ orders }) => orders.length === 6)).toBe(true)
      expect(staleness.max).toBe(0)
    }
  })

  test('over_order: a step takes the first that are whole; the others go on and come later', async () => {
    const played = await heldTraining({ stragglers: { policy: 'over_order', extra: 2 } }, (task) =>
      Number(isSlow(task)),
    )
    expect(played.reason).toBe('done')
    expectAccounted(played)
    expect(played.steps.every(({ groups }) => groups.length === 3)).toBe(true)
    const places = played.steps.flatMap(({ groups }) => groups.map(({ id }) => Number(id.slice(1))))
    expect(places).not.toEqual([...places].sort((a, b) => a - b))
    expect(Math.max(...played.steps.map(({ staleness }) => staleness.max))).toBeGreaterThan(0)
  })

  test('resume_long: a step begins with a share of its groups, and the rest counts for the next', async () => {
    const algorithm = echoAlgorithm({ groups: 4 })
    const played = await heldTraining(
      { algorithm, stragglers: { policy: 'resume_long', share: 0.5 } },
      (task) => Number(isSlow(task)),
    )
    expect(played.reason).toBe('done')
    expectAccounted(played)
    const sizes = played.steps.map(({ groups }) => groups.length)
    expect(Math.min(...sizes)).toBeLessThan(4)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(4)
  })

  test('partial_groups: parts of groups are learned from, and what comes late is counted', async () => {
    const played = await heldTraining(
      { stragglers: { policy: 'partial_groups', atLeast: 3, share: 0.8 } },
      (task, nth) => Number(isSlow(task) && nth === 2),
    )
    expect(played.reason).toBe('done')
    expectAccounted(played)
    const sizes = played.steps.flatMap(({ groups }) => groups.map(({ orders }) => orders.length))
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(3)
    expect(sizes.some((size) => size < 6)).toBe(true)
    const late = played.steps.reduce((sum, { left }) => sum + (left['late'] ?? 0), 0)
    expect(late).toBeGreaterThan(0)
  })
})

describe('asynchronous training', () => {
  test.each([1, 2])('learns from nothing that is more than %i steps old', async (bound) => {
    const algorithm = echoAlgorithm({ minibatches: 2, groups: 4 })
    const played = await heldTraining({ algorithm, mode: { async: bound } }, (task) =>
      Number(task === 'train-5'),
    )
    expect(played.reason).toBe('done')
    expectAccounted(played)
    const oldest = Math.max(...played.steps.map(({ staleness }) => staleness.max))
    expect(oldest).toBeGreaterThan(0)
    // A step is two optimiser steps.
    expect(oldest).toBeLessThanOrEqual(2 * bound)
    // The bound is kept by ordering no more than can be consumed in time, and not by leaving out.
    expect(played.steps.every(({ left }) => left['stale'] === undefined)).toBe(true)
  })

  test('leaves out what is too old all the same, and counts it', async () => {
    const options = { mode: { async: 1 }, stragglers: { policy: 'over_order', extra: 6 }, steps: 12 } as const
    const played = await heldTraining(options, (task) => (isSlow(task) ? 3 : 0))
    expectAccounted(played)
    expect(played.steps.reduce((sum, { left }) => sum + (left['stale'] ?? 0), 0)).toBeGreaterThan(0)
    expect(Math.max(...played.steps.map(({ staleness }) => staleness.max))).toBeLessThanOrEqual(1)
  })

  test('goes on playing while it learns', async () => {
    const { steps, states } = await heldTraining({ mode: { async: 1 } })
    // What the second step consumed was ordered before the first was made: its tokens are of the first weights.
    expect(steps[1]!.staleness.max).toBe(1)
    expect(states.length).toBeGreaterThan(0)
  })
})
