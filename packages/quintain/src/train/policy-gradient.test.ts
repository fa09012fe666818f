// What the parts come to together, on a policy that is a table: gradients that are known in closed form, and policies that get better.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createTableLearner } from './__fixtures__/table-engine.ts'
import { tokenRow } from './__fixtures__/token-row.ts'
import { buildBatch, lossOf, rowsToScore, scoresWanted } from './batch.ts'
import type { Datum, Learner, LossSpec } from './engine.ts'
import { type GradedGroup, sortGroups } from './groups.ts'
import { type RecipeName, recipe, recipes } from './recipes.ts'
import type { Algorithm } from './records.ts'

const arms = [1, 2, 3, 4]
const pays: Record<number, number> = { 1: 0, 2: 0.25, 3: 1, 4: 0.5 }
const vocabulary = 5
const pull = (arm: number) => ({ input: Int32Array.of(0), target: Int32Array.of(arm) })

/** Counts the operations of a learner, so that tests need not. */
function counted(learner: Learner = createTableLearner({ vocabulary, order: 1 })) {
  let seq = 0
  const operation = () => ({ run: 'test', seq: ++seq })
  return {
    learner,
    gather: (data: readonly Datum[], loss: LossSpec) => learner.forwardBackward(data, loss, operation()),
    step: (learningRate: number) => learner.optimStep({ learningRate, beta2: 0.99 }, operation()),
    chances: async () => {
      const { logprobs } = await learner.forward(arms.map(pull))
      return logprobs.map(([logprob]) => Math.exp(logprob!))
    },
  }
}

/** A group of pulls, each with what it pays. */
async function pulled(learner: Learner, id: string, size: number): Promise<GradedGroup> {
  const sampler = await learner.sampler()
  const replies = await Promise.all(
    Array.from({ length: size }, (_, at) =>
      sampler.sample({ prompt: Int32Array.of(0), maxTokens: 1, seed: `${id}/${at}` }),
    ),
  )
  return groupOf(
    id,
    replies.map(({ ids, logprobs }) => ({ arm: ids[0]!, logprob: logprobs[0]!, reward: pays[ids[0]!] ?? 0 })),
  )
}

function groupOf(
  id: string,
  pulls: readonly { arm: number; logprob: number; reward: number | null }[],
): GradedGroup {
  const members = pulls.map(({ arm, logprob, reward }, at) => {
    const order = `${id}#${at}`
    const rows = [tokenRow([{ put: [0], sampled: [arm], logprobs: [logprob] }], { order })]
    return { order, rows, reward, truncated: false, tokens: 1 }
  })
  return { id, task: 'bandit', members }
}

/** Norm of the gradient of some groups at an untrained policy. */
async function normOf(groups: readonly GradedGroup[], algorithm: Algorithm): Promise<number> {
  const { gather, step } = counted()
  for (const { data } of buildBatch(groups, { ...algorithm, minibatches: 1 }))
    await gather(data, lossOf(algorithm))
  return (await step(0.1)).gradNorm
}

describe('a bandit, whose gradient is known', () => {
  test('is p (r - mean), and following it pays more at every step', async () => {
    const { learner, gather, step, chances } = counted()
    const all = [0, ...arms]
    let before = 0
    for (let at = 0; at < 60; at++) {
      const { logprobs } = await learner.forward(all.map(pull))
      const p = logprobs.map(([logprob]) => Math.exp(logprob!))
      const mean = all.reduce((sum, arm, nth) => sum + p[nth]! * (pays[arm] ?? 0), 0)
      expect(mean).toBeGreaterThan(before)
      before = mean
      // Every arm once, by its chance: the expectation of what pulls would give.
      const data = all.map(
        (arm, nth): Datum => ({
          ...pull(arm),
          advantages: Float32Array.of(p[nth]! * (pays[arm] ?? 0)),
          logprobs: logprobs[nth]!,
        }),
      )
      await gather(data, { name: 'importance_sampling' })
      const expected = Math.hypot(...all.map((arm, nth) => p[nth]! * ((pays[arm] ?? 0) - mean)))
      expect((await step(0.1)).gradNorm).toBeCloseTo(expected, 6)
    }
    expect((await chances())[2]).toBeGreaterThan(0.9)
  })

  const withRewards = (Object.keys(recipes) as RecipeName[]).filter(
    (name) => recipes[name].learnsFrom === 'rewards',
  )
  test.each(withRewards)('is solved by %s from what it samples', async (name) => {
    const { learner, gather, step, chances } = counted()
    const algorithm = recipe(name, { minibatches: 2, constantLength: 1 })
    for (let at = 0; at < 40; at++) {
      const groups = await Promise.all([0, 1, 2, 3].map((nth) => pulled(learner, `${at}/${nth}`, 8)))
      const { kept } = sortGroups(groups, algorithm)
      if (kept.length === 0) continue
      for (const { data } of buildBatch(kept, algorithm)) {
        await gather(data, lossOf(algorithm))
        await step(0.15)
      }
    }
    expect((await chances())[2]).toBeGreaterThan(0.9)
  })
})

const pulls = fc.array(
  fc.record({ arm: fc.constantFrom(...arms), reward: fc.integer({ min: -4, max: 4 }) }),
  {
    minLength: 2,
    maxLength: 6,
  },
)
const uniform = Math.fround(-Math.log(vocabulary))
const group = (id: string, some: readonly { arm: number; reward: number | null }[]) =>
  groupOf(
    id,
    some.map((one) => ({ ...one, logprob: uniform })),
  )
