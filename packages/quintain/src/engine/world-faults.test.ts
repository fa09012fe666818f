import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { environment, FaultError, tool, type World } from '../core/index.ts'
import { never, pause, recorded } from './__fixtures__/recorded.ts'

const limits = { tool: 40, grade: 2_000 }

/** Two tasks in one world: `bad` meets the failing method, `good` the same world without it. */
function environmentWith(
  failing: Partial<World<unknown>> | (() => unknown),
  needs?: readonly ('turns' | 'tools')[],
) {
  const env = environment({
    tasks: [
      { id: 'bad', prompt: 'go' },
      { id: 'good', prompt: 'go' },
    ],
    ...(needs === undefined ? {} : { needs }),
    world(task): World<unknown> | Promise<World<unknown>> {
      const sound: World<unknown> = { finish: () => ({ ended: true }) }
      if (task.id === 'good') return sound
      if (typeof failing === 'function') return failing() as World<unknown>
      return { ...sound, ...failing }
    },
    rewards: { present: () => 1 },
  })
  return { env }
}

const boom = () => {
  throw new Error('boom')
}
const add = (run: () => never | Promise<never>) => () => [
  tool({ name: 'act', description: 'Acts.', input: z.object({}), run }),
]
/** Answers, and calls the tool where there is one. */
const agent = async ({
  tools,
  call,
}: {
  tools: readonly { name: string }[]
  call(name: string): Promise<string>
}) => (tools.length > 0 ? await call('act') : 'hello')

