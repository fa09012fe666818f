import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { type Model, ModelFault, type ModelRequest, type ModelResponse } from '../core/model.ts'
import type { ReplyDelta } from '../core/wire.ts'
import { chatDialect, DialectError } from './dialects/index.ts'
import { type FakeBehaviour, type FakeModel, fakeChunks, startFakeModel } from './fake-server.ts'
import { createModel, type ModelClientOptions } from './model-client.ts'

const request: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] }
const { signal } = new AbortController()
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function setUp(
  script: readonly FakeBehaviour[],
  client: Partial<ModelClientOptions> = {},
): Promise<{ fake: FakeModel; model: Model }> {
  const fake = await startFakeModel({ script })
  const model = createModel({
    dialect: 'chat',
    model: 'fake',
    baseUrl: fake.url,
    retry: { baseMs: 1 },
    ...client,
  })
  closers.push(
    () => fake.close(),
    () => model.close?.(),
  )
  return { fake, model }
}

/** A request as a program of this dialect sends it. */
function wired(body: object = {}): ModelRequest {
  return chatDialect.readRequest({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...body })
}

async function heard(
  model: Model,
  asked: ModelRequest,
): Promise<{ deltas: ReplyDelta[]; response: ModelResponse }> {
  const deltas: ReplyDelta[] = []
  const response = await model.generate(asked, { signal, onDelta: (delta) => void deltas.push(delta) })
  return { deltas, response }
}

async function faultOf(promise: Promise<unknown>): Promise<ModelFault> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(ModelFault)
  return thrown as ModelFault
}

const delta = (fields: object, finish: string | null = null): object => ({
  id: 'c',
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
})
const call = (index: number, fields: object): object => delta({ tool_calls: [{ index, ...fields }] })

