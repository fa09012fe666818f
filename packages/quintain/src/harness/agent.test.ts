import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import type { AssistantMessage, ModelAddress, ModelResponse } from '../core/index.ts'
import { SeatStop } from '../gateway/index.ts'
import { type FakeOptions, fakeContext } from './__fixtures__/fake-context.ts'
import { type AgentFunction, agent, agentFunction } from './agent.ts'
import type { AiCallOptions, AiStreamPart } from './ai-sdk/types.ts'
import { currentRollout, rolloutBaseURL, rolloutFetch } from './rollout.ts'

async function play(run: AgentFunction, options?: FakeOptions) {
  const { context, done } = fakeContext(options)
  return { ...(await agent(run).run(context)), ...done }
}

const calling: Partial<ModelResponse> = {
  message: {
    role: 'assistant',
    content: 'I look.',
    reasoning: 'hm',
    toolCalls: [{ id: 'c1', name: 'act', arguments: '{"n": 1}' }],
    extra: { signature: 'x' },
  },
  finish: 'tool_calls',
  finishRaw: 'tool_use',
  usage: { fresh: 3, cacheRead: 2, cacheWrite: 1, output: 5, reasoning: 2 },
  responseId: 'r1',
  model: 'm-1',
}
const done: Partial<ModelResponse> = { message: { role: 'assistant', content: 'done' } }

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
        const client = new Client({ name: 'agent', version: '1' })
        await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
        heard.push((await client.callTool({ name: 'act', arguments: { n: 3 } })).content)
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
    await expect(rolloutFetch(`${rolloutBaseURL}/models`)).rejects.toMatchObject({ code: 'usage' })
    await play(() => `${currentRollout().task.id}`)
  })
})

const prompt = (more: AiCallOptions['prompt'] = []): AiCallOptions['prompt'] => [
  { role: 'system', content: 'Be good.' },
  { role: 'user', content: [{ type: 'text', text: 'go' }] },
  ...more,
]