describe('a world that fails is a fault of the world, and of nobody else', () => {
  const cases: [
    string,
    Partial<World<unknown>> | (() => unknown),
    { stage: string; code: string; tries: number },
  ][] = [
    ['world() throws', boom, { stage: 'open', code: 'threw', tries: 2 }],
    ['world() rejects', async () => boom(), { stage: 'open', code: 'threw', tries: 2 }],
    ['world() hangs', never, { stage: 'open', code: 'timeout', tries: 2 }],
    ['world() gives nothing', () => undefined, { stage: 'open', code: 'bad_world', tries: 1 }],
    ['open throws', { open: boom }, { stage: 'open', code: 'threw', tries: 2 }],
    ['open hangs', { open: never }, { stage: 'open', code: 'timeout', tries: 2 }],
    ['open gives no content', { open: () => 5 as never }, { stage: 'open', code: 'bad_content', tries: 1 }],
    ['endpoints throws', { endpoints: boom }, { stage: 'open', code: 'threw', tries: 2 }],
    ['reply throws', { reply: boom }, { stage: 'reply', code: 'threw', tries: 2 }],
    ['reply rejects', { reply: async () => boom() }, { stage: 'reply', code: 'threw', tries: 2 }],
    ['reply hangs', { reply: never }, { stage: 'reply', code: 'timeout', tries: 2 }],
    [
      'reply gives nothing',
      { reply: () => undefined as never },
      { stage: 'reply', code: 'bad_turn', tries: 1 },
    ],
    [
      'reply gives a reward that is no number',
      { reply: () => ({ content: 'x', done: 'over', reward: Number.NaN }) },
      { stage: 'reply', code: 'bad_turn', tries: 1 },
    ],
    [
      'reply gives `done: true`',
      { reply: () => ({ content: 'x', done: true as never }) },
      { stage: 'reply', code: 'bad_turn', tries: 1 },
    ],
    [
      'reply names an unknown seat',
      { reply: () => ({ content: 'x', next: 'nobody' }) },
      { stage: 'reply', code: 'unknown_seat', tries: 1 },
    ],
    ['a tool throws', { tools: add(boom) }, { stage: 'tool', code: 'threw', tries: 2 }],
    ['a tool hangs', { tools: add(never) }, { stage: 'tool', code: 'timeout', tries: 2 }],
    [
      'a tool gives nothing',
      { tools: add((() => undefined) as never) },
      { stage: 'tool', code: 'bad_result', tries: 1 },
    ],
    ['tools() throws', { tools: boom }, { stage: 'tools', code: 'threw', tries: 2 }],
    ['tools() hangs', { tools: never }, { stage: 'tools', code: 'timeout', tries: 2 }],
    [
      'tools() gives nothing',
      { tools: () => undefined as never },
      { stage: 'tools', code: 'bad_tools', tries: 1 },
    ],
    [
      'tools() gives one name twice',
      { tools: () => [...add(boom)(), ...add(boom)()] },
      { stage: 'tools', code: 'bad_tools', tries: 1 },
    ],
    ['snapshot throws', { snapshot: boom }, { stage: 'snapshot', code: 'threw', tries: 2 }],
    ['snapshot hangs', { snapshot: never }, { stage: 'snapshot', code: 'timeout', tries: 2 }],
    ['finish throws', { finish: boom }, { stage: 'finish', code: 'threw', tries: 2 }],
    ['finish hangs', { finish: never }, { stage: 'finish', code: 'timeout', tries: 2 }],
    [
      'finish gives a cycle',
      {
        finish() {
          const state: Record<string, unknown> = {}
          state['self'] = state
          return state
        },
      },
      { stage: 'finish', code: 'state_not_plain', tries: 1 },
    ],
    [
      'finish gives what JSON would change in silence',
      { finish: () => ({ seen: new Set([1]) }) },
      { stage: 'finish', code: 'state_not_plain', tries: 1 },
    ],
  ]
  test.for(cases)('%s', async ([, failing, expected]) => {
    const run = await recorded(environmentWith(failing).env, { agent }, { limits })
    const [bad, good] = run.states
    expect(bad!.chosen!.fault).toMatchObject({ owner: 'world', stage: expected.stage, code: expected.code })
    expect(bad!.chosen!.outcome).toBeNull()
    expect(bad!.status).toBe('faulted')
    // A world that may recover gets one more try; one that breaks the contract does not.
    expect(bad!.tries).toBe(expected.tries)
    expect(good!.status).toBe('scored')
    expect(good!.chosen!.verdict!.reward).toBe(1)
    expect(run.end.stop).toBeUndefined()
  })

  test('the message says what was called and what it threw', async () => {
    const run = await recorded(environmentWith({ reply: boom }).env, { agent }, { tasks: ['bad'] })
    expect(run.only.fault!.message).toBe('world.reply() threw: boom')
    expect((await run.hidden())!.errors![0]!.text).toContain('world-faults.test.ts')
  })

  test('an agent that hides what a tool threw is not blamed for it', async () => {
    const { env } = environmentWith({ tools: add(boom) })
    const hiding = async (turn: Parameters<typeof agent>[0]) => {
      try {
        await agent(turn)
      } catch {}
      return 'all is well'
    }
    const raging = async (turn: Parameters<typeof agent>[0]) => {
      try {
        return await agent(turn)
      } catch {
        throw new Error('my tool is broken')
      }
    }
    for (const player of [hiding, raging]) {
      const run = await recorded(env, { agent: player }, { tasks: ['bad'] })
      expect(run.only.fault).toMatchObject({ owner: 'world', stage: 'tool', code: 'threw' })
    }
  })

  test('a world may say whose fault it is', async () => {
    const { env } = environmentWith({
      reply() {
        throw new FaultError({ owner: 'sandbox', code: 'lost', message: 'the box is gone', retryable: true })
      },
    })
    const run = await recorded(env, { agent }, { tasks: ['bad'], maxTries: 2 })
    expect(run.only.fault).toMatchObject({ owner: 'sandbox', stage: 'reply', code: 'lost' })
    expect(run.attempts).toHaveLength(2)
  })

  test('a world that fails once is scored at the second try', async () => {
    let calls = 0
    const { env } = environmentWith({
      reply: () => {
        if (calls++ === 0) throw new Error('cold start')
        return { content: 'done', done: 'won' }
      },
    })
    const run = await recorded(env, { agent }, { tasks: ['bad'] })
    expect(run.states[0]).toMatchObject({ status: 'scored', tries: 2 })
    expect(run.attempts.map(({ final }) => final)).toEqual([false, true])
    expect(run.only).toMatchObject({ outcome: 'env_done', stop: 'won' })
  })
})

