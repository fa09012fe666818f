import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MadeUpTurn, tokenRow } from './__fixtures__/token-row.ts'
import { buildBatch, lossOf, type Minibatch, rowsToScore } from './batch.ts'
import type { GradedGroup, GradedRollout } from './groups.ts'
import { type RecipeChanges, recipe } from './recipes.ts'

/** A rollout whose rows have these turns. */
function rollout(
  reward: number | null,
  rows: readonly (readonly MadeUpTurn[])[],
  order = 'task#0',
): GradedRollout {
  return {
    order,
    rows: rows.map((turns, row) => tokenRow(turns, { row, order })),
    reward,
    truncated: false,
    tokens: rows.flat().reduce((sum, { sampled }) => sum + sampled.length, 0),
  }
}

const said = (length: number): MadeUpTurn[] => [{ put: [1, 2], sampled: Array.from({ length }, () => 3) }]
const group = (members: readonly GradedRollout[], id = 'g'): GradedGroup => ({
  id,
  task: id,
  members: members.map((member, at) => ({ ...member, order: `${id}#${at}` })),
})

/** Plain REINFORCE with the mean as baseline, in one minibatch. */
const plain = (changes: RecipeChanges = {}) =>
  recipe('rloo', { advantage: { baseline: 'mean' }, normalise: 'token', minibatches: 1, ...changes })

const rounded = (values: Iterable<number>) => Array.from(values, (value) => Number(value.toFixed(6)))
const sumOf = (batch: Minibatch, name: 'weights' | 'advantages', order: string) =>
  batch.data.reduce(
    (sum, datum, at) =>
      batch.origins[at]!.order === order ? sum + datum[name]!.reduce((all, one) => all + one, 0) : sum,
    0,
  )

test('a datum has what its row has, moved to the next token, and only what was sampled is trained on', () => {
  const turns: MadeUpTurn[] = [
    { put: [1, 2], sampled: [3, 4], logprobs: [-0.5, -0.25] },
    { put: [5], sampled: [6], logprobs: [-0.125] },
  ]
  const [batch] = buildBatch([group([rollout(1, [turns]), rollout(0, [said(3)])])], plain())
  const [datum] = batch!.data
  expect([datum!.input, datum!.target].map((ids) => [...ids])).toEqual([
    [1, 2, 3, 4, 5],
    [2, 3, 4, 5, 6],
  ])
  expect(rounded(datum!.logprobs!)).toEqual([0, -0.5, -0.25, 0, -0.125])
  expect(rounded(datum!.weights!)).toEqual(rounded([0, 1 / 6, 1 / 6, 0, 1 / 6]))
  expect(rounded(datum!.advantages!)).toEqual(rounded([0, 1 / 12, 1 / 12, 0, 1 / 12]))
  expect(batch).toMatchObject({
    rollouts: 2,
    tokens: 6,
    origins: [{ group: 'g', order: 'g#0', row: 0 }, { order: 'g#1' }],
  })
})

describe('weights', () => {
  const members = [rollout(1, [said(1)]), rollout(0, [said(2), said(5)])]
  const sums = (changes: RecipeChanges) => {
    const [batch] = buildBatch([group(members)], plain(changes))
    return rounded(['g#0', 'g#1'].map((order) => sumOf(batch!, 'weights', order)))
  }
  test('by token: each token as much as any other', () => {
    expect(sums({ normalise: 'token' })).toEqual([1 / 8, 7 / 8])
  })
  test('by sequence: each rollout as much as any other, however many rows it has', () => {
    expect(sums({ normalise: 'sequence' })).toEqual([1 / 2, 1 / 2])
  })
  test('by a constant: each token as much as any other, in every batch', () => {
    expect(sums({ normalise: 'constant', constantLength: 10 })).toEqual([1 / 20, 7 / 20])
  })
})

test('a rollout counts the same whether its turns are one row or many', () => {
  const turn = fc.record({
    put: fc.constant([1, 2]),
    sampled: fc.array(fc.constant(3), { minLength: 1, maxLength: 4 }),
  })
  const normalise = fc.constantFrom('token', 'sequence', 'constant')
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), normalise, (turns, how) => {
      const sums = [[turns], turns.map((one) => [one])].map((rows) => {
        const [batch] = buildBatch(
          [group([rollout(1, rows), rollout(0, [said(2)])])],
          plain({ normalise: how }),
        )
        return [...['g#0', 'g#1'].map((order) => sumOf(batch!, 'advantages', order)), batch!.tokens]
      })
      for (const [at, value] of sums[0]!.entries()) expect(sums[1]![at]).toBeCloseTo(value, 6)
    }),
  )
})

