import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { environment } from './core/index.ts'
import { modelThat, temporaryFolder } from './engine/__fixtures__/recorded.ts'
import { evaluateAll } from './evaluate-all.ts'
import type { AgentFunction } from './harness/index.ts'

const env = environment({
  tasks: Array.from({ length: 20 }, (_, i) => ({
    id: `t${i}`,
    prompt: `${i}`,
    secret: { even: i % 2 === 0 },
  })),
  rewards: { right: ({ task, transcript }) => Number((transcript.answer === 'even') === task.secret.even) },
  success: ({ rewards }) => rewards.right === 1,
})
const guess = () => 'even'
const count = ({ input }: { input: string }) => (Number(input) % 2 === 0 ? 'even' : 'odd')

describe('evaluateAll()', () => {
  test('compares agents with the first, and keeps nothing that was not asked for', async () => {
    const { runs, comparison, complete, dir } = await evaluateAll(env, {
      agents: { before: guess, after: count },
      repeats: 2,
      regression: {},
    })
    expect(runs.map(({ success }) => success.value)).toEqual([0.5, 1])
    expect(runs.map(({ manifest }) => manifest.seats['agent']?.policy)).toEqual([
      expect.stringContaining('before'),
      expect.stringContaining('after'),
    ])
    expect(comparison?.pairs[0]).toMatchObject({
      success: { difference: 0.5, higher: 10 },
      regression: { regressed: false },
    })
    // Another function is another player and no other harness; nothing else differs.
    expect(comparison).toMatchObject({ comparable: true, plan: [{ field: 'policy', severity: 'note' }] })
    expect(complete).toBe(true)
    expect([dir, ...runs.map((run) => run.dir), ...(comparison?.runs ?? []).map((run) => run.dir)]).toEqual([
      undefined,
      undefined,
      undefined,
      '',
      '',
    ])
  })

  test('agents, models, policies, in that order; recorded where it was asked for', async () => {
    const dir = join(await temporaryFolder(), 'all')
    const model = modelThat(() => 'odd', 'm')
    const { runs, comparison } = await evaluateAll(env, {
      dir,
      agents: { guess },
      models: [model],
      policies: ['script:noop'],
      tasks: 4,
      pairs: 'all',
    })
    expect(runs.map((run) => run.dir)).toEqual(['guess', 'm', 'noop'].map((name) => join(dir, name)))
    expect(existsSync(join(dir, 'panel.json'))).toBe(true)
    expect(comparison?.pairs).toHaveLength(3)
  })

  test('one agent with several models, and several agents with one', async () => {
    const asks: AgentFunction = async ({ model, messages }) => {
      const { baseURL, apiKey, fetch } = model
      const response = await fetch(`${baseURL}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'any', messages }),
      })
      const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] }
      return choices[0].message.content
    }
    const odd = modelThat(() => 'odd', 'm-odd')
    const even = modelThat(() => 'even', 'm-even')
    const shared = await evaluateAll(env, {
      agent: asks,
      models: [odd, even],
      policies: ['script:noop'],
      tasks: 4,
    })
    const seats = shared.runs.map(({ manifest }) => manifest.seats['agent'])
    expect(seats).toMatchObject([
      { policy: 'm-odd', harness: 'asks@function' },
      { policy: 'm-even', harness: 'asks@function' },
      { policy: 'script:noop', harness: 'asks@function' },
    ])
    expect(new Set(seats.map((seat) => seat?.agentDigest)).size).toBe(1)
    expect(shared.runs.map(({ summary }) => summary.usage.agent.output)).toHaveLength(3)
    const reverse = await evaluateAll(env, {
      agents: { before: { agent: asks, model: even }, after: { agent: count, model: even } },
      tasks: 4,
    })
    expect(
      reverse.runs.map(({ manifest, success }) => [manifest.seats['agent']?.harness, success.value]),
    ).toEqual([
      ['before@function', 0.5],
      ['after@function', 1],
    ])
    await expect(
      evaluateAll(env, { agents: { one: { agent: asks, modle: even } as never } }),
    ).rejects.toThrow(/did you mean "model"/)
  })

  test('one player has nothing to be compared with', async () => {
    expect((await evaluateAll(env, { agents: { guess }, tasks: 2 })).comparison).toBeNull()
  })

  test.each<[string, unknown, string]>([
    ['nobody', {}, 'Say who plays'],
    ['an empty list', { models: [] }, 'Say who plays'],
    ['one agent that is none', { agents: { x: 'hello' } }, 'agent is no function'],
    ['a list of agents', { agents: [guess] }, 'agents is no object'],
    ['models that are no list', { models: 'gpt' }, 'models is no list'],
    ['a policy that is no text', { policies: [5] }, 'policy is no text'],
    ['a slip', { agents: { guess }, model: 'x' }, 'unknown option'],
    ['no options', undefined, 'takes an environment and options'],
  ])('%s is refused', async (_name, options, words) => {
    const run = evaluateAll(env, options as never)
    await expect(run).rejects.toThrow(words)
    await expect(run).rejects.toMatchObject({ code: 'usage' })
  })
})
