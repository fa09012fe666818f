import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { Message } from '../core/message.ts'
import { type Model, ModelFault, type ModelRequest } from '../core/model.ts'
import { type ChatModelOptions, createChatModel } from './chat-client.ts'
import {
  type FakeBehaviour,
  type FakeModel,
  type FakeModelOptions,
  fakeChunks,
  fakeCompletion,
  refusingUrl,
  startFakeModel,
} from './fake-server.ts'
import { createLimiter } from './limiter.ts'

const request: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] }
const { signal } = new AbortController()
const quick = { maxRetries: 0, baseMs: 1 }
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function setUp(
  server: FakeModelOptions,
  client: Partial<ChatModelOptions> = {},
): Promise<{ fake: FakeModel; model: Model }> {
  const fake = await startFakeModel(server)
  const model = createChatModel({ model: 'fake', baseUrl: fake.url, retry: quick, ...client })
  closers.push(
    () => fake.close(),
    () => model.close?.(),
  )
  return { fake, model }
}

async function faultOf(promise: Promise<unknown>): Promise<ModelFault> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(ModelFault)
  return thrown as ModelFault
}

describe('a reply', () => {
  test('comes with usage, cost, timing and identity', async () => {
    const usage = {
      prompt_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 800 },
      completion_tokens: 100,
      completion_tokens_details: { reasoning_tokens: 40 },
    }
    const { model } = await setUp(
      { script: [{ kind: 'ok', usage }], latencyMs: 5 },
      { prices: { fake: { input: 2, cacheRead: 0.2, output: 8 } } },
    )
    const reply = await model.generate(request, { signal })
    expect(model.id).toBe('openai-compatible:fake')
    expect(reply).toMatchObject({
      message: { role: 'assistant', content: 'ok' },
      finish: 'stop',
      finishRaw: 'stop',
      usage: { fresh: 200, cacheRead: 800, cacheWrite: 0, output: 100, reasoning: 40 },
      model: 'fake',
      responseId: 'chatcmpl-fake',
    })
    expect(reply.costUsd).toBeCloseTo(0.00136, 10)
    expect(reply.timing!.totalMs).toBeGreaterThanOrEqual(reply.timing!.firstByteMs!)
    expect(reply.retries).toBeUndefined()
  })

  test.each([false, true])('with absurd counts has the others, and no cost (stream: %s)', async (stream) => {
    const usage = '{"prompt_tokens":10,"completion_tokens":1e308}'
    const chunks = [
      { choices: [{ index: 0, delta: { content: 'ok' }, finish_reason: 'stop' }], usage: JSON.parse(usage) },
    ]
    const { model } = await setUp(
      { script: [stream ? { kind: 'stream', chunks } : { kind: 'ok', usage: JSON.parse(usage) }] },
      { stream, prices: { fake: { input: 2, output: 8 } } },
    )
    const reply = await model.generate(request, { signal })
    expect(reply).toMatchObject({ usage: { fresh: 10, output: 0 }, costUsd: null, flags: ['odd_usage'] })
  })

  test('of a model without a price costs an unknown sum', async () => {
    const { model } = await setUp({})
    expect((await model.generate(request, { signal })).costUsd).toBeNull()
  })

  test('without usage has none', async () => {
    const body = { choices: [{ message: { content: 'x' }, finish_reason: 'stop' }] }
    const { model } = await setUp({ script: [{ kind: 'ok', body }] })
    expect((await model.generate(request, { signal })).usage).toBeUndefined()
  })

  test.each([false, true])('with tokens carries them as sampled (stream: %s)', async (stream) => {
    const logprobs = (values: number[]) => ({ content: values.map((logprob) => ({ token: 'x', logprob })) })
    const behaviour: FakeBehaviour = stream
      ? {
          kind: 'stream',
          chunks: [
            {
              prompt_token_ids: [1, 2, 3],
              choices: [{ delta: { content: 'a' }, token_ids: [7], logprobs: logprobs([-0.5]) }],
            },
            { choices: [{ delta: { content: 'b' }, token_ids: [8, 9], logprobs: logprobs([-1, 0]) }] },
            { choices: [{ delta: {}, finish_reason: 'stop' }], weight_version: 'step-4' },
          ],
        }
      : {
          kind: 'ok',
          body: {
            prompt_token_ids: [1, 2, 3],
            choices: [
              {
                message: { content: 'ab' },
                token_ids: [7, 8, 9],
                logprobs: logprobs([-0.5, -1, 0]),
                finish_reason: 'stop',
              },
            ],
            weight_version: 'step-4',
          },
        }
    const { fake, model } = await setUp({ script: [behaviour] }, { stream, tokenIds: true })
    const reply = await model.generate({ ...request, sampling: { logprobs: true } }, { signal })
    expect(reply.tokens).toEqual({
      promptIds: Int32Array.of(1, 2, 3),
      outputIds: Int32Array.of(7, 8, 9),
      logprobs: Float32Array.of(-0.5, -1, 0),
    })
    expect(reply.policyVersion).toBe('step-4')
    expect(fake.requests[0]!.body).toMatchObject({ logprobs: true, return_token_ids: true })
  })

  test('whose tokens are written as ids has ids; arrays of different length are never paired', async () => {
    const entry = (token: string, logprob: number) => ({ token, logprob })
    const named = { logprobs: { content: [entry('token_id:5', -1), entry('token_id:6', -2)] } }
    const odd = { token_ids: [1, 2, 3], logprobs: { content: [entry('a', -1)] } }
    const { model } = await setUp({
      script: [
        { kind: 'ok', choice: named },
        { kind: 'ok', choice: odd },
      ],
    })
    expect((await model.generate(request, { signal })).tokens).toEqual({
      outputIds: Int32Array.of(5, 6),
      logprobs: Float32Array.of(-1, -2),
    })
    const second = await model.generate(request, { signal })
    expect(second.tokens).toEqual({ outputIds: Int32Array.of(1, 2, 3) })
    expect(second.flags).toEqual(['token_data_mismatch'])
  })

  test('with reasoning keeps it apart, and sends it back to where it came from', async () => {
    const { fake, model } = await setUp({
      script: [
        { kind: 'ok', message: { content: '4', reasoning_content: 'two and two' } },
        { kind: 'ok', message: { content: '<think>\nhm\n</think>\n\n5' } },
        { kind: 'ok', message: { content: '<think>for ever' } },
      ],
    })
    const messages: Message[] = [...request.messages]
    const first = await model.generate({ messages }, { signal })
    expect(first.message).toMatchObject({ content: '4', reasoning: 'two and two' })
    messages.push(first.message, { role: 'user', content: 'and one' })
    const second = await model.generate({ messages }, { signal })
    expect(second.message).toMatchObject({ content: '5', reasoning: '\nhm\n' })
    messages.push(second.message, { role: 'user', content: 'and?' })
    const third = await model.generate({ messages }, { signal })
    expect(third.message.content).toBe('')
    expect(third.flags).toEqual(['reasoning_unterminated'])
    const sent = (fake.requests[2]!.body as { messages: object[] }).messages
    expect(sent[1]).toEqual({ role: 'assistant', content: '4', reasoning_content: 'two and two' })
    expect(sent[3]).toEqual({ role: 'assistant', content: '<think>\nhm\n</think>\n\n5' })
  })

  test('keeps fields of the message that nobody knows, and sends them back', async () => {
    const details = [{ type: 'reasoning.encrypted', data: 'abc' }]
    const { fake, model } = await setUp({
      script: [{ kind: 'ok', message: { reasoning_details: details, annotations: [], audio: null } }],
    })
    const { message } = await model.generate(request, { signal })
    expect(message.extra).toEqual({ reasoning_details: details })
    await model.generate({ messages: [...request.messages, message, ...request.messages] }, { signal })
    expect((fake.requests[1]!.body as { messages: object[] }).messages[1]).toEqual({
      role: 'assistant',
      content: 'ok',
      reasoning_details: details,
    })
  })

  test('with odd tool calls is a reply with flags', async () => {
    const call = (id: unknown, args: unknown) => ({
      id,
      type: 'function',
      function: { name: 'add', arguments: args },
    })
    const { model } = await setUp({
      script: [
        {
          kind: 'ok',
          message: {
            content: null,
            tool_calls: [call('a', '"{\\"x\\":1}"'), call('a', { x: 2 }), call('', '')],
          },
        },
      ],
    })
    const reply = await model.generate(request, { signal })
    expect(reply.finish).toBe('tool_calls')
    expect(reply.message.toolCalls).toEqual([
      { id: 'a', name: 'add', arguments: '"{\\"x\\":1}"' },
      { id: 'a_2', name: 'add', arguments: '{"x":2}' },
      { id: 'call_3', name: 'add', arguments: '' },
    ])
    expect(reply.flags).toEqual(
      expect.arrayContaining(['duplicate_call_id', 'missing_call_id', 'object_arguments']),
    )
  })

  test('that is a refusal says so', async () => {
    const { model } = await setUp({ script: [{ kind: 'ok', message: { content: null, refusal: 'No.' } }] })
    expect(await model.generate(request, { signal })).toMatchObject({
      message: { content: '', refusal: 'No.' },
      finish: 'refusal',
    })
  })
})

