import { evaluate } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
import { expect, test } from 'vitest'
import env from './index.ts'

// The oracle succeeds, doing nothing does not, and nothing public holds the secret.
testEnvironment(env)

test('an agent that looks the parcel up succeeds', async () => {
  const run = await evaluate(env, { policy: 'script:careful', tasks: 10, repeats: 2 })
  // Holds when the lower end of the 95 % interval is at least this, and every order has a score.
  expect(run).toReachSuccess(0.6)
})

test('an agent that hands out any parcel mostly fails', async () => {
  const run = await evaluate(env, { policy: 'script:random', tasks: 10, repeats: 2 })
  expect(run.success.value).toBeLessThan(0.6)
})
