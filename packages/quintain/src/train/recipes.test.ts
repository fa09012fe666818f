import { describe, expect, test } from 'vitest'
import {
  checkAlgorithm,
  learnsFrom,
  type RecipeChanges,
  type RecipeName,
  recipe,
  recipes,
} from './recipes.ts'

const names = Object.keys(recipes) as RecipeName[]
const refused = (make: () => unknown): string => {
  try {
    make()
    return 'taken'
  } catch (error) {
    const { code, message } = error as { code: string; message: string }
    return `${code}: ${message}`
  }
}

test.each(names)('%s is an algorithm under its own name, and comes back from JSON', (name) => {
  const made = recipe(name)
  expect(made.recipe).toBe(name)
  expect(checkAlgorithm(JSON.parse(JSON.stringify(made)))).toEqual(made)
  expect(learnsFrom(made)).toBe(recipes[name].learnsFrom)
})

describe('a recipe that is changed', () => {
  test('is itself as long as only its size and its optimiser are', () => {
    const sized = recipe('grpo', { groups: 2, groupSize: 4, epochs: 3, adam: { learningRate: 1e-6 } })
    expect(sized).toMatchObject({ recipe: 'grpo', groups: 2, adam: { learningRate: 1e-6, beta2: 0.99 } })
    expect(recipe('dr-grpo', { constantLength: 64 }).recipe).toBe('dr-grpo')
  })

  const others: [RecipeName, RecipeChanges][] = [
    ['grpo', { advantage: { scale: 'none' } }],
    ['grpo', { loss: { name: 'importance_sampling' } }],
    ['grpo', { normalise: 'token' }],
    ['dapo', { maskTruncated: false }],
    ['rloo', { kl: { coefficient: 0.1, where: 'reward', estimator: 'k1' } }],
  ]
  test.each(others)('%s with %o is custom', (name, changes) => {
    expect(recipe(name, changes).recipe).toBe(`custom (${name})`)
  })
})

test('a few groups are not dealt out over more minibatches than leave each four, unless that is asked for', () => {
  const minibatches = (changes: RecipeChanges) => recipe('grpo', changes).minibatches
  expect([48, 24, 16, 15, 8, 6, 1].map((groups) => minibatches({ groups }))).toEqual([4, 4, 4, 3, 2, 1, 1])
  expect(minibatches({ groups: 6, minibatches: 3 })).toBe(3)
})

test('what is no recipe, and what contradicts itself, is refused and says why', () => {
  expect(refused(() => recipe('drgrpo'))).toMatch(
    /^options_invalid: There is no recipe "drgrpo", did you mean "dr-grpo"\?/,
  )
  expect(refused(() => recipe('toString'))).toMatch(/There are grpo, dr-grpo/)
  expect(refused(() => recipe('grpo', { groupSize: 0 }))).toMatch(/options_invalid: .*groupSize/s)
  expect(refused(() => recipe('grpo', { loss: { name: 'pop' } }))).toMatch(/no loss "pop"/)
  expect(refused(() => recipe('grpo', { loss: { name: 'ppo', config: { beta: 1 } } }))).toMatch(
    /no number "beta"/,
  )
  expect(refused(() => recipe('grpo', { advantage: { baseline: 'none' } }))).toMatch(/without a baseline/)
  expect(refused(() => recipe('grpo', { normalise: 'constant' }))).toMatch(/`constantLength`/)
  expect(refused(() => recipe('dapo', { overlong: { length: 4, buffer: 8, penalty: 1 } }))).toMatch(
    /`overlong.buffer`/,
  )
  expect(refused(() => recipe('grpo', { adam: { learningRate: 0 } }))).toMatch(/`adam.learningRate` is 0/)
  expect(refused(() => recipe('grpo', { adam: { learningRate: Number.NaN } }))).toMatch(/options_invalid/)
  for (const [name, value] of Object.entries({
    learningRate: 1e308,
    beta1: 1,
    beta2: -0.1,
    weightDecay: 1e9,
  })) {
    expect(refused(() => recipe('grpo', { adam: { [name]: value } }))).toContain(
      `${name} of the optimiser is ${value}`,
    )
  }
  expect(refused(() => recipe('grpo', { refill: 1e308 }))).toMatch(/`refill` is 1e\+308/)
  expect(refused(() => checkAlgorithm({ ...recipe('grpo'), temperature: 1 }))).toMatch(/temperature/)
  expect(refused(() => checkAlgorithm(null))).toMatch(/options_invalid/)
})