describe('a request', () => {
  test('sends what is set, nothing else, and extra last', async () => {
    const { fake, model } = await setUp({}, { apiKey: 'secret-key-1', headers: { 'X-Team': 'blue' } })
    const tools = [{ name: 'add', description: 'Adds.', parameters: { type: 'object' } }]
    await model.generate(
      {
        ...request,
        tools,
        sampling: { temperature: 0, maxTokens: 5, seed: 7, extra: { top_k: 3, temperature: 1 } },
      },
      { signal },
    )
    const { body, headers } = fake.requests[0]!
    expect(body).toEqual({
      model: 'fake',
      messages: [{ role: 'user', content: 'hello' }],
      temperature: 1,
      max_tokens: 5,
      seed: 7,
      top_k: 3,
      tools: [{ type: 'function', function: tools[0] }],
    })
    expect(headers).toMatchObject({ authorization: 'Bearer secret-key-1', 'x-team': 'blue' })
  })

  test('sends images as data, and tool calls that servers can read', async () => {
    const { fake, model } = await setUp({})
    await model.generate(
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'see' },
              { type: 'image', mediaType: 'image/png', data: 'QUJD' },
            ],
          },
          {
            role: 'assistant',
            content: '',
            toolCalls: [{ id: '1', name: 'add', arguments: `{"a": one${'x'.repeat(9000)}` }],
          },
          { role: 'tool', toolCallId: '1', content: 'no JSON', error: 'malformed' },
        ],
      },
      { signal },
    )
    const { messages } = fake.requests[0]!.body as { messages: Record<string, unknown>[] }
    expect(messages[0]!['content']).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
    ])
    const [call] = messages[1]!['tool_calls'] as { function: { arguments: string } }[]
    expect(Object.keys(JSON.parse(call!.function.arguments))).toEqual(['malformed_arguments'])
    expect(call!.function.arguments.length).toBeLessThan(300)
  })

  test('of a conversation that every provider would refuse is not sent', async () => {
    const { fake, model } = await setUp({})
    const messages: Message[] = [
      { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'add', arguments: '{}' }] },
      { role: 'user', content: 'well?' },
    ]
    const { fault } = await faultOf(model.generate({ messages }, { signal }))
    expect(fault).toMatchObject({ owner: 'platform', code: 'conversation_broken', retryable: false })
    expect(fault.message).toContain('c1')
    expect(fake.count).toBe(0)
  })

  test('uses connections again', async () => {
    const { fake, model } = await setUp({})
    for (let i = 0; i < 20; i++) await model.generate(request, { signal })
    // The next call may come before the connection of the last one is free again.
    expect(fake.connections).toBeLessThanOrEqual(2)
    await Promise.all(Array.from({ length: 20 }, () => model.generate(request, { signal })))
    expect(fake.connections).toBeLessThanOrEqual(21)
  })

  test('waits for a connection when all are busy, and the wait is counted', async () => {
    const { fake, model } = await setUp({ latencyMs: 60 }, { connections: 1 })
    const replies = await Promise.all([
      model.generate(request, { signal }),
      model.generate(request, { signal }),
    ])
    expect(fake.connections).toBe(1)
    expect(Math.max(...replies.map((reply) => reply.timing!.waitMs))).toBeGreaterThan(40)
  })
})