describe('a reply that somebody listens to', () => {
  test('is streamed, and told in words of no dialect', async () => {
    const chunks = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning: 'let ', reasoning_content: 'let ' }),
      delta({ reasoning: 'me', reasoning_content: 'me' }),
      delta({ content: 'so' }),
      call(0, { function: { name: 'add', arguments: '' } }),
      call(0, { function: { arguments: '{"a"' } }),
      call(0, { function: { arguments: ':1}' } }),
      call(1, { id: 'x', function: { name: 'stop' } }),
      delta({}, 'tool_calls'),
    ]
    const { fake, model } = await setUp([{ kind: 'stream', chunks }])
    const { deltas, response } = await heard(model, request)
    expect(fake.requests[0]!.body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(deltas).toEqual([
      { type: 'reasoning', text: 'let ' },
      { type: 'reasoning', text: 'me' },
      { type: 'text', text: 'so' },
      { type: 'call', call: 0, id: 'call_1', name: 'add' },
      { type: 'arguments', call: 0, text: '{"a"' },
      { type: 'arguments', call: 0, text: ':1}' },
      { type: 'call', call: 1, id: 'x', name: 'stop' },
    ])
    expect(response.message.toolCalls).toMatchObject([
      { id: 'call_1', name: 'add' },
      { id: 'x', name: 'stop' },
    ])
  })

  test('is told with the ids of calls that the whole reply has', async () => {
    const chunks = [call(0, { id: 'c', function: { name: 'f', arguments: '{}' } }), delta({}, 'tool_calls')]
    const { model } = await setUp([{ kind: 'stream', chunks }])
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c', content: '' },
    ]
    const { deltas, response } = await heard(model, { messages })
    expect(deltas[0]).toEqual({ type: 'call', call: 0, id: 'c_2', name: 'f' })
    expect(response.message.toolCalls![0]!.id).toBe('c_2')
  })

  test('has reasoning in tags told as reasoning', async () => {
    const chunks = ['<th', 'ink>so', ' so</thi', 'nk>\n\n', 'yes'].map((content) => delta({ content }))
    const { model } = await setUp([{ kind: 'stream', chunks: [...chunks, delta({}, 'stop')] }])
    const { deltas, response } = await heard(model, request)
    expect(deltas.map((one) => ('text' in one ? `${one.type}: ${one.text}` : one.type))).toEqual([
      'reasoning: so',
      'reasoning:  so',
      'text: yes',
    ])
    expect(response.message).toMatchObject({ reasoning: 'so so', content: 'yes' })
  })

  test('goes event by event to a program of the same dialect', async () => {
    const { model } = await setUp([{ kind: 'stream' }])
    const { deltas } = await heard(model, wired({ stream: true }))
    expect(deltas.map((one) => one.type === 'event' && one.json)).toEqual(fakeChunks('ok'))
    expect(deltas.map((one) => one.type === 'event' && one.data)).toEqual(
      fakeChunks('ok').map((chunk) => JSON.stringify(chunk)),
    )
  })

  test('is tried again until a piece of it was told', async () => {
    const { fake, model } = await setUp([
      { kind: 'status', status: 500 },
      { kind: 'stream', chunks: [], end: false },
      { kind: 'stream' },
    ])
    const { deltas, response } = await heard(model, request)
    expect(response.retries).toHaveLength(2)
    expect(deltas.map((one) => 'text' in one && one.text).join('')).toBe('ok')
    expect(fake.count).toBe(3)
  })

  test.each<[string, FakeBehaviour, string]>([
    [
      'a torn stream',
      { kind: 'stream', chunks: fakeChunks('half').slice(0, 1), end: false },
      'stream_incomplete',
    ],
    [
      'an error',
      { kind: 'stream', chunks: [fakeChunks('half')[0]!, { error: { message: 'busy', code: 529 } }] },
      'api_error',
    ],
    [
      'half a chunk',
      { kind: 'stream', chunks: [fakeChunks('half')[0]!, 'data: {"choices":[{"del\n\n'] },
      'stream_incomplete',
    ],
    [
      'an aborted generation',
      { kind: 'stream', chunks: [fakeChunks('half')[0]!, delta({}, 'abort')] },
      'aborted',
    ],
  ])('and not after: %s is a fault', async (_name, behaviour, code) => {
    const { fake, model } = await setUp([behaviour, { kind: 'stream' }])
    const deltas: ReplyDelta[] = []
    const asked = model.generate(wired(), { signal, onDelta: (one) => void deltas.push(one) })
    const thrown = await faultOf(asked)
    expect(thrown.fault).toMatchObject({ code, retryable: true })
    expect(thrown.retries).toHaveLength(1)
    // What says that the reply is broken is not told: it is for the gateway to say.
    expect(deltas).toHaveLength(1)
    expect(fake.count).toBe(1)
  })

  test('comes whole where the server does not stream', async () => {
    const { model } = await setUp([{ kind: 'ok' }])
    const { deltas, response } = await heard(model, wired({ stream: true }))
    expect(deltas).toEqual([])
    expect(response.wire?.body).toMatchObject({ id: 'chatcmpl-fake' })
  })
})

describe('a listener', () => {
  test('that throws ends the call with what it threw, and takes the request back', async () => {
    for (const onDelta of [
      () => {
        throw new Error('gone')
      },
      () => Promise.reject(new Error('gone')),
    ]) {
      const { fake, model } = await setUp([{ kind: 'stream', gapMs: 20 }])
      await expect(model.generate(request, { signal, onDelta })).rejects.toThrow('gone')
      await expect.poll(() => fake.requests[0]!.aborted).toBe(true)
    }
  })

  test('that is given up on does not hold the call', async () => {
    const { fake, model } = await setUp([{ kind: 'stream' }])
    const stop = new AbortController()
    let told = false
    const asked = model.generate(request, {
      signal: stop.signal,
      onDelta: () => {
        told = true
        return new Promise(() => {})
      },
    })
    await expect.poll(() => told).toBe(true)
    stop.abort()
    expect((await faultOf(asked)).fault.code).toBe('cancelled')
    expect(fake.count).toBe(1)
  })

  test('that is slow holds the server back: what it has not taken is not read, and no deadline passes', async () => {
    const piece = `data: ${JSON.stringify(delta({ content: 'x'.repeat(10_000) }))}\n\n`
    const total = 4_000
    let written = 0
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const write = (): void => {
        while (written < total) {
          written++
          if (!response.write(piece)) return void response.once('drain', write)
        }
        response.end(`data: ${JSON.stringify(delta({}, 'stop'))}\n\n`)
      }
      write()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => server.close())
    const { port } = server.address() as AddressInfo
    const model = createModel({
      dialect: 'chat',
      model: 'fake',
      baseUrl: `http://127.0.0.1:${port}/v1`,
      deadlines: { idleMs: 2_000, firstByteMs: 30_000, totalMs: 60_000 },
      retry: { maxRetries: 0 },
    })
    closers.push(() => model.close?.())
    let taken = 0
    let release: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const asked = model.generate(request, {
      signal,
      onDelta: () => {
        taken++
        return held
      },
    })
    await expect.poll(() => taken).toBeGreaterThan(0)
    let before = -1
    await expect
      .poll(
        () => {
          const still = before === written
          before = written
          return still
        },
        { interval: 100 },
      )
      .toBe(true)
    // The kernel holds some megabytes; of 40 MB in all, most stay with the server for as long as nobody reads.
    expect(written).toBeLessThan(total / 2)
    const takenThen = taken
    await sleep(2_500)
    expect(taken).toBe(takenThen)
    release()
    const { message } = await asked
    expect(message.content).toHaveLength(total * 10_000)
    expect(written).toBe(total)
  })
})