describe('the model of an agent, for the AI SDK', () => {
  test('says the same as both versions', async () => {
    await play(({ model }) => {
      expect(model).toMatchObject({
        specificationVersion: 'v3',
        provider: 'quintain',
        modelId: 'script:test',
      })
      expect(model.v4).toMatchObject({ specificationVersion: 'v4', modelId: 'script:test' })
      return 'x'
    })
  })

  test('asks with every setting that it was given, and gives all of the reply', async () => {
    let result: unknown
    const end = await play(
      async ({ model }) => {
        result = await model.doGenerate({
          prompt: prompt(),
          maxOutputTokens: 9,
          temperature: 0.5,
          topP: 0.9,
          stopSequences: ['X'],
          seed: 3,
          reasoning: 'low',
          topK: 4,
          presencePenalty: 0.1,
          frequencyPenalty: 0.2,
          toolChoice: { type: 'tool', toolName: 'act' },
          responseFormat: { type: 'json', name: 'out', schema: { type: 'object' } },
          tools: [
            {
              type: 'function',
              name: 'act',
              description: 'Acts.',
              inputSchema: { type: 'object' },
              strict: true,
            },
            { type: 'provider', name: 'search' },
          ],
          providerOptions: { quintain: { min_p: 0.1 }, openai: { user: 'x' } },
        })
        return 'x'
      },
      { replies: [calling] },
    )
    expect(result).toEqual({
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'I look.' },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'act', input: '{"n": 1}' },
      ],
      finishReason: { unified: 'tool-calls', raw: 'tool_use' },
      usage: {
        inputTokens: { total: 6, noCache: 3, cacheRead: 2, cacheWrite: 1 },
        outputTokens: { total: 5, text: 3, reasoning: 2 },
      },
      response: { id: 'r1', modelId: 'm-1' },
      warnings: [{ type: 'unsupported', feature: 'provider-defined tool search' }],
    })
    const [request] = end.sent
    expect(request).toMatchObject({
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'go' },
      ],
      tools: [{ name: 'act', description: 'Acts.', parameters: { type: 'object' }, strict: true }],
      sampling: {
        maxTokens: 9,
        temperature: 0.5,
        topP: 0.9,
        stop: ['X'],
        seed: 3,
        reasoningEffort: 'low',
        extra: { min_p: 0.1 },
      },
    })
    expect(request!.wire!.settings).toEqual({
      own: [],
      toolChoice: { tool: 'act' },
      responseFormat: { type: 'schema', name: 'out', schema: { type: 'object' } },
      topK: 4,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
    })
    expect(request!.wire!.body).toMatchObject({
      messages: [{ role: 'system' }, { role: 'user', content: 'go' }],
      temperature: 0.5,
      tool_choice: { type: 'function', function: { name: 'act' } },
      response_format: { type: 'json_schema', json_schema: { name: 'out', schema: { type: 'object' } } },
      top_k: 4,
    })
  })

  test('asks plainly where nothing more was said', async () => {
    const end = await play(async ({ model }) => {
      await model.doGenerate({
        prompt: prompt(),
        toolChoice: { type: 'auto' },
        responseFormat: { type: 'text' },
      })
      return 'x'
    })
    expect(end.sent[0]).toEqual({
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'go' },
      ],
    })
  })

  test('knows its own reply again, whatever the SDK made of it', async () => {
    const end = await play(
      async ({ model }) => {
        await model.doGenerate({ prompt: prompt() })
        const reply = (reasoning: string): AiCallOptions['prompt'][number] => ({
          role: 'assistant',
          content: [
            { type: 'reasoning', text: reasoning },
            { type: 'text', text: 'I look.' },
            { type: 'tool-call', toolCallId: 'c1', toolName: 'act', input: { n: 1 } },
          ],
        })
        const result: AiCallOptions['prompt'][number] = {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c1',
              toolName: 'act',
              output: { type: 'json', value: { ok: 1 } },
            },
          ],
        }
        await model.doGenerate({ prompt: prompt([reply('hm'), result]) })
        await model.v4.doGenerate({ prompt: prompt([reply('edited'), result]) })
        return 'x'
      },
      { replies: [calling, done] },
    )
    // The message itself: as it was sampled, with what only its provider knows.
    expect(end.sent[1]!.messages[2]).toBe(calling.message)
    expect(end.sent[1]!.messages[3]).toEqual({
      role: 'tool',
      toolCallId: 'c1',
      name: 'act',
      content: '{"ok":1}',
    })
    expect(end.sent[2]!.messages[2]).toEqual({
      role: 'assistant',
      content: 'I look.',
      reasoning: 'edited',
      toolCalls: [{ id: 'c1', name: 'act', arguments: '{"n":1}' }],
    } satisfies AssistantMessage)
  })

  test('takes images in the form of either version, and refuses what is no image', async () => {
    const bytes = new Uint8Array([1, 2])
    const image = { type: 'image', mediaType: 'image/png', data: 'AQI=' }
    const url = { type: 'image', mediaType: 'image/*', url: 'https://x.example/a.png' }
    const parts = [
      { type: 'file', mediaType: 'image/png', data: bytes },
      { type: 'file', mediaType: 'image/png', data: 'AQI=' },
      { type: 'file', mediaType: 'image/*', data: new URL('https://x.example/a.png') },
      { type: 'file', mediaType: 'image/png', data: { type: 'data' as const, data: bytes } },
      {
        type: 'file',
        mediaType: 'image/*',
        data: { type: 'url' as const, url: new URL('https://x.example/a.png') },
      },
    ]
    const end = await play(async ({ model }) => {
      await model.doGenerate({ prompt: [{ role: 'user', content: parts }] })
      const results = [
        { type: 'text', text: 'see' },
        { type: 'file-data', mediaType: 'image/png', data: 'AQI=' },
        { type: 'image-url', url: 'https://x.example/a.png' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: bytes } },
      ]
      await model.doGenerate({
        prompt: [
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: 'c', output: { type: 'content', value: results } }],
          },
        ],
      })
      const pdf = { type: 'file', mediaType: 'application/pdf', data: 'AQI=' }
      await expect(model.doGenerate({ prompt: [{ role: 'user', content: [pdf] }] })).rejects.toThrow(
        'holds a file of type application/pdf',
      )
      return 'x'
    })
    expect(end.sent[0]!.messages[0]!.content).toEqual([image, image, url, image, url])
    expect(end.sent[1]!.messages[0]!.content).toEqual([{ type: 'text', text: 'see' }, image, url, image])
  })

  async function streamed(options: Partial<AiCallOptions>, replies: FakeOptions['replies']) {
    const parts: AiStreamPart[] = []
    await play(
      async ({ model }) => {
        const { stream } = await model.doStream({ prompt: prompt(), ...options })
        for await (const part of stream) parts.push(part)
        return 'x'
      },
      { replies: replies! },
    )
    return parts
  }

  test('streams text as it comes, and tells the rest at the end', async () => {
    const parts = await streamed({}, [calling])
    expect(parts.map(({ type }) => type)).toEqual([
      'stream-start',
      'text-start',
      ...Array<string>(4).fill('text-delta'),
      'text-end',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-end',
      'tool-call',
      'response-metadata',
      'finish',
    ])
    const text = parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : [])).join('')
    expect(text).toBe('I look.')
  })

  test('a stream that nobody reads holds the model back, and one that is left ends the call', async () => {
    let pieces = 0
    let ended: unknown
    const { context } = fakeContext()
    context.model.generate = async (_request, { onDelta, signal } = {}) => {
      try {
        for (; !signal?.aborted; pieces++) await onDelta?.({ type: 'text', text: 'x' })
        signal.throwIfAborted()
        throw new Error('never')
      } catch (thrown) {
        ended = thrown
        throw thrown
      }
    }
    const run = agent(async ({ model }) => {
      const { stream } = await model.doStream({ prompt: prompt() })
      const reader = stream.getReader()
      await reader.read()
      await sleep(20)
      expect(pieces).toBeLessThan(5)
      await reader.cancel()
      await expect
        .poll(() => ended, { timeout: 30_000 })
        .toMatchObject({ message: 'the stream was cancelled' })
      return 'x'
    })
    await run.run(context)
  })

  test('a refused call is an error that the SDK knows and does not retry', async () => {
    const stop = new SeatStop({ outcome: 'turn_limit' })
    const expected = {
      name: 'AI_APICallError',
      isRetryable: false,
      statusCode: 403,
      cause: stop,
      message: expect.stringContaining('turn_limit') as string,
    }
    await play(
      async ({ model }) => {
        const error: unknown = await Promise.resolve(model.doGenerate({ prompt: prompt() })).catch(
          (thrown: unknown) => thrown,
        )
        expect(error).toMatchObject(expected)
        expect((error as Record<symbol, unknown>)[Symbol.for('vercel.ai.error.AI_APICallError')]).toBe(true)
        await expect(model.v4.doStream({ prompt: prompt() })).rejects.toMatchObject(expected)
        const items = { input: 'go', modelSettings: {}, tools: [], outputType: 'text' as const, handoffs: [] }
        await expect(model.openaiAgents.getModel().getResponse(items)).rejects.toMatchObject(expected)
        return 'x'
      },
      { replies: [stop] },
    )
  })
})

