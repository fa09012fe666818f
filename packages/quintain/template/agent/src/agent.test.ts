import { evaluate } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
import { expect, test } from 'vitest'
import { agent } from './agent.ts'
import env, { numberIn } from './index.ts'

// The check accepts the right answers, and does not accept silence.
testEnvironment(env)

test.each([
  ['42', 42],
  ['The answer is 10,800.', 10800],
  ['-7', -7],
  ['I do not know', undefined],
])('reads %j as %j', (answer, number) => {
  expect(numberIn(answer)).toBe(number)
})

test('the agent solves more than 60 % of such tasks', async () => {
  const run = await evaluate(env, { agent, tasks: 10, repeats: 4 })
  // Asks for the lower end of the 95 % interval, and for a score of every order: with few tasks it takes a better agent to
  // be sure.
  expect(run).toReachSuccess(0.6)
})