describe('keys', () => {
  const key = 'zq7Lm0XwQ4tRbJ9KcVhY2pNd'
  const said = [`a ${key} b`, ...`c ${key} d`]

  test.each([
    ['events', wired({ stream: true })],
    ['pieces', request],
  ])('are in no piece that is told, nor in all %s together', async (_name, asked) => {
    const chunks = [...said.map((content) => delta({ content })), { ...delta({}, 'stop'), id: key }]
    const { model } = await setUp([{ kind: 'stream', chunks }], { apiKey: key })
    const { deltas, response } = await heard(model, asked)
    const text = deltas
      .map((one) => {
        if (one.type !== 'event') return 'text' in one ? one.text : ''
        expect(one.data).not.toContain(key)
        const { choices } = JSON.parse(one.data) as { choices: { delta: { content?: string } }[] }
        return choices[0]!.delta.content ?? ''
      })
      .join('')
    expect(text).not.toContain(key)
    expect(text).toContain('a *** b')
    expect(text.endsWith(' d')).toBe(true)
    expect(JSON.stringify(response)).not.toContain(key)
  })

  test('are in no whole reply that is passed on', async () => {
    const message = { content: `said ${key}`, notes: [{ [key]: key }] }
    const { model } = await setUp([{ kind: 'ok', message }], { apiKey: key })
    const { wire } = await model.generate(wired(), { signal })
    expect(wire?.body).toMatchObject({ choices: [{ message: { content: 'said ***' } }] })
    expect(JSON.stringify(wire)).not.toContain(key)
  })
})

