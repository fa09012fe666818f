import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  environment,
  type Harness,
  type Model,
  ModelFault,
  type ModelResponse,
  type Outcome,
  outcomes,
  tool,
  type Usage,
} from '../core/index.ts'
import { calling, modelThat, never, pause, recorded, say } from './__fixtures__/recorded.ts'

const tokens = (output: number): Usage => ({ fresh: 1, cacheRead: 0, cacheWrite: 0, output })

/** A game that is won at the message `win`, and pays by how far it got. */
function game() {
  return environment({
    tasks: [{ id: 'game', prompt: 'Say win.' }],
    world: () => {
      let moves = 0
      return {
        reply: (content) =>
          content === 'win' ? { content: 'yes', done: 'won' } : { content: `no ${++moves}` },
        finish: () => ({ moves }),
      }
    },
    rewards: { moves: ({ state }) => state.moves },
    metrics: { turns: ({ transcript }) => transcript.turns },
  })
}

const question = environment({ tasks: [{ id: 'ask', prompt: 'Say win.' }], rewards: { any: () => 1 } })
const filesTool = environment({
  tasks: [{ id: 'files', prompt: 'Read.' }],
  world: () => ({
    tools: () => [
      tool({ name: 'read', description: 'Reads.', input: z.object({ path: z.string() }), run: () => 'text' }),
    ],
    finish: () => null,
  }),
  rewards: { any: () => 1 },
})

const fault = (code: string, outcome?: 'context_overflow' | 'refused') =>
  new ModelFault(
    { owner: 'provider', stage: 'model', code, message: code, retryable: false },
    outcome === undefined ? {} : { outcome },
  )
const throwing = (thrown: Error) =>
  modelThat(() => {
    throw thrown
  })
const replying = (reply: string | Partial<ModelResponse>) => modelThat(() => reply)

describe('how an agent ends is told apart, and graded on what was left behind', () => {
  const ends: Record<Exclude<Outcome, 'cancelled'>, () => ReturnType<typeof recorded>> = {
    completed: () => recorded(question, { model: replying('win') }),
    env_done: () => recorded(game(), { model: replying('win') }),
    turn_limit: () => recorded(game(), { model: replying('no') }, { limits: { turns: 3 } }),
    token_limit: () =>
      recorded(
        game(),
        { model: replying({ message: say('no'), usage: tokens(10) }) },
        { limits: { tokens: 25 } },
      ),
    cost_limit: () =>
      recorded(
        game(),
        { model: replying({ message: say('no'), costUsd: 0.1 }) },
        { limits: { costUsd: 0.25 } },
      ),
    wall_limit: () => recorded(game(), { agent: never }, { limits: { wall: 40 } }),
    context_overflow: () => recorded(game(), { model: throwing(fault('too_long', 'context_overflow')) }),
    truncated: () => recorded(game(), { model: replying({ message: say('no…'), finish: 'length' }) }),
    refused: () => recorded(game(), { model: replying({ message: say('I will not'), finish: 'refusal' }) }),
    escalated: () =>
      recorded(game(), { model: replying('ESCALATE: the word is missing') }, { escalate: true }),
    agent_error: () =>
      recorded(game(), {
        agent: () => {
          throw new Error('my own bug')
        },
      }),
  }
  test.for(Object.entries(ends))('%s', async ([outcome, run]) => {
    const { only, states } = await run()
    expect(only.outcome).toBe(outcome)
    expect(only.fault).toBeNull()
    expect(only.verdict!.reward).toBeTypeOf('number')
    expect(states[0]).toMatchObject({ status: 'scored', tries: 1 })
  })

  test('all of them are tried here', () => {
    expect([...Object.keys(ends), 'cancelled'].sort()).toEqual([...outcomes].sort())
  })

  test('cancelled is graded by nobody and leaves its order open', async () => {
    const controller = new AbortController()
    const agent = () => {
      controller.abort()
      return never()
    }
    const run = await recorded(game(), { agent }, { signal: controller.signal, graceMs: 1 })
    expect(run.only).toMatchObject({ outcome: 'cancelled', verdict: null, fault: null, final: false })
    expect(run.states[0]!.status).toBe('cancelled')
    expect(run.end.stop).toMatchObject({ code: 'cancelled' })
  })

  test('the reason of an escalation, a refusal or an error is kept', async () => {
    expect((await ends.escalated()).only.stop).toBe('the word is missing')
    expect((await ends.agent_error()).only.stop).toBe('my own bug')
    expect((await ends.env_done()).only.stop).toBe('won')
  })
})

