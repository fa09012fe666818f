import { expect, test } from 'vitest'
import { agent } from '../harness/index.ts'
import { packaged } from './__fixtures__/outside.ts'
import { modelThat, recorded } from './__fixtures__/recorded.ts'

const here = { isolation: 'inline', workers: 1 } as const
const guessing = (turns: number) => `{
  tasks: [{ id: 'A' }],
  limits: { turns: ${turns} },
  world: () => {
    const state = { guesses: 0 }
    return { open: () => 'Guess.', reply: () => (state.guesses++, { content: 'no' }), finish: () => state }
  },
  rewards: { guesses: ({ state }) => state.guesses },
}`
const once = `{ tasks: [{ id: 'A', prompt: 'go' }], rewards: { said: ({ transcript }) => Number(transcript.answer === 'x') } }`

test.each([[0], [1], [2]])(
  'an agent that asks its model %i times answers no more often than it has turns',
  async (asks) => {
    let turn = 0
    const guesser = agent(async ({ model, memory }) => {
      memory['turn'] = turn = Number(memory['turn'] ?? 0) + 1
      if (turn <= asks) await model.doGenerate({ prompt: [] })
      return `guess ${turn}`
    })
    const { only } = await recorded(
      await packaged(guessing(6)),
      { agent: guesser, behind: { model: modelThat(() => ({ costUsd: 1 })) } },
      here,
    )
    expect(turn).toBe(6)
    expect(only).toMatchObject({
      outcome: 'turn_limit',
      fault: null,
      counts: { turns: 6 },
      verdict: { reward: 6 },
      // What is said without asking costs nothing, and does not make the rest unknown.
      costUsd: { agent: asks },
    })
  },
)

test.each([true, false])('an answer is recorded once; with a model behind the agent: %s', async (behind) => {
  const run = await recorded(
    await packaged(once),
    { agent: agent(() => 'x'), ...(behind ? { behind: { model: modelThat(() => ({})) } } : {}) },
    here,
  )
  const { nodes } = await run.trajectory()
  expect(nodes.map(({ message }) => `${message.role}: ${String(message.content)}`)).toEqual([
    'user: go',
    'assistant: x',
  ])
  expect(run.only.verdict?.reward).toBe(1)
})

test('a function that says nothing has given no answer', async () => {
  const run = await recorded(await packaged(once), { agent: agent(() => '') }, here)
  expect(run.only).toMatchObject({ outcome: 'completed', stop: 'no_answer', verdict: { reward: 0 } })
})