describe('closing', () => {
  test.for([
    ['throws', boom],
    ['rejects', async () => boom()],
  ] as const)('a world whose close() %s keeps its reward', async ([, close]) => {
    const run = await recorded(environmentWith({ close }).env, { agent }, { tasks: ['bad'] })
    expect(run.only.verdict!.reward).toBe(1)
    expect(run.only.fault).toBeNull()
    expect(run.only.counts.flags).toMatchObject({ world_close_failed: 1 })
    expect((await run.hidden())!.errors).toMatchObject([{ stage: 'close' }])
  })

  test('every world that was opened is closed, also those that fail', async () => {
    const open = new Set<object>()
    const env = environment({
      tasks: ['fine', 'throws', 'hangs'].map((id) => ({ id, prompt: 'go' })),
      world(task) {
        const world: World<null> = {
          reply: () => (task.id === 'throws' ? boom() : { content: '', done: 'over' }),
          finish: () => (task.id === 'hangs' ? never() : null),
          close: () => void open.delete(world),
        }
        open.add(world)
        return world
      },
      rewards: { any: () => 1 },
    })
    await recorded(env, { agent }, { limits })
    expect(open.size).toBe(0)
  })

  test('a world that comes after its deadline is closed', async () => {
    let closed = 0
    const env = environment({
      tasks: [{ id: 'late', prompt: 'go' }],
      needs: ['turns'],
      world: async () => {
        await pause(80)
        return { finish: () => null, close: () => void closed++ }
      },
      rewards: { any: () => 1 },
    })
    const run = await recorded(env, { agent }, { limits, maxTries: 1 })
    expect(run.only.fault).toMatchObject({ stage: 'open', code: 'timeout' })
    await pause(200)
    expect(closed).toBe(1)
  })

  test("a world's signal is aborted when its attempt is over", async () => {
    const signals: AbortSignal[] = []
    const env = environment({
      tasks: [{ id: 'one', prompt: 'go' }],
      needs: [],
      world: (_task, { signal }) => {
        signals.push(signal)
        return { finish: () => ({ aborted: signal.aborted }) }
      },
      rewards: { live: ({ state }) => Number(!state.aborted) },
    })
    const run = await recorded(env, { agent })
    expect(run.only.verdict!.reward).toBe(1)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })
})

describe('eight rollouts of a task are the same task', () => {
  test('what a world writes into its task reaches no other rollout, no grader, and not the author', async () => {
    const data = { stock: ['a', 'b'] }
    const env = environment({
      tasks: [{ id: 'shop', prompt: 'buy', data, secret: { left: 2 } }],
      world(task) {
        const seen = task.data.stock.length
        task.data.stock.pop()
        task.secret.left = 0
        return { finish: () => ({ seen }) }
      },
      rewards: {
        seen: ({ state }) => state.seen,
        kept: ({ task }) => task.secret.left + task.data.stock.length,
      },
    })
    const run = await recorded(env, { agent }, { repeats: 4, concurrency: 1 })
    expect(run.states.map(({ chosen }) => chosen!.verdict!.rewards)).toEqual(
      Array.from({ length: 4 }, () => ({ seen: 2, kept: 4 })),
    )
    expect(data.stock).toEqual(['a', 'b'])
  })

  test('an agent that writes into its task fails alone', async () => {
    const env = environment({
      tasks: [{ id: 'shop', prompt: 'buy', data: { price: 10 } }],
      rewards: { price: ({ task }) => task.data.price },
    })
    const run = await recorded(env, {
      agent: ({ task }) => {
        ;(task as { data: { price: number } }).data.price = 1_000
        return 'bought'
      },
    })
    expect(run.only).toMatchObject({ outcome: 'agent_error', verdict: { reward: 10 } })
  })

  test('the worlds of a task draw the same numbers, run after run', async () => {
    const env = environment({
      tasks: [
        { id: 'one', prompt: 'go' },
        { id: 'two', prompt: 'go' },
      ],
      world: (_task, { rng, clock }) => {
        const drawn = rng.int(1_000_000) + clock.now() / 1e15
        return { finish: () => ({ drawn }) }
      },
      rewards: { drawn: ({ state }) => state.drawn },
    })
    const drawn = async () =>
      (await recorded(env, { agent }, { repeats: 3 })).states.map(({ chosen }) => chosen!.verdict!.reward)
    const first = await drawn()
    expect(new Set(first).size).toBe(2)
    expect(await drawn()).toEqual(first)
  })
})