describe('limits', () => {
  test('a win on the last allowed turn is a win', async () => {
    const model = modelThat((_request, _context, call) => (call === 2 ? 'win' : 'no'))
    const run = await recorded(game(), { model }, { limits: { turns: 3 } })
    expect(run.only).toMatchObject({ outcome: 'env_done', stop: 'won', counts: { turns: 3 } })
  })

  test('an agent function has its turns too, and no tool runs beyond them', async () => {
    let moves = 0
    const run = await recorded(game(), { agent: () => `${moves++}` }, { limits: { turns: 2 } })
    expect(run.only).toMatchObject({ outcome: 'turn_limit', counts: { turns: 2 }, verdict: { reward: 2 } })
    expect(moves).toBe(2)
  })

  test('a call is never given more tokens than the budget still holds', async () => {
    const asked: (number | undefined)[] = []
    const model = modelThat(({ sampling }) => {
      asked.push(sampling?.maxTokens)
      return { message: say('no'), usage: tokens(10) }
    })
    await recorded(game(), { model }, { limits: { tokens: 25 }, sampling: { maxTokens: 20 } })
    expect(asked).toEqual([20, 15, 5])
  })

  test('a reply that is cut because the token budget is used up ends as token_limit', async () => {
    const model = replying({ message: say('the answer is'), finish: 'length', usage: tokens(25) })
    expect((await recorded(question, { model }, { limits: { tokens: 25 } })).only.outcome).toBe('token_limit')
    expect((await recorded(question, { model }, { limits: { tokens: 26 } })).only.outcome).toBe('truncated')
  })

  test('a cost limit that cannot be kept is a fault and not a limit of nothing', async () => {
    const model = replying({ message: say('no'), costUsd: null })
    const run = await recorded(game(), { model }, { limits: { costUsd: 1, turns: 5 } })
    expect(run.only.fault).toMatchObject({ owner: 'platform', stage: 'model', code: 'price_unknown' })
  })

  test('a harness that ignores a limit does not get past it', async () => {
    let late = 0
    const stubborn = (ends: 'completed' | 'agent_error'): Harness => ({
      name: 'stubborn@1',
      carries: { turns: true, tools: true, images: true },
      async run({ messages, model, reply }) {
        const said = [...messages]
        for (let turn = 0; turn < 6; turn++) {
          try {
            const { message } = await model.generate({ messages: said })
            said.push(message)
          } catch {
            late++
            // The limit is reached: nothing that it says now reaches the world.
            await reply!('no').catch(() => {})
          }
          if (turn < 3) await reply!('no').catch(() => {})
        }
        return { outcome: ends }
      },
    })
    for (const ends of ['completed', 'agent_error'] as const) {
      const run = await recorded(
        game(),
        { model: replying('no') },
        { harness: stubborn(ends), limits: { turns: 3 } },
      )
      expect(run.only).toMatchObject({ outcome: 'turn_limit', counts: { turns: 3 }, verdict: { reward: 3 } })
    }
    expect(late).toBe(6)
  })

  test('a limit that an agent turns into an error of its own is still the limit', async () => {
    const harness: Harness = {
      name: 'raging@1',
      carries: { turns: true, tools: true, images: true },
      async run({ messages, model, reply }) {
        for (;;) {
          try {
            await model.generate({ messages })
          } catch {
            throw new Error('why does nobody answer me')
          }
          await reply!('no')
        }
      },
    }
    const run = await recorded(game(), { model: replying('no') }, { harness, limits: { turns: 2 } })
    expect(run.only.outcome).toBe('turn_limit')
  })

  test('an own harness that throws is an error of the agent', async () => {
    const harness: Harness = {
      name: 'broken@1',
      carries: { turns: true, tools: true, images: true },
      run: () => Promise.reject(new TypeError('no such thing')),
    }
    const run = await recorded(game(), { model: replying('no') }, { harness })
    expect(run.only).toMatchObject({ outcome: 'agent_error', stop: 'no such thing', verdict: { reward: 0 } })
    expect((await run.trajectory()).seats['agent']!.harness).toBe('broken@1')
  })

  test('a limit longer than the longest timer does not fire at once', async () => {
    const slow = modelThat(async () => {
      await pause(5)
      return 'win'
    })
    const run = await recorded(
      game(),
      { model: slow },
      { limits: { wall: '1000h', tool: '1000h', grade: '1000h' } },
    )
    expect(run.only).toMatchObject({ outcome: 'env_done' })
  })

  test("of the environment, the task and the run, the run's count", async () => {
    const env = environment({
      tasks: [
        { id: 'by-env', prompt: 'go' },
        { id: 'by-task', prompt: 'go', limits: { turns: 2 } },
      ],
      limits: { turns: 3 },
      world: () => ({ reply: () => ({ content: 'on' }), finish: () => null }),
      rewards: { turns: ({ transcript }) => transcript.turns },
    })
    const turns = async (limits?: { turns: number }) =>
      (await recorded(env, { agent: () => 'x' }, limits === undefined ? {} : { limits })).states.map(
        ({ chosen }) => chosen!.verdict!.reward,
      )
    expect(await turns()).toEqual([3, 2])
    expect(await turns({ turns: 1 })).toEqual([1, 1])
  })

  test('a script that never stops against a world that always answers meets the wall', async () => {
    const env = environment({
      tasks: [{ id: 'endless', prompt: 'go' }],
      world: () => ({ reply: () => ({ content: 'on' }), finish: () => null }),
      rewards: { any: () => 1 },
      policies: {
        *endless() {
          for (;;) yield 'more'
        },
      },
    })
    const run = await recorded(env, { policy: 'script:endless' }, { limits: { wall: 100 } })
    expect(run.only.outcome).toBe('wall_limit')
  })
})