describe('a stream', () => {
  test('gives the same reply as one that comes whole', async () => {
    const { fake, model } = await setUp({ script: [{ kind: 'stream', gapMs: 2 }] }, { stream: true })
    const reply = await model.generate(request, { signal })
    expect(reply).toMatchObject({
      message: { content: 'ok' },
      finish: 'stop',
      usage: { fresh: 10, output: 5 },
    })
    expect(fake.requests[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })

  test('that was answered whole is read all the same', async () => {
    const { model } = await setUp({}, { stream: true })
    expect((await model.generate(request, { signal })).message.content).toBe('ok')
  })

  test('that does not call itself one is read all the same', async () => {
    const body = `${fakeChunks('hello')
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .join('')}data: [DONE]\n\n`
    const headers = { 'content-type': 'text/plain' }
    const { model } = await setUp(
      { script: [{ kind: 'status', status: 200, headers, body }] },
      { stream: true },
    )
    expect((await model.generate(request, { signal })).message.content).toBe('hello')
  })

  test('carries tool calls, reasoning and comments of gateways', async () => {
    const { model } = await setUp(
      {
        script: [
          {
            kind: 'stream',
            chunks: [
              ': keep-alive\n\n',
              'data: : PROCESSING\n\n',
              { choices: [{ delta: { role: 'assistant', reasoning: 'let ' } }] },
              { choices: [{ delta: { reasoning: 'me' } }] },
              {
                choices: [
                  {
                    delta: {
                      tool_calls: [{ index: 0, id: 'c', function: { name: 'add', arguments: '{"a"' } }],
                    },
                  },
                ],
              },
              { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] },
              { choices: [{ delta: {}, finish_reason: 'tool_calls' }] },
            ],
          },
        ],
      },
      { stream: true },
    )
    const reply = await model.generate(request, { signal })
    expect(reply.message).toMatchObject({
      reasoning: 'let me',
      toolCalls: [{ id: 'c', name: 'add', arguments: '{"a":1}' }],
    })
    expect(reply.flags).toEqual(['stream_comment_as_data'])
  })

  test.each<[string, FakeBehaviour, object]>([
    [
      'without its end is a fault and no short answer',
      { kind: 'stream', chunks: fakeChunks('half').slice(0, 1), end: false },
      { code: 'stream_incomplete', retryable: true },
    ],
    [
      'that breaks off in a chunk is a fault',
      { kind: 'stream', chunks: [fakeChunks('half')[0]!, 'data: {"choices":[{"del'], end: false },
      { code: 'stream_incomplete', retryable: true },
    ],
    [
      'with an error in it is a fault',
      { kind: 'stream', chunks: [fakeChunks('half')[0]!, { error: { message: 'overloaded', code: 529 } }] },
      { code: 'api_error', retryable: true },
    ],
    [
      'whose error will not change is not tried again',
      { kind: 'stream', chunks: [{ error: { message: 'bad', type: 'BadRequestError', code: 400 } }] },
      { code: 'api_error', retryable: false },
    ],
  ])('%s', async (_name, behaviour, expected) => {
    const { model } = await setUp({ script: [behaviour] }, { stream: true })
    const { fault } = await faultOf(model.generate(request, { signal }))
    expect(fault).toMatchObject({ owner: 'provider', stage: 'model', ...expected })
  })
})

describe('a fault', () => {
  test.each<[string, FakeBehaviour, object]>([
    [
      'HTML of a proxy',
      { kind: 'html' },
      { code: 'not_json', retryable: true, message: expect.stringContaining('Sign in to the proxy') },
    ],
    ['an empty object', { kind: 'ok', body: {} }, { code: 'empty_choices', retryable: true }],
    ['no choices', { kind: 'ok', body: { choices: [] } }, { code: 'empty_choices', retryable: true }],
    ['null', { kind: 'ok', body: null }, { code: 'empty_choices' }],
    ['nothing', { kind: 'status', status: 200, body: '' }, { code: 'not_json', retryable: true }],
    [
      'an error in a 200',
      { kind: 'ok', body: { error: { message: 'busy', code: 503 } } },
      { code: 'api_error', retryable: true },
    ],
    ['half a body', { kind: 'close_early' }, { code: 'closed_early', retryable: true }],
    ['a reset', { kind: 'reset' }, { code: 'closed_early', retryable: true }],
    ['400', { kind: 'status', status: 400 }, { code: 'bad_request', retryable: false }],
    ['401', { kind: 'status', status: 401 }, { code: 'unauthorized', retryable: false }],
    [
      '404',
      { kind: 'status', status: 404 },
      { code: 'not_found', retryable: false, message: expect.stringContaining('base URL') },
    ],
    [
      '307',
      { kind: 'status', status: 307, headers: { location: '/' } },
      { code: 'http_307', retryable: false },
    ],
    ['429', { kind: 'status', status: 429 }, { code: 'rate_limited', retryable: true }],
    ['500', { kind: 'status', status: 500 }, { code: 'http_500', retryable: true }],
    ['an HTML 502', { kind: 'html', status: 502 }, { code: 'http_502', retryable: true }],
    [
      'an aborted generation',
      { kind: 'ok', choice: { finish_reason: 'abort' } },
      { code: 'aborted', retryable: true },
    ],
    [
      'a spent quota',
      {
        kind: 'status',
        status: 429,
        body: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
      },
      { code: 'quota_exhausted', retryable: false },
    ],
  ])('%s', async (_name, behaviour, expected) => {
    const { model } = await setUp({ script: [behaviour] })
    const { fault } = await faultOf(model.generate(request, { signal }))
    expect(fault).toMatchObject({ owner: 'provider', stage: 'model', ...expected })
  })

  test('a refused connection says whose', async () => {
    const model = createChatModel({
      model: 'x',
      baseUrl: await refusingUrl(),
      provider: 'local',
      retry: quick,
    })
    const { fault } = await faultOf(model.generate(request, { signal }))
    expect(fault).toMatchObject({ code: 'connection_refused', retryable: true })
    expect(fault.message).toContain('local')
  })

  test.each([
    ["This model's maximum context length is 8192 tokens.", 'context_length_exceeded', 'context_overflow'],
    ['prompt is too long: 210000 tokens > 200000 maximum', undefined, 'context_overflow'],
    ['Your request was flagged', 'content_filter', 'refused'],
  ])('%s is the outcome of the agent', async (message, code, outcome) => {
    const { model } = await setUp({
      script: [{ kind: 'status', status: 400, body: { error: { message, code } } }],
    })
    const thrown = await faultOf(model.generate(request, { signal }))
    expect(thrown.outcome).toBe(outcome)
    expect(thrown.fault.retryable).toBe(false)
  })

  test('never holds the key, even when the provider sends it back', async () => {
    const apiKey = 'my/secret+key=0123'
    const echo = (text: string): FakeBehaviour => ({
      kind: 'status',
      status: 401,
      body: { error: { message: text } },
    })
    const texts = [
      `Incorrect API key provided: ${apiKey}.`,
      `bad header Authorization: Bearer ${apiKey}`,
      `see /login?key=${encodeURIComponent(apiKey)}`,
      `${Buffer.from(apiKey).toString('base64')}`,
    ]
    const { model } = await setUp({ script: texts.map(echo) }, { apiKey })
    for (const text of texts) {
      const thrown = await faultOf(model.generate(request, { signal }))
      const everything = JSON.stringify([
        thrown,
        thrown.message,
        thrown.fault,
        thrown.stack,
        thrown.cause,
        thrown.retries,
      ])
      for (const piece of [apiKey, encodeURIComponent(apiKey), Buffer.from(apiKey).toString('base64')])
        expect(everything, text).not.toContain(piece)
      expect(thrown.message).toContain('***')
    }
  })

  test('a base URL that is none is said at once', () => {
    expect(() => createChatModel({ model: 'x', baseUrl: 'localhost:8000' })).toThrow(/base URL/)
  })
})

describe('deadlines', () => {
  // The one that is meant is short; the others are far away, so that a busy machine does not meet them.
  const far = { firstByteMs: 30_000, idleMs: 30_000, totalMs: 30_000 }

  test.each<[string, FakeBehaviour, Partial<typeof far>, string]>([
    ['before the headers', { kind: 'hang' }, { firstByteMs: 60 }, 'timeout_first_byte'],
    ['inside the body', { kind: 'hang_body' }, { idleMs: 60 }, 'timeout_idle'],
    ['between chunks', { kind: 'stream', gapMs: 20_000 }, { idleMs: 60 }, 'timeout_idle'],
    ['of a slow drip', { kind: 'drip', pieces: 100, gapMs: 15 }, { totalMs: 200 }, 'timeout_total'],
  ])('a hang %s is noticed, and the request is taken back', async (_name, behaviour, near, code) => {
    const { fake, model } = await setUp({ script: [behaviour] }, { deadlines: { ...far, ...near } })
    const thrown = await faultOf(model.generate(request, { signal }))
    expect(thrown.fault).toMatchObject({ code, retryable: true })
    expect(thrown.retries).toHaveLength(1)
    await expect.poll(() => fake.requests[0]!.aborted).toBe(true)
  })

  test('a reply that is too large is asked for once', async () => {
    const fake = await startFakeModel({ text: 'x'.repeat(5_000) })
    const model = createChatModel({ model: 'fake', baseUrl: fake.url, maxBodyBytes: 4_000 })
    try {
      const thrown: unknown = await model
        .generate({ messages: [{ role: 'user', content: 'hi' }] }, { signal: new AbortController().signal })
        .catch((error: unknown) => error)
      expect(thrown).toMatchObject({ fault: { code: 'reply_too_large', retryable: false } })
      expect(fake.requests).toHaveLength(1)
    } finally {
      await model.close?.()
      await fake.close()
    }
  })

  test('a reply that takes longer than the idle deadline, but never pauses for as long, is a reply', async () => {
    const { model } = await setUp(
      { script: [{ kind: 'drip', pieces: 40, gapMs: 40 }] },
      { deadlines: { ...far, idleMs: 1000 } },
    )
    expect((await model.generate(request, { signal })).message.content).toBe('ok')
  })
})

describe('cancelling', () => {
  test.each<[string, FakeBehaviour]>([
    ['before the answer', { kind: 'hang' }],
    ['inside the answer', { kind: 'hang_body' }],
  ])('%s takes the request back', async (_name, behaviour) => {
    const { fake, model } = await setUp({ script: [behaviour] })
    const stop = new AbortController()
    const waiting = faultOf(model.generate(request, { signal: stop.signal }))
    await expect.poll(() => fake.requests.length).toBe(1)
    stop.abort()
    expect((await waiting).fault).toMatchObject({ owner: 'platform', code: 'cancelled', retryable: false })
    await expect.poll(() => fake.requests[0]!.aborted).toBe(true)
  })

  test('ends a back-off at once, and keeps the ledger', async () => {
    const { fake, model } = await setUp(
      { otherwise: { kind: 'status', status: 429, headers: { 'retry-after': '30' } } },
      { retry: { maxRetries: 3 } },
    )
    const stop = new AbortController()
    const waiting = faultOf(model.generate(request, { signal: stop.signal }))
    await expect.poll(() => fake.requests.length).toBe(1)
    setTimeout(() => stop.abort(), 50)
    const thrown = await waiting
    expect(thrown.fault.code).toBe('cancelled')
    expect(thrown.retries).toMatchObject([{ code: 'rate_limited', status: 429 }])
  })

  test('before the call sends nothing', async () => {
    const { fake, model } = await setUp({})
    await faultOf(model.generate(request, { signal: AbortSignal.abort() }))
    expect(fake.count).toBe(0)
  })
})

describe('retries', () => {
  test('500 twice, then 200: a reply with its ledger', async () => {
    const script: FakeBehaviour[] = [
      { kind: 'status', status: 500 },
      { kind: 'status', status: 500 },
    ]
    const { fake, model } = await setUp({ script }, { retry: { maxRetries: 2, baseMs: 20 } })
    const reply = await model.generate(request, { signal })
    expect(reply.retries).toMatchObject([
      { code: 'http_500', status: 500 },
      { code: 'http_500', status: 500 },
    ])
    const waited = reply.retries!.reduce((sum, entry) => sum + entry.waitedMs, 0)
    expect(waited).toBeGreaterThan(15 + 30 - 2)
    expect(reply.timing!.waitMs).toBeGreaterThanOrEqual(waited)
    expect(fake.count).toBe(3)
  })

  test('429 for ever ends after N + 1 attempts', async () => {
    const { fake, model } = await setUp(
      { otherwise: { kind: 'status', status: 429, headers: { 'retry-after-ms': '5' } } },
      { retry: { maxRetries: 2 } },
    )
    const thrown = await faultOf(model.generate(request, { signal }))
    expect(thrown.fault).toMatchObject({ code: 'rate_limited', retryable: true })
    expect(thrown.retries).toHaveLength(3)
    expect(fake.count).toBe(3)
  })

  test('a wait above the cap is not slept', async () => {
    const { fake, model } = await setUp(
      { otherwise: { kind: 'status', status: 429, headers: { 'retry-after': '3600' } } },
      { retry: { maxRetries: 2, maxWaitMs: 1000 } },
    )
    const thrown = await faultOf(model.generate(request, { signal }))
    expect(thrown.retryAfterMs).toBe(3_600_000)
    expect(thrown.fault.message).toContain('3600 s, above the cap of 1 s')
    expect(fake.count).toBe(1)
  })

  test('a torn stream is tried again, and only the whole one counts', async () => {
    const { model } = await setUp(
      {
        script: [{ kind: 'stream', chunks: fakeChunks('xxxx').slice(0, 1), end: false }, { kind: 'stream' }],
      },
      { stream: true, retry: { maxRetries: 1, baseMs: 1 } },
    )
    const reply = await model.generate(request, { signal })
    expect(reply.message.content).toBe('ok')
    expect(reply.retries).toMatchObject([{ code: 'stream_incomplete' }])
  })
})

test('whatever JSON a server answers, the client gives a reply or a fault', async () => {
  let body: unknown
  const { model } = await setUp({ script: () => ({ kind: 'ok', body }), record: false })
  const odd = fc.oneof(fc.constant(null), fc.integer(), fc.string(), fc.array(fc.jsonValue()), fc.object())
  const shape = (fields: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(
      Object.fromEntries(
        Object.entries(fields).map(([key, value]) => [key, fc.oneof({ weight: 3, arbitrary: value }, odd)]),
      ),
      { requiredKeys: [] },
    )
  const call = shape({
    id: fc.string(),
    name: fc.string(),
    function: shape({ name: fc.string(), arguments: fc.string() }),
  })
  const message = shape({
    content: fc.string(),
    reasoning: fc.string(),
    tool_calls: fc.array(call),
    refusal: fc.string(),
  })
  const token = shape({ logprob: fc.double(), token: fc.string() })
  const choice = shape({
    message,
    finish_reason: fc.constantFrom('stop', 'length', 'tool_calls'),
    logprobs: shape({ content: fc.array(token) }),
    token_ids: fc.array(fc.integer()),
  })
  const reply = shape({
    id: fc.string(),
    choices: fc.array(choice, { maxLength: 2 }),
    usage: shape({
      prompt_tokens: fc.integer(),
      prompt_tokens_details: odd,
      completion_tokens: fc.integer(),
    }),
    prompt_token_ids: fc.array(fc.integer()),
  })
  await fc.assert(
    fc.asyncProperty(reply, async (value) => {
      body = JSON.parse(JSON.stringify(value))
      const came = await model.generate(request, { signal }).catch((thrown: unknown) => thrown)
      if (came instanceof Error) expect(came).toBeInstanceOf(ModelFault)
      else expect(came).toMatchObject({ message: { role: 'assistant', content: expect.any(String) } })
    }),
    { numRuns: 500 },
  )
})

test('a limiter shared by models bounds what is in flight, and its queue counts as waiting', async () => {
  let most = 0
  let now = 0
  const { model } = await setUp(
    {
      latencyMs: 30,
      script: () => {
        most = Math.max(most, ++now)
        setTimeout(() => now--, 25)
        return { kind: 'ok', body: fakeCompletion('ok') }
      },
    },
    { limiter: createLimiter({ initial: 2, max: 2 }) },
  )
  const replies = await Promise.all(Array.from({ length: 6 }, () => model.generate(request, { signal })))
  expect(most).toBeLessThanOrEqual(2)
  expect(Math.max(...replies.map((reply) => reply.timing!.waitMs))).toBeGreaterThan(40)
})