describe('what was sampled', () => {
  const logprobs = {
    content: [
      { id: 5, token: 'a', logprob: -1 },
      { id: 6, token: 'b', logprob: -2 },
    ],
  }
  const sampled = { outputIds: Int32Array.of(5, 6), logprobs: Float32Array.of(-1, -2) }

  test('is asked of SGLang in whole replies, even where somebody listens', async () => {
    const choice = {
      prompt_token_ids: [1, 2],
      meta_info: {
        output_token_logprobs: [
          [-1, 5, 'a'],
          [-2, 6, 'b'],
        ],
        weight_version: 'v3',
      },
    }
    const { fake, model } = await setUp([{ kind: 'ok', choice }], { server: 'sglang' })
    const { deltas, response } = await heard(model, wired({ stream: true }))
    expect(deltas).toEqual([])
    expect(fake.requests[0]!.body).toMatchObject({
      logprobs: true,
      return_meta_info: true,
      return_prompt_token_ids: true,
    })
    expect(fake.requests[0]!.body).not.toHaveProperty('stream')
    expect(response.tokens).toEqual({ promptIds: Int32Array.of(1, 2), ...sampled })
    expect(response.policyVersion).toBe('v3')
  })

  test.each([false, true])(
    'is told by llama.cpp beside the log-probabilities (stream: %s)',
    async (stream) => {
      const behaviour: FakeBehaviour = stream
        ? {
            kind: 'stream',
            chunks: logprobs.content.map((entry) => ({
              choices: [
                { delta: { content: entry.token }, logprobs: { content: [entry] }, finish_reason: 'stop' },
              ],
            })),
          }
        : { kind: 'ok', choice: { logprobs } }
      const { model } = await setUp([behaviour], { server: 'llama.cpp', stream })
      expect((await model.generate(request, { signal })).tokens).toEqual(sampled)
    },
  )

  test('is asked of llama.cpp in whole replies beside tools, which it does not stream with them', async () => {
    const { fake, model } = await setUp([{ kind: 'ok', choice: { logprobs } }], { server: 'llama.cpp' })
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }]
    const { deltas, response } = await heard(model, wired({ stream: true, tools }))
    expect(deltas).toEqual([])
    expect(fake.requests[0]!.body).not.toHaveProperty('stream')
    expect(response.tokens).toEqual(sampled)
  })

  describe('of the prompt, by llama.cpp,', () => {
    const reply: FakeBehaviour = {
      kind: 'ok',
      choice: { logprobs },
      usage: { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 2 } },
    }
    const template: FakeBehaviour = { kind: 'ok', body: { prompt: '<user>hello' } }

    test('is told when it applies its template and encodes what comes of it', async () => {
      const { fake, model } = await setUp([reply, template, { kind: 'ok', body: { tokens: [1, 2, 3] } }], {
        server: 'llama.cpp',
      })
      const { tokens, usage, retries } = await model.generate(request, { signal })
      expect(tokens).toEqual({ promptIds: Int32Array.of(1, 2, 3), ...sampled })
      expect([usage?.output, retries]).toEqual([2, undefined])
      expect(fake.requests.map(({ body }) => body)).toEqual([
        fake.requests[0]!.body,
        fake.requests[0]!.body,
        { content: '<user>hello', add_special: true, parse_special: true },
      ])
    })

    test.each<[string, FakeBehaviour[]]>([
      ['are more than the reply was counted to have', [template, { kind: 'ok', body: { tokens: [1, 2] } }]],
      ['are no list', [template, { kind: 'ok', body: { tokens: 3 } }]],
      ['are in no JSON', [template, { kind: 'html', status: 200 }]],
      ['cannot be had', [{ kind: 'status', status: 501 }]],
      ['are on a connection that closes', [{ kind: 'reset' }]],
    ])('is left out where they %s', async (_, rest) => {
      const { model } = await setUp([reply, ...rest], { server: 'llama.cpp' })
      expect((await model.generate(request, { signal })).tokens).toEqual(sampled)
    })
  })

  test('is not asked for by those who say no, nor of a server that nobody knows', async () => {
    const { fake, model } = await setUp([], { server: 'vllm', tokenIds: false })
    await model.generate(request, { signal })
    expect(fake.requests[0]!.body).not.toHaveProperty('return_token_ids')
    const other = await setUp([], { tokenIds: 'auto' })
    await other.model.generate(request, { signal })
    expect(other.fake.requests[0]!.body).toEqual({ model: 'fake', messages: request.messages })
  })

  test('names the version that sampled each token, where it changed within a reply', async () => {
    const chunk = (ids: number[], version: string, finish: string | null = null) => ({
      weight_version: version,
      choices: [{ delta: { content: 'x' }, token_ids: ids, finish_reason: finish }],
    })
    const { model } = await setUp(
      [
        {
          kind: 'stream',
          chunks: [chunk([1, 2], 'a'), chunk([3], 'a'), chunk([4, 5], 'b'), chunk([6], 'b', 'stop')],
        },
        { kind: 'stream', chunks: [chunk([1, 2], 'b'), chunk([3], 'b', 'stop')] },
      ],
      { stream: true },
    )
    const first = await model.generate(request, { signal })
    expect(first.policyVersion).toBe('b')
    expect(first.policySpans).toEqual([
      { start: 0, end: 3, version: 'a' },
      { start: 3, end: 6, version: 'b' },
    ])
    expect((await model.generate(request, { signal })).policySpans).toBeUndefined()
  })

  test('by a server that does not know the question is a fault that says what to do', async () => {
    const body = { error: { message: "Unknown parameter: 'return_token_ids'.", code: 'unknown_parameter' } }
    const { model } = await setUp([{ kind: 'status', status: 400, body }], { tokenIds: true })
    const { fault } = await faultOf(model.generate(request, { signal }))
    expect(fault).toMatchObject({ code: 'bad_request', retryable: false })
    expect(fault.message).toContain('tokenIds: false')
  })
})

