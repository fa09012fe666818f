import { describe, expect, test } from 'vitest'
import { agent } from '../harness/index.ts'
import { packaged } from './__fixtures__/outside.ts'
import { recorded } from './__fixtures__/recorded.ts'

/** A tool that takes its time, and does not mind being told that all is over. */
const slow = (ms: number, limits = '{}') => `{
  tasks: [{ id: 'A', prompt: 'go' }],
  needs: ['tools'],
  limits: ${limits},
  world: () => {
    const log = []
    return {
      tools: () => [tool({
        name: 'write', description: 'Writes.', input: schema,
        run: async () => { log.push('begin'); await pause(${ms}); log.push('end'); return 'ok' },
      })],
      finish: () => { log.push('finish'); return { log } },
    }
  },
  rewards: { whole: ({ state }) => Number(state.log.join() === 'begin,end,finish') },
  metrics: { steps: ({ state }) => state.log.length },
}`

describe.each(['inline', 'worker'] as const)('a tool call that nobody waits for, in a %s', (isolation) => {
  const here = { isolation, workers: 1 }
  const leaves = agent(async ({ call }) => {
    void call('write')
    void call('write')
    // Until the first has begun.
    await new Promise((resolve) => setTimeout(resolve, 100))
    return 'done'
  })

  test('has ended before the world is finished and graded, and the next is not begun', async () => {
    const run = await recorded(await packaged(slow(400)), { agent: leaves }, here)
    expect(run.only).toMatchObject({ outcome: 'completed', fault: null, verdict: { reward: 1 } })
    expect(run.only.counts.flags).toBeUndefined()
  })

  test('is waited for at the wall as well', async () => {
    const stays = agent(async ({ call }) => call('write'))
    const run = await recorded(await packaged(slow(600, `{ wall: '200ms' }`)), { agent: stays }, here)
    expect(run.only).toMatchObject({ outcome: 'wall_limit', fault: null, verdict: { reward: 1 } })
  })

  test('that does not end in its time is left, and that is said', async () => {
    const run = await recorded(await packaged(slow(2 ** 30, `{ tool: '300ms' }`)), { agent: leaves }, here)
    expect(run.only).toMatchObject({
      outcome: 'completed',
      fault: null,
      verdict: { metrics: { steps: 2 } },
      counts: { flags: { tool_left_running: 1 } },
    })
  })
})
