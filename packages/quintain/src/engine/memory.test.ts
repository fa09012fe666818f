import { afterAll, beforeAll, expect, test } from 'vitest'
import { environment } from '../core/index.ts'
import { recorded } from './__fixtures__/recorded.ts'

const warnings: Error[] = []
const note = (warning: Error) => void warnings.push(warning)
beforeAll(() => void process.on('warning', note))
afterAll(() => void process.off('warning', note))

/** The most worlds that lived at one time, and how many there were. */
async function play(orders: number, concurrency: number) {
  let alive = 0
  let most = 0
  let opened = 0
  const env = environment({
    tasks: { size: orders, at: (index: number) => ({ id: `t${index}`, prompt: 'go' }) },
    needs: ['turns'],
    world: () => {
      opened++
      most = Math.max(most, ++alive)
      return {
        reply: async () => ({ content: '', done: 'over' }),
        finish: () => null,
        close: () => void alive--,
      }
    },
    rewards: { any: () => 1 },
    policies: {
      *speak() {
        yield 'x'.repeat(500)
      },
    },
  })
  let running = 0
  const run = await recorded(
    env,
    { policy: 'script:speak' },
    {
      concurrency,
      onProgress: (progress) => {
        running = Math.max(running, progress.running)
      },
    },
  )
  return { run, most, opened, running }
}

test('what is in flight does not grow with the plan, and nothing listens for ever', async () => {
  const { run, most, opened, running } = await play(20_000, 16)
  expect(run.states).toHaveLength(20_000)
  expect(opened).toBe(20_000)
  expect(most).toBeLessThanOrEqual(16)
  expect(running).toBeLessThanOrEqual(16)
  expect(run.attempts).toHaveLength(20_000)
  expect(run.states.every(({ status }) => status === 'scored')).toBe(true)
  expect(warnings.map(({ message }) => message)).toEqual([])
})

test('a thousand rollouts that share a cancellation warn of no leak', async () => {
  const controller = new AbortController()
  const env = environment({
    tasks: Array.from({ length: 1_000 }, (_, at) => ({ id: `t${at}`, prompt: 'go' })),
    rewards: { any: () => 1 },
  })
  await recorded(
    env,
    { agent: () => new Promise((resolve) => setTimeout(() => resolve('x'), 5)) },
    { concurrency: 1_000, signal: controller.signal },
  )
  expect(warnings.map(({ message }) => message)).toEqual([])
})
