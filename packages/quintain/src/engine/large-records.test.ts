import { expect, test } from 'vitest'
import { agent } from '../harness/index.ts'
import { packaged } from './__fixtures__/outside.ts'
import { recorded } from './__fixtures__/recorded.ts'

const env = `{
  tasks: [{ id: 'A', prompt: 'go' }],
  needs: ['tools'],
  world: () => ({
    tools: () => [tool({ name: 'keep', description: 'Keeps.', input: schema, run: () => 'kept' })],
    finish: () => null,
  }),
  rewards: { calls: ({ transcript }) => transcript.toolCalls.length },
}`

test('an attempt that says more than a line can hold is scored, and what is left out is told', async () => {
  const text = 'x'.repeat(30_000_000)
  const floods = agent(async ({ call }) => {
    for (let at = 0; at < 7; at++) await call('keep', { text })
    return 'done'
  })
  const run = await recorded(await packaged(env), { agent: floods }, { isolation: 'inline' })
  expect(run.only).toMatchObject({
    outcome: 'completed',
    fault: null,
    verdict: { reward: 7 },
    counts: { toolCalls: 7, flags: { record_cut: 1 } },
  })
  const { nodes } = await run.trajectory()
  const lengths = nodes.flatMap(({ message }) =>
    message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.arguments.length) : [],
  )
  expect(lengths).toHaveLength(7)
  expect(lengths.slice(0, 6).every((length) => length > text.length)).toBe(true)
  expect(lengths[6]).toBeLessThan(3_000)
  expect(JSON.stringify(nodes.at(-3))).toContain('characters left out of the record')
})