describe("the agent's clock", () => {
  test('stands still while a model queues or backs off', async () => {
    const model = modelThat(async (_request, { onWait }) => {
      onWait?.(true)
      await pause(200)
      onWait?.(false)
      return { message: say('win'), timing: { totalMs: 200, waitMs: 200 } }
    })
    const run = await recorded(game(), { model }, { limits: { wall: 100 } })
    expect(run.only).toMatchObject({ outcome: 'env_done', fault: null })
    expect(run.only.timing.waitMs).toBe(200)
    expect(run.only.timing.agentMs).toBeLessThan(100)
  })

  test('stands still until the last of several calls has waited', async () => {
    const model = modelThat(async (_request, { onWait }, call) => {
      onWait?.(true)
      await pause(call === 0 ? 20 : 200)
      onWait?.(false)
      return 'win'
    })
    const harness: Harness = {
      name: 'wide@1',
      carries: { turns: true, tools: true, images: true },
      async run({ messages, model, reply }) {
        await Promise.all([model.generate({ messages }), model.generate({ messages })])
        return { outcome: (await reply!('win')).done === undefined ? 'completed' : 'env_done' }
      },
    }
    const run = await recorded(game(), { model }, { harness, limits: { wall: 100 } })
    expect(run.only.outcome).toBe('env_done')
  })

  test('stands still while the world has the turn', async () => {
    const env = environment({
      tasks: [{ id: 'slow', prompt: 'go' }],
      world: () => ({
        reply: async () => {
          await pause(200)
          return { content: '', done: 'over' }
        },
        finish: () => null,
      }),
      rewards: { any: () => 1 },
    })
    const run = await recorded(env, { model: replying('hello') }, { limits: { wall: 100 } })
    expect(run.only).toMatchObject({ outcome: 'env_done', fault: null })
  })

  test('runs while the model and the tools work', async () => {
    const env = environment({
      tasks: [{ id: 'slow', prompt: 'go' }],
      world: () => ({
        tools: () => [
          tool({
            name: 'wait',
            description: 'Waits.',
            input: z.object({}),
            run: () => pause(200).then(() => ''),
          }),
        ],
        finish: () => null,
      }),
      rewards: { any: () => 1 },
    })
    const inTool = modelThat((_request, _context, call) =>
      call === 0 ? { message: calling(['wait']) } : 'done',
    )
    const inModel = modelThat(() => pause(200).then(() => 'done'))
    for (const model of [inTool, inModel]) {
      expect((await recorded(env, { model }, { limits: { wall: 60 } })).only.outcome).toBe('wall_limit')
    }
  })

  test('is no wall for another seat', async () => {
    const env = environment({
      tasks: [{ id: 'talk', prompt: 'go' }],
      seats: { user: {} },
      world: () => ({
        reply: (_content, seat) =>
          seat === 'agent' ? { content: 'well?', next: 'user' } : { content: 'bye', done: 'over' },
        finish: () => null,
      }),
      rewards: { any: () => 1 },
    })
    const user = { model: modelThat(() => pause(200).then(() => 'hm')) }
    const run = await recorded(env, { model: replying('hello') }, { seats: { user }, limits: { wall: 100 } })
    expect(run.only).toMatchObject({ outcome: 'env_done', fault: null })
  })
})