describe('the model of an agent, for the OpenAI Agents SDK', () => {
  const asked = (more: object = {}) => ({
    systemInstructions: 'Be good.',
    input: 'go' as const,
    modelSettings: {},
    tools: [],
    outputType: 'text' as const,
    handoffs: [],
    ...more,
  })

  test('asks what it is asked', async () => {
    const end = await play(async ({ model }) => {
      await model.openaiAgents.getModel('any').getResponse(
        asked({
          modelSettings: {
            temperature: 0.1,
            maxTokens: 5,
            toolChoice: 'required',
            parallelToolCalls: false,
            reasoning: { effort: 'high' },
            providerData: { top_k: 2 },
          },
          tools: [
            {
              type: 'function',
              name: 'act',
              description: 'Acts.',
              parameters: { type: 'object' },
              strict: true,
            },
          ],
          handoffs: [{ toolName: 'to_b', toolDescription: 'To b.', inputJsonSchema: { type: 'object' } }],
          outputType: { type: 'json_schema', name: 'out', strict: true, schema: { type: 'object' } },
        }),
      )
      return 'x'
    })
    expect(end.sent[0]).toMatchObject({
      messages: [
        { role: 'system', content: 'Be good.' },
        { role: 'user', content: 'go' },
      ],
      tools: [{ name: 'act', strict: true }, { name: 'to_b' }],
      sampling: { temperature: 0.1, maxTokens: 5, reasoningEffort: 'high', extra: { top_k: 2 } },
      wire: {
        dialect: 'chat',
        settings: {
          toolChoice: 'required',
          parallelToolCalls: false,
          responseFormat: { type: 'schema', name: 'out', strict: true },
        },
        body: { tool_choice: 'required', parallel_tool_calls: false },
      },
    })
  })

  test('gives a reply as items, and reads them back as the reply', async () => {
    const end = await play(
      async ({ model }) => {
        const provider = model.openaiAgents.getModel()
        const { output, usage, responseId } = await provider.getResponse(asked())
        expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
        expect(usage).toMatchObject({ requests: 1, inputTokens: 6, outputTokens: 5, totalTokens: 11 })
        expect(responseId).toBe('r1')
        const result = {
          type: 'function_call_result',
          callId: 'c1',
          name: 'act',
          output: { type: 'text', text: 'ok' },
        }
        await provider.getResponse(asked({ input: [{ role: 'user', content: 'go' }, ...output, result] }))
        return 'x'
      },
      { replies: [calling, done] },
    )
    const [system, user, reply, result] = end.sent[1]!.messages
    expect([system, user]).toEqual(end.sent[0]!.messages)
    expect(reply).toBe(calling.message)
    expect(result).toEqual({ role: 'tool', toolCallId: 'c1', name: 'act', content: 'ok' })
  })

  test('streams text as it comes, and ends with the whole reply', async () => {
    const events: { type: string; delta?: string }[] = []
    await play(
      async ({ model }) => {
        for await (const event of model.openaiAgents.getModel().getStreamedResponse(asked()))
          events.push(event)
        return 'x'
      },
      { replies: [calling] },
    )
    expect(events.map(({ type }) => type)).toEqual([
      'response_started',
      ...Array<string>(4).fill('output_text_delta'),
      'response_done',
    ])
    expect(events.map(({ delta = '' }) => delta).join('')).toBe('I look.')
  })

  test('refuses what no chat model has, in words', async () => {
    await play(async ({ model }) => {
      const provider = model.openaiAgents.getModel()
      for (const [more, words] of [
        [{ tools: [{ type: 'hosted_tool', name: 'web_search' }] }, 'one of type hosted_tool'],
        [{ previousResponseId: 'r' }, 'send the whole history'],
        [{ input: [{ type: 'computer_call' }] }, 'an item of type computer_call'],
        [{ input: [{ role: 'user', content: [{ type: 'audio', audio: 'x' }] }] }, 'the input holds audio'],
      ] as const)
        await expect(provider.getResponse(asked(more))).rejects.toThrow(words)
      return 'x'
    })
  })
})