test('unscored and cut members are not trained on, nor counted in what is divided by', () => {
  const cut = { ...rollout(0.5, [said(4)]), truncated: true }
  const groups = [group([rollout(1, [said(2)]), rollout(0, [said(2)]), rollout(null, [said(9)]), cut])]
  const [batch] = buildBatch(groups, plain({ maskTruncated: true }))
  expect(batch!.origins.map(({ order }) => order)).toEqual(['g#0', 'g#1'])
  expect(batch).toMatchObject({ rollouts: 2, tokens: 4 })
  // The one that was cut was graded all the same, and is in the mean of its group.
  expect(rounded(batch!.data.map(({ advantages }) => advantages![1]!))).toEqual([0.125, -0.125])
  expect(buildBatch(groups, plain())[0]).toMatchObject({ rollouts: 3, tokens: 8 })
})

test('a long rollout loses some of its reward before rewards are compared', () => {
  const overlong = { length: 4, buffer: 2, penalty: 1 }
  const members = [rollout(1, [said(2)]), rollout(1, [said(3)])]
  const [batch] = buildBatch([group(members)], plain({ overlong, normalise: 'constant', constantLength: 1 }))
  expect(rounded(batch!.data.map(({ advantages }) => advantages![1]!))).toEqual([0.125, -0.125])
})

test('groups are dealt into minibatches as wholes, each divided by its own tokens, with advantages over all', () => {
  const groups = ['a', 'b', 'c', 'd', 'e'].map((id, at) =>
    group([rollout(at, [said(2)]), rollout(0, [said(2)])], id),
  )
  const algorithm = plain({ minibatches: 2, advantage: { scale: 'batch_std' } })
  const parts = buildBatch(groups, algorithm)
  expect(parts.map(({ origins }) => [...new Set(origins.map(({ group: id }) => id))])).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ])
  expect(parts.map(({ tokens }) => tokens)).toEqual([8, 12])
  for (const part of parts) {
    const all = part.data.reduce((sum, { weights }) => sum + weights!.reduce((own, one) => own + one, 0), 0)
    expect(all).toBeCloseTo(1, 6)
  }
  const [whole] = buildBatch(groups, { ...algorithm, minibatches: 1 })
  const perToken = (batch: Minibatch, at: number) => batch.data[at]!.advantages![1]! * batch.tokens
  expect(perToken(parts[1]!, 0)).toBeCloseTo(perToken(whole!, 4), 5)
  const seeded = (seed: string) =>
    buildBatch(groups, algorithm, { seed }).map(({ origins }) => origins.map(({ group: id }) => id))
  expect(seeded('s')).toEqual(seeded('s'))
  expect(new Set(['s', 't', 'u', 'v'].map((seed) => seeded(seed).join())).size).toBeGreaterThan(1)
  expect(buildBatch(groups.slice(0, 1), algorithm)).toHaveLength(1)
})

test('tokens of a turn have the advantage of their turn too', () => {
  const turns: MadeUpTurn[] = [
    { put: [1], sampled: [3], call: 2 },
    { put: [1], sampled: [3, 3], call: 5 },
  ]
  const members = [
    { ...rollout(1, [turns]), steps: [0, 4] },
    { ...rollout(0, [turns]), steps: [2, 0] },
  ]
  const algorithm = plain({
    turns: { coefficient: 0.5, discount: 0 },
    normalise: 'constant',
    constantLength: 1,
  })
  const advantages = (given: readonly GradedRollout[]) =>
    buildBatch([group(given)], algorithm)[0]!.data.map(({ advantages: own }) => rounded(own!))
  // Of the rollout ±0.5; of the first turn half of ∓1, of the second half of ±2; all divided by two rollouts.
  expect(advantages(members)[0]).toEqual([0, 0, 0.75, 0.75])
  // A first call whose tokens nobody knows is a turn all the same.
  const known = members.map((member) => ({ ...member, rows: [tokenRow([turns[1]!])], calls: [2, 5] }))
  expect(advantages(known)[0]).toEqual([0.75, 0.75])
})