describe('the fence', () => {
  test('a tool call, a model call and a reply that come too late change nothing', async () => {
    const late: string[] = []
    let resume = () => {}
    const over = new Promise<void>((resolve) => {
      resume = resolve
    })
    const env = environment({
      tasks: [{ id: 'fenced', prompt: 'go' }],
      world: () => {
        const done: string[] = []
        return {
          reply: () => {
            done.push('reply')
            return { content: 'on' }
          },
          tools: () => [
            tool({
              name: 'write',
              description: 'Writes.',
              input: z.object({}),
              run: () => {
                done.push('write')
                return 'ok'
              },
            }),
          ],
          finish: async () => {
            resume()
            await pause(50)
            return { done }
          },
        }
      },
      rewards: { writes: ({ state }) => state.done.length },
    })
    const harness: Harness = {
      name: 'late@1',
      carries: { turns: true, tools: true, images: true },
      async run({ tools, model, messages, reply }) {
        const write = { id: 'a', name: 'write', arguments: '{}' }
        await tools.run([write], { truncated: false })
        await over
        const tries = {
          tool: tools.run([{ ...write, id: 'b' }], { truncated: false }),
          model: model.generate({ messages }),
          reply: reply!('hello'),
        }
        for (const [name, tried] of Object.entries(tries)) {
          tried.then(
            () => late.push(`${name} got through`),
            () => late.push(name),
          )
        }
        await pause(10)
        return { outcome: 'completed' }
      },
    }
    const run = await recorded(env, { model: replying('x') }, { harness, limits: { wall: 40 } })
    expect(run.only).toMatchObject({
      outcome: 'wall_limit',
      verdict: { reward: 1 },
      counts: { toolCalls: 1, turns: 0 },
    })
    expect(late.sort()).toEqual(['model', 'reply', 'tool'])
    const { nodes, calls } = await run.trajectory()
    expect(nodes.filter(({ message }) => message.role === 'tool')).toHaveLength(1)
    expect(calls).toEqual([])
  })

  test('an agent that is out of time is told so, and what it answers then is not recorded', async () => {
    let told = false
    const run = await recorded(
      game(),
      {
        agent: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              told = true
              resolve('win')
            })
          }),
      },
      { limits: { wall: 40 } },
    )
    await pause(10)
    expect(told).toBe(true)
    expect(run.only).toMatchObject({ outcome: 'wall_limit', verdict: { reward: 0 } })
    expect(JSON.stringify(await run.trajectory())).not.toContain('"win"')
  })

  test('a model call in flight at the wall is given up, and its answer counts for nothing', async () => {
    let aborted = false
    const model = modelThat(async (_request, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      await pause(120)
      return { message: say('win'), usage: tokens(5), costUsd: 1 }
    })
    const run = await recorded(game(), { model }, { limits: { wall: 40 } })
    await pause(120)
    expect(aborted).toBe(true)
    expect(run.only).toMatchObject({ outcome: 'wall_limit', counts: { turns: 0 }, costUsd: { agent: 0 } })
  })
})