const names = fc.constantFrom('grpo', 'dr-grpo', 'rloo', 'cispo', 'gspo')

describe('invariants of the gradient', () => {
  test('the order of a group, and a constant on its rewards, change nothing', async () => {
    await fc.assert(
      fc.asyncProperty(pulls, names, fc.integer({ min: -9, max: 9 }), async (some, name, constant) => {
        const algorithm = recipe(name)
        const norm = await normOf([group('g', some)], algorithm)
        const shifted = some.map(({ arm, reward }) => ({ arm, reward: reward + constant }))
        expect(await normOf([group('g', some.toReversed())], algorithm)).toBeCloseTo(norm, 6)
        expect(await normOf([group('g', shifted)], algorithm)).toBeCloseTo(norm, 6)
      }),
      { numRuns: 40 },
    )
  })

  test('equal rewards give no gradient at all', async () => {
    await fc.assert(
      fc.asyncProperty(pulls, names, async (some, name) => {
        const equal = some.map(({ arm }) => ({ arm, reward: 0.1 }))
        expect(await normOf([group('g', equal)], recipe(name))).toBe(0)
      }),
      { numRuns: 20 },
    )
  })

  test('on the policy itself it is that of REINFORCE, whatever the loss clips', async () => {
    await fc.assert(
      fc.asyncProperty(pulls, names, async (some, name) => {
        const algorithm = recipe(name)
        const [batch] = buildBatch([group('g', some)], { ...algorithm, minibatches: 1 })
        const { gather, step } = counted()
        await gather(
          batch!.data.map((datum) => ({ ...datum, weights: datum.advantages! })),
          { name: 'cross_entropy' },
        )
        const { gradNorm } = await step(0.1)
        expect(await normOf([group('g', some)], algorithm)).toBeCloseTo(gradNorm, 6)
      }),
      { numRuns: 40 },
    )
  })

  test('two halves of a batch are the whole of it', async () => {
    await fc.assert(
      fc.asyncProperty(pulls, pulls, names, async (one, other, name) => {
        const algorithm = { ...recipe(name), minibatches: 1 }
        const [batch] = buildBatch([group('a', one), group('b', other)], algorithm)
        const halves = counted()
        await halves.gather(batch!.data.slice(0, one.length), lossOf(algorithm))
        await halves.gather(batch!.data.slice(one.length), lossOf(algorithm))
        const whole = await normOf([group('a', one), group('b', other)], algorithm)
        expect((await halves.step(0.1)).gradNorm).toBeCloseTo(whole, 6)
      }),
      { numRuns: 30 },
    )
  })

  test('members that nobody scored are as if they had not been played', async () => {
    await fc.assert(
      fc.asyncProperty(pulls, names, async (some, name) => {
        const norms = [some, [...some, { arm: 1, reward: null }]].map((own) =>
          normOf([group('g', own)], recipe(name)),
        )
        const [without, beside] = await Promise.all(norms)
        expect(beside).toBeCloseTo(without!, 6)
      }),
      { numRuns: 20 },
    )
  })
})

test('a student that samples comes to its teacher', async () => {
  const teacher = counted()
  const taught = [0.1, 0.2, 0.3, 0.4]
  for (let at = 0; at < 200; at++) {
    const data = arms.map((arm, nth): Datum => ({ ...pull(arm), weights: Float32Array.of(taught[nth]!) }))
    await teacher.gather(data, { name: 'cross_entropy' })
    await teacher.step(0.1)
  }
  const { learner, gather, step, chances } = counted()
  const algorithm = recipe('distill', { minibatches: 1 })
  expect(scoresWanted(algorithm)).toEqual(['teacher'])
  for (let at = 0; at < 60; at++) {
    const { kept } = sortGroups([await pulled(learner, `${at}`, 64)], algorithm)
    const scores = await (await teacher.learner.sampler()).score(rowsToScore(kept, algorithm))
    for (const { data } of buildBatch(kept, algorithm, { teacher: scores }))
      await gather(data, lossOf(algorithm))
    await step(0.1)
  }
  const learned = await chances()
  for (const [nth, chance] of taught.entries()) expect(Math.abs(learned[nth]! - chance)).toBeLessThan(0.1)
})

test('a KL term keeps a policy near its reference', async () => {
  const trained = async (coefficient: number) => {
    const { learner, gather, step, chances } = counted()
    const reference = await learner.sampler()
    const algorithm = recipe('grpo', {
      minibatches: 1,
      ...(coefficient === 0 ? {} : { kl: { coefficient, where: 'loss', estimator: 'k2' } }),
    })
    for (let at = 0; at < 40; at++) {
      const { kept } = sortGroups([await pulled(learner, `${at}`, 32)], algorithm)
      if (kept.length === 0) continue
      const scores = await reference.score(rowsToScore(kept, algorithm))
      for (const { data } of buildBatch(kept, algorithm, { reference: scores }))
        await gather(data, lossOf(algorithm))
      await step(0.1)
    }
    return (await chances())[2]!
  }
  const [free, held] = await Promise.all([trained(0), trained(2)])
  expect(free).toBeGreaterThan(0.9)
  expect(held).toBeGreaterThan(0.2)
  expect(held).toBeLessThan(0.6)
})