test('nothing is sent on a connection that llama.cpp has streamed on: it closes that without a word', async () => {
  const streamed = new WeakSet<object>()
  const server = createServer((request, response) => {
    if (streamed.has(request.socket)) return void request.socket.destroy()
    streamed.add(request.socket)
    response.writeHead(200, { server: 'llama.cpp', 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify(delta({ content: 'ok' }, 'stop'))}\n\ndata: [DONE]\n\n`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const model = createModel({
    ...{ dialect: 'chat', model: 'm', baseUrl: `http://127.0.0.1:${port}/v1`, stream: true, connections: 1 },
    retry: { maxRetries: 0 },
  })
  closers.push(
    () => server.close(),
    () => model.close?.(),
  )
  for (let call = 0; call < 3; call++)
    expect((await model.generate(request, { signal })).message.content).toBe('ok')
})

describe('a program of the same dialect', () => {
  test('gets the whole reply as it came, also from a client that streams', async () => {
    const { fake, model } = await setUp([{ kind: 'ok', message: { mood: 'good' } }], { stream: true })
    const response = await model.generate(wired({ unheard_of: 1 }), { signal })
    expect(fake.requests[0]!.body).toMatchObject({ model: 'fake', unheard_of: 1 })
    expect(fake.requests[0]!.body).not.toHaveProperty('stream')
    expect(response.wire).toMatchObject({
      dialect: 'chat',
      body: { choices: [{ message: { content: 'ok', mood: 'good' } }] },
    })
    expect((await model.generate(request, { signal })).wire).toBeUndefined()
  })

  test('gets the text of a reply to the letter, unless the server echoed a key in it', async () => {
    const apiKey = 'a-key-of-more-than-20-characters'
    const replies = [{ kind: 'ok' }, { kind: 'ok', message: { mood: apiKey } }] as const
    const { model } = await setUp([...replies], { apiKey })
    const plain = await model.generate(wired({}), { signal })
    expect(JSON.parse(plain.wire?.text ?? '')).toEqual(plain.wire?.body)
    const echoed = await model.generate(wired({}), { signal })
    expect(echoed.wire).not.toHaveProperty('text')
    expect(JSON.stringify(echoed)).not.toContain(apiKey)
  })

  test('that asks what cannot be said to this upstream is told so, and nothing is sent', async () => {
    const { fake, model } = await setUp([])
    const asked = wired({ logit_bias: { 5: 1 } })
    const other: ModelRequest = { ...asked, wire: { ...asked.wire!, dialect: 'messages' } }
    await expect(model.generate(other, { signal })).rejects.toThrow(DialectError)
    await expect(model.generate(other, { signal })).rejects.toThrow('logit_bias')
    expect(fake.count).toBe(0)
  })
})

describe('counting', () => {
  test.each([
    ['vllm', { count: 12, max_model_len: 100, tokens: [] }],
    ['llama.cpp', { input_tokens: 12, object: 'response.input_tokens' }],
  ] as const)('asks %s for the tokens of a prompt', async (server, body) => {
    const { fake, model } = await setUp([{ kind: 'ok', body }], { server })
    const tools = [{ name: 'f', description: '', parameters: {} }]
    expect(await model.countTokens!({ ...request, tools, sampling: { maxTokens: 5 } }, { signal })).toBe(12)
    expect(Object.keys(fake.requests[0]!.body as object)).toEqual(['model', 'messages', 'tools'])
  })

  test('is not known of others, nor where the server does not say', async () => {
    const { fake, model } = await setUp([])
    expect(await model.countTokens!(request, { signal })).toBeUndefined()
    expect(fake.count).toBe(0)
    const vllm = await setUp([{ kind: 'status', status: 404 }], { server: 'vllm' })
    expect(await vllm.model.countTokens!(request, { signal })).toBeUndefined()
  })
})

test('the address that is recorded holds no credential, and leads to the same server', () => {
  const at = (baseUrl: string): string | undefined =>
    createModel({ dialect: 'chat', model: 'm', baseUrl }).endpoint
  expect(at('http://127.0.0.1:8000/v1/')).toBe('http://127.0.0.1:8000/v1')
  expect(at('http://127.0.0.1:8000/v1/chat/completions?api-version=1')).toBe(
    'http://127.0.0.1:8000/v1?api-version=1',
  )
  expect(at('http://user:pass@127.0.0.1:8000/v1?api_key=secret')).toBe('http://127.0.0.1:8000/v1')
})
