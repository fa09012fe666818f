import { expect, test } from 'vitest'
import { madeUpTraining } from '../__fixtures__/made-up-history.ts'
import { recipe, recipes } from '../recipes.ts'
import { algorithmFacts, settingFacts } from './what-ran.ts'

test('an algorithm is told in words', () => {
  const said = Object.fromEntries(
    algorithmFacts(
      recipe('dapo', { groups: 8, epochs: 2, kl: { coefficient: 0.1, where: 'loss', estimator: 'k3' } }),
    ),
  )
  expect(said).toMatchObject({
    recipe: 'custom (dapo)',
    'a step': '8 groups of 16 rollouts, in 2 minibatches, gone through 2 times',
    advantage: 'reward less the mean of its group, divided by the population standard deviation of the group',
    loss: 'ppo (clip low threshold 0.8, clip high threshold 1.28); mean over all tokens of a minibatch',
    'groups of equal rewards': 'left out; up to 3 times as many are ordered as a step wants',
    'rollouts cut for their length': 'not learned from',
    reference: 'KL times 0.1 in the loss, by the estimator k3',
  })
})

test.each(Object.keys(recipes))('nothing of %s is told in the notation of code', (name) => {
  for (const [what, says] of algorithmFacts(recipe(name)))
    expect(`${what}: ${says}`).not.toMatch(/[{}"_]|undefined|null|NaN/)
})

test('the rest is told in words, a part of a split as that', () => {
  const options = {
    splits: {},
    sampling: { temperature: 1, maxTokens: 8 },
    mode: { async: 2 },
    stragglers: { policy: 'over_order', extra: 2 },
    curriculum: 'uniform',
    evaluate: { every: 20 },
    checkpointEvery: 20,
    keep: 'best_and_last',
    budget: { seconds: 120 },
    collapse: true,
    shadow: 'guesses',
  }
  const splits = { train: 'train', validation: 'train-held-out', test: null, parts: ['validation' as const] }
  expect(Object.fromEntries(settingFacts(madeUpTraining({ options, splits }), 160))).toEqual({
    tasks: 'train train, validation a part of train drawn by the seed, no test tasks',
    sampling: 'temperature 1, at most 8 tokens a reply',
    rollouts:
      'at most 2 steps old; the first whole groups of more than are wanted are taken; tasks drawn uniformly',
    measured: 'every 20 steps, at temperature 1 and greedy',
    ends: 'after 160 steps, or 120 seconds of steps, or a collapse',
    checkpoints: 'every 20 steps; the best and the last are kept',
    'shadow verifier': 'guesses',
  })
})