describe('a provider fault that was not recovered is a fault, however the agent ended', () => {
  const down = fault('http_503')
  test.for([
    ['passes on', undefined],
    ['says it completed', 'completed'],
    ['says it failed', 'agent_error'],
    ['waits for the wall', 'wall'],
  ] as const)('a harness that %s', async ([, ending]) => {
    const harness: Harness = {
      name: 'forgiving@1',
      carries: { turns: true, tools: true, images: true },
      async run({ model, messages }) {
        try {
          await model.generate({ messages })
        } catch (thrown) {
          if (ending === undefined) throw thrown
        }
        return ending === 'wall' ? never() : { outcome: ending ?? 'completed' }
      },
    }
    const run = await recorded(question, { model: throwing(down) }, { harness, limits: { wall: 60 } })
    expect(run.only).toMatchObject({ outcome: null, verdict: null })
    expect(run.only.fault).toMatchObject({ owner: 'provider', code: 'http_503' })
  })

  test('one that was recovered is none', async () => {
    const model = modelThat((_request, _context, call) => {
      if (call === 0) throw down
      return 'win'
    })
    const harness: Harness = {
      name: 'patient@1',
      carries: { turns: true, tools: true, images: true },
      async run({ model, messages }) {
        const again = () => model.generate({ messages })
        await again().catch(again)
        return { outcome: 'completed' }
      },
    }
    const run = await recorded(question, { model }, { harness })
    expect(run.only).toMatchObject({ outcome: 'completed', fault: null })
    expect((await run.trajectory()).calls.map(({ fault }) => fault?.code)).toEqual(['http_503', undefined])
  })

  test('a model that throws something else is a fault of its client', async () => {
    const run = await recorded(question, { model: throwing(new TypeError('x is not a function')) })
    expect(run.only.fault).toMatchObject({ owner: 'platform', stage: 'model', code: 'client_threw' })
  })
})

test('a world that ends the episode inside a tool, with a reward, is env_done', async () => {
  const env = environment({
    tasks: [{ id: 'buy', prompt: 'go' }],
    world: () => ({
      tools: () => [
        tool({
          name: 'buy',
          description: 'Buys.',
          input: z.object({}),
          run: () => ({ content: 'sold', done: 'bought', reward: 3 }),
        }),
      ],
      finish: () => null,
    }),
    rewards: { paid: ({ transcript }) => transcript.turnRewards.reduce((a, b) => a + b, 0) },
  })
  const byModel = await recorded(env, { model: replying({ message: calling(['buy'], ['buy']) }) })
  expect(byModel.only).toMatchObject({ outcome: 'env_done', stop: 'bought', verdict: { reward: 3 } })
  const second: string[] = []
  const byFunction = await recorded(env, {
    agent: async ({ call }) => {
      await call('buy')
      second.push(await call('buy'))
      return 'done'
    },
  })
  expect(byFunction.only).toMatchObject({
    outcome: 'env_done',
    verdict: { reward: 3 },
    counts: { toolCalls: 1 },
  })
  expect(second[0]).toContain('error: episode_over')
})

test('junk in tool calls is counted and told to the model, and never ends a rollout', async () => {
  const replies = [
    calling(['raed', { path: 'a' }], ['read', '{'], ['read', { path: 5 }]),
    calling(['raed', { path: 'a' }], ['read', 'no json'], ['read', { path: 5 }]),
    calling(['read', { path: 'a' }]),
  ]
  const model = modelThat((_request, _context, call) =>
    call < replies.length ? { message: replies[call]! } : 'done',
  )
  const run = await recorded(filesTool, { model })
  expect(run.only).toMatchObject({ outcome: 'completed', counts: { toolCalls: 1 } })
  expect(run.only.counts.toolErrors).toEqual({
    truncated: 3,
    unknown_tool: 1,
    malformed: 1,
    arguments_invalid: 1,
  })
})

test('a wall limit that passes while a failed call is tried again is the fault of the provider', async () => {
  const env = environment({ tasks: [{ id: 't', prompt: 'go' }], rewards: { any: () => 0 } })
  const model: Model = {
    id: 'flaky',
    async generate(_request, { onWait, signal }) {
      onWait?.(true, 'backoff')
      await new Promise((resolve) => setTimeout(resolve, 30))
      onWait?.(false, 'backoff')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      throw new Error('given up')
    },
  }
  const run = await recorded(env, { model }, { limits: { wall: 60 }, maxTries: 1 })
  expect(run.states[0]!.status).toBe('faulted')
  expect(run.only.fault).toMatchObject({ owner: 'provider', code: 'unrecovered', retryable: true })
})
