import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ModelAddress } from '../core/index.ts'
import { mcpTools } from '../mcp/index.ts'
import { type FakeOptions, fakeContext } from './__fixtures__/fake-context.ts'
import { type AgentFunction, agent, agentFunction } from './agent.ts'
import { rolloutBaseURL } from './model-fetch.ts'
import { currentRollout, rolloutFetch } from './rollout.ts'

async function play(run: AgentFunction, options?: FakeOptions) {
  const { context, done } = fakeContext(options)
  return { ...(await agent(run).run(context)), ...done }
}

/** Says on whose behalf it was asked. */
function addressSaying(name: string, asked: Request[] = []): ModelAddress {
  return {
    baseURL: `http://127.0.0.1:9/r/${name}/v1`,
    anthropicBaseURL: `http://127.0.0.1:9/r/${name}`,
    apiKey: `key-${name}`,
    model: 'quintain',
    socketPath: '/nowhere.sock',
    path: `/r/${name}/v1`,
    fetch: async (input, init) => {
      asked.push(new Request(input, init))
      return new Response(name)
    },
  }
}

describe('agent', () => {
  test('refuses at once what is no function', () => {
    expect(() => agent(3 as never)).toThrow(/^agent\(\): give a function that answers; this is number/)
  })

  test('has a name, and is called in the main process', () => {
    expect(
      agent(async function triage() {
        return ''
      }),
    ).toMatchObject({ name: 'agent:triage', runs: 'outside' })
    expect(agent(() => '').name).toBe('agent:agent')
    expect(agent(() => '', { name: 'mine' }).name).toBe('agent:mine')
    expect(agentFunction(() => '', 'mine')).toMatchObject({ name: 'mine@function', runs: 'outside' })
  })

  test('is recorded by what it says only while its model calls do not pass here', async () => {
    const reply = (_content: unknown, nth: number) =>
      nth === 2 ? { content: 'yes', done: 'won' } : { content: 'no' }
    const own = await play(() => 'x', { reply })
    expect(own.recorded.map((messages) => messages.length)).toEqual([3, 5, 7])
    const ours = await play(
      async ({ model }) => (await model.doGenerate({ prompt: [] })).content.length.toString(),
      { reply },
    )
    expect(ours.recorded).toEqual([])
    const later = await play(
      async ({ model, messages }) => {
        if (messages.length > 2) await model.doGenerate({ prompt: [] })
        return 'x'
      },
      { reply },
    )
    expect(later.recorded).toHaveLength(1)
    const once = await play(
      async ({ model, messages }) => {
        if (messages.length === 2) await model.doGenerate({ prompt: [] })
        return 'x'
      },
      { reply },
    )
    expect(once.recorded.map((messages) => messages.length)).toEqual([5, 7])
    const { context, done: idle } = fakeContext()
    await agent(() => 'x').run({ ...context, model: { ...context.model, present: true } })
    expect(idle.recorded).toEqual([])
  })

  test('keeps its memory for the attempt, and no longer', async () => {
    const counts: unknown[] = []
    const counting: AgentFunction = ({ memory }) => {
      memory['count'] = Number(memory['count'] ?? 0) + 1
      counts.push(memory['count'])
      return 'x'
    }
    const reply = (_content: unknown, nth: number) => ({
      content: 'no',
      ...(nth === 1 ? { done: 'over' } : {}),
    })
    await play(counting, { reply })
    await play(counting, { reply })
    expect(counts).toEqual([1, 2, 1, 2])
  })

  test('has its tools as a tool set, by MCP and by call: one after the other, none after the end', async () => {
    const heard: unknown[] = []
    const end = await play(
      async ({ aiTools, call, mcp }) => {
        const act = aiTools['act']!
        const schema = act.inputSchema as unknown as Record<symbol, unknown> & { jsonSchema: unknown }
        expect(schema[Symbol.for('vercel.ai.schema')]).toBe(true)
        expect(schema.jsonSchema).toEqual(
          act.inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' }),
        )
        expect(act.inputSchema['~standard'].validate({ n: 1 })).toMatchObject({ value: { n: 1 } })
        heard.push(...(await Promise.all([act.execute({ n: 1 }), call('act', { n: 2 }), call('nope')])))
        const { url, headers } = await mcp()
        const client = await mcpTools({ url, headers })
        heard.push((await client.call('act', { n: 3 })).content)
        await client.close()
        heard.push(await call('end'), await act.execute({ n: 4 }))
        return 'x'
      },
      { tools: true },
    )
    expect(heard).toEqual([
      'act {"n":1}',
      'act {"n":2}',
      'error: unknown_tool: nope {}',
      [{ type: 'text', text: 'act {"n":3}' }],
      'end {}',
      'error: episode_over: the episode has ended; answer now',
    ])
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'sold' })
    expect(end.ran.map(({ arguments: text }) => text)).toEqual(['{"n":1}', '{"n":2}', '{}', '{"n":3}', '{}'])
  })

  test('may call a tool when the attempt is over; none is run', async () => {
    let late: (() => Promise<string>) | undefined
    const end = await play(
      ({ call }) => {
        late = () => call('act')
        return 'x'
      },
      { tools: true },
    )
    expect(await late!()).toMatch(/^error: episode_over/)
    expect(end.ran).toEqual([])
  })

  test('opens nothing that it does not use', async () => {
    const opened: string[] = []
    const address = async () => {
      opened.push('address')
      return addressSaying('a')
    }
    await play(
      ({ model }) => `${model.modelId} ${model.baseURL} ${model.apiKey} ${model.v4.specificationVersion}`,
      { address },
    )
    expect(opened).toEqual([])
  })
})