describe('scores of others', () => {
  const groups = [group([rollout(1, [said(2)]), rollout(0, [said(1), said(1)])])]
  const scored = (values: readonly number[][]) => values.map((own) => Float32Array.from(own))
  const advantagesOf = (algorithm: ReturnType<typeof plain>, scores: Parameters<typeof buildBatch>[2]) =>
    buildBatch(groups, algorithm, scores)[0]!.data.map(({ advantages }) =>
      rounded(advantages!.map((one) => one * 4)),
    )

  test('a KL in the reward moves advantage from tokens that left the reference to those that did not', () => {
    const algorithm = plain({ kl: { coefficient: 0.1, where: 'reward', estimator: 'k1' } })
    const reference = scored([
      [0, -3, -1],
      [0, -1],
      [0, -1],
    ])
    // One of four tokens is 2 nats likelier than the reference has it: 0.5 in the mean.
    expect(advantagesOf(algorithm, { reference })).toEqual([
      [0, 0.35, 0.55],
      [0, -0.45],
      [0, -0.45],
    ])
    expect(lossOf(algorithm)).toEqual({ name: 'importance_sampling' })
  })

  test('a KL in the loss is left to the loss, which is told the reference', () => {
    const algorithm = plain({ kl: { coefficient: 0.1, where: 'loss', estimator: 'k2' } })
    const reference = scored([
      [0, -3, -1],
      [0, -1],
      [0, -1],
    ])
    const [batch] = buildBatch(groups, algorithm, { reference })
    expect(batch!.data.map((datum) => datum.reference)).toEqual(reference)
    expect(lossOf(algorithm)).toEqual({
      name: 'importance_sampling',
      config: { kl_coefficient: 0.1, kl_estimator: 2 },
    })
  })

  test('a teacher tells each token how much likelier it would have been, with or without the rewards', () => {
    const teacher = scored([
      [0, -0.5, -3],
      [0, -1],
      [0, -1],
    ])
    const alone = recipe('distill', { minibatches: 1 })
    expect(advantagesOf(alone, { teacher })).toEqual([
      [0, 0.5, -2],
      [0, 0],
      [0, 0],
    ])
    const both = plain({ teacher: { coefficient: 0.1, rewards: true } })
    expect(advantagesOf(both, { teacher })).toEqual([
      [0, 0.55, 0.3],
      [0, -0.5],
      [0, -0.5],
    ])
  })

  test('importance weights are cut off, and the loss then compares with the learner before the step', () => {
    const learner = scored([
      [0, -1 + Math.log(1.5), -1 + Math.log(9)],
      [0, -1 + Math.log(0.5)],
      [0, -1],
    ])
    const algorithm = plain({ truncateImportance: 2 })
    expect(advantagesOf(algorithm, { learner })).toEqual([
      [0, 0.75, 1],
      [0, -0.25],
      [0, -0.5],
    ])
    const [batch] = buildBatch(groups, algorithm, { learner })
    expect(rounded(batch!.data[0]!.logprobs!)).toEqual(rounded(learner[0]!))
    expect(rounded(batch!.sampled[0]!)).toEqual([0, -1, -1])
  })

  test('scores that are missing, or of other rows, are refused', () => {
    const algorithm = plain({ truncateImportance: 2 })
    expect(rowsToScore(groups, algorithm).map(({ target }) => target.length)).toEqual([3, 2, 2])
    const refused = expect.objectContaining({
      code: 'options_invalid',
      message: expect.stringContaining('learner'),
    })
    expect(() => buildBatch(groups, algorithm)).toThrow(refused)
    expect(() => buildBatch(groups, algorithm, { learner: scored([[0, 0, 0]]) })).toThrow(refused)
    expect(() =>
      buildBatch(groups, algorithm, {
        learner: scored([
          [0, 0],
          [0, 0],
          [0, 0],
        ]),
      }),
    ).toThrow(refused)
  })
})

test('nothing to train on is refused', () => {
  expect(() => buildBatch([group([rollout(null, [said(1)])])], plain())).toThrow(
    expect.objectContaining({ code: 'datum_invalid' }),
  )
  expect(() => buildBatch([], plain())).toThrow(expect.objectContaining({ code: 'datum_invalid' }))
})