describe('the model of an agent, for clients that take a base URL', () => {
  test.for<[string, string]>([
    ['http://quintain.invalid/v1/chat/completions', '/r/a/v1/chat/completions'],
    ['http://quintain.invalid/v1/models?limit=1', '/r/a/v1/models?limit=1'],
    ['http://quintain.invalid/v1', '/r/a/v1'],
    ['/v1/messages', '/r/a/v1/messages'],
    ['/messages', '/r/a/v1/messages'],
  ])('%s leads to %s with its own credential', async ([url, path]) => {
    const asked: Request[] = []
    await play(
      async ({ model }) => {
        const headers = { 'x-api-key': 'none', authorization: 'Bearer none', 'x-mine': 'yes' }
        const reply = await model.fetch(url, { method: 'POST', headers, body: '{"a":1}' })
        return reply.text()
      },
      { address: async () => addressSaying('a', asked) },
    )
    const [request] = asked
    expect(new URL(request!.url).pathname + new URL(request!.url).search).toBe(path)
    expect(Object.fromEntries(request!.headers)).toMatchObject({
      authorization: 'Bearer key-a',
      'x-mine': 'yes',
    })
    expect(request!.headers.has('x-api-key')).toBe(false)
    expect(await request!.text()).toBe('{"a":1}')
  })

  test('a client that all rollouts share asks for the one that runs', async () => {
    // Made once, outside of any rollout, as agents do.
    const ask = async (input: string | URL | Request) => (await rolloutFetch(input)).text()
    const one = (name: string) =>
      play(
        async () => {
          await sleep(Math.random() * 20)
          const [first] = await Promise.all([ask(`${rolloutBaseURL}/models`), sleep(1)])
          await sleep(Math.random() * 20)
          return `${first} ${await ask(new Request(new URL(`${rolloutBaseURL}/models`)))}`
        },
        { address: async () => addressSaying(name) },
      )
    const names = Array.from({ length: 50 }, (_, at) => `a${at}`)
    const ends = await Promise.all(names.map(one))
    expect(ends.map(({ answer }) => answer)).toEqual(names.map((name) => `${name} ${name}`))
  })

  test('outside of a rollout there is none', async () => {
    expect(() => currentRollout()).toThrow(expect.objectContaining({ code: 'usage' }))
    const outside = await rolloutFetch(`${rolloutBaseURL}/models`)
    expect([outside.status, outside.headers.get('x-should-retry')]).toEqual([400, 'false'])
    // What OpenAI's SDKs read, and what Anthropic's do.
    expect(await outside.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        code: 'no_rollout',
        message: expect.stringContaining('AsyncResource.bind'),
      },
    })
    await play(() => `${currentRollout().task.id}`)
  })
})
