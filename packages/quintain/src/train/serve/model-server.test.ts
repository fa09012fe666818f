import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createChatModel } from '../../models/index.ts'
import { chatRenderer } from '../chat-renderer.ts'
import { assistant, end, ids, renderer, reply, user } from './__fixtures__/byte-tokens.ts'
import { type ScriptedSampler, scriptedSampler } from './__fixtures__/scripted-sampler.ts'
import { type ModelServer, type ServeModelOptions, serveModel } from './model-server.ts'

const messages = [{ role: 'user', content: 'Hi' }]
let server: ModelServer | undefined
let logged: string[] = []

afterEach(async () => {
  await server?.drain({ graceMs: 0 })
  server = undefined
  logged = []
})

async function serve(
  sampler: ScriptedSampler,
  options: Partial<ServeModelOptions> = {},
): Promise<ModelServer> {
  server = await serveModel({
    weights: { sampler, version: '7' },
    renderer,
    name: 'policy',
    log: (line) => void logged.push(line),
    ...options,
  })
  return server
}

interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: what a foreign client would see of JSON.
  body: any
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${server!.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const chat = (fields: object = {}) => post('/chat/completions', { model: 'policy', messages, ...fields })
const complete = (fields: object = {}) => post('/completions', { model: 'policy', prompt: 'Hi', ...fields })

/** The events of a stream. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
async function events(path: string, fields: object): Promise<any[]> {
  const response = await fetch(`${server!.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'policy', stream: true, ...fields }),
  })
  expect(response.status).toBe(200)
  const texts = (await response.text())
    .trim()
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''))
  expect(texts.pop()).toBe('[DONE]')
  return texts.map((text) => JSON.parse(text))
}

describe('a chat completion', () => {
  test('is the reply with its usage, its version, and no more than was asked for', async () => {
    await serve(scriptedSampler(() => reply('It is fine.')))
    const { status, headers, body } = await chat()
    expect(status).toBe(200)
    expect(headers.get('x-weight-version')).toBe('7')
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'policy',
      weight_version: '7',
      usage: { prompt_tokens: 4, completion_tokens: 12, total_tokens: 16 },
    })
    // A reply that its text tells whole needs no name of its own.
    expect(body.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: 'It is fine.', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
        stop_reason: null,
      },
    ])
    expect(body).not.toHaveProperty('prompt_token_ids')
  })

  test('tells ids and log-probabilities of all that was sampled, its end included', async () => {
    const sampler = scriptedSampler(() => reply('ab'))
    await serve(sampler)
    const { body } = await chat({ logprobs: true, return_token_ids: true })
    expect(body.prompt_token_ids).toEqual([...sampler.requests[0]!.prompt])
    expect(body.choices[0].token_ids).toEqual(reply('ab'))
    expect(body.choices[0].logprobs.content).toEqual([
      { token: 'a', logprob: -0.25, bytes: [97], top_logprobs: [] },
      { token: 'b', logprob: -0.5, bytes: [98], top_logprobs: [] },
      { token: '<end>', logprob: -0.75, bytes: [...Buffer.from('<end>')], top_logprobs: [] },
    ])
    const named = await chat({ logprobs: true, return_tokens_as_token_ids: true })
    expect(named.body.choices[0].logprobs.content[2].token).toBe(`token_id:${end}`)
  })

  test('streamed says the same as whole', async () => {
    await serve(scriptedSampler(() => reply('Grüße, ☀️!')))
    const asked = {
      logprobs: true,
      return_token_ids: true,
      messages,
      stream_options: { include_usage: true },
    }
    const whole = (await chat({ ...asked, stream_options: undefined })).body
    const chunks = await events('/chat/completions', asked)
    expect(chunks[0].choices[0].delta.role).toBe('assistant')
    expect(chunks[0].prompt_token_ids).toEqual(whole.prompt_token_ids)
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ object: 'chat.completion.chunk', weight_version: '7' })
    const choices = chunks.flatMap(({ choices }) => choices)
    expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe('Grüße, ☀️!')
    expect(choices.flatMap(({ token_ids: ids = [] }) => ids)).toEqual(whole.choices[0].token_ids)
    expect(choices.flatMap(({ logprobs }) => logprobs?.content ?? [])).toEqual(
      whole.choices[0].logprobs.content,
    )
    expect(choices.at(-1)).toMatchObject({ finish_reason: 'stop' })
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
    // A piece is no half of a character.
    expect(JSON.stringify(chunks)).not.toContain('\\ufffd')
  })

  test('says several replies to one prompt, each by its own seed', async () => {
    let count = 0
    const sampler = scriptedSampler(() => reply(`${count++}`))
    await serve(sampler)
    const { body } = await chat({ n: 3, seed: 5 })
    expect(body.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2])
    expect(new Set(sampler.requests.map(({ seed }) => seed)).size).toBe(3)
    expect(body.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 6 })
    const again = scriptedSampler(() => reply(''))
    server!.weights.swap({ sampler: again, version: '8' })
    await chat({ n: 3, seed: 5 })
    expect(again.requests.map(({ seed }) => seed)).toEqual(sampler.requests.map(({ seed }) => seed))
    const chunks = await events('/chat/completions', { messages, n: 2 })
    expect(
      new Set(chunks.flatMap(({ choices }) => choices.map(({ index }: { index: number }) => index))),
    ).toEqual(new Set([0, 1]))
  })

  test('without a seed is never sampled by the same twice', async () => {
    const sampler = scriptedSampler(() => reply(''))
    await serve(sampler)
    await Promise.all([chat(), chat(), chat()])
    expect(new Set(sampler.requests.map(({ seed }) => seed)).size).toBe(3)
  })

  test('hands settings on, and leaves what was not set to the sampler', async () => {
    const sampler = scriptedSampler(() => reply(''))
    await serve(sampler)
    await chat({ temperature: 0, top_p: 0.9, top_k: 5, max_tokens: 3, stop_token_ids: [9] })
    await chat({ max_completion_tokens: 4, top_k: -1, temperature: null })
    expect(sampler.requests[0]).toMatchObject({
      temperature: 0,
      topP: 0.9,
      topK: 5,
      maxTokens: 3,
      stop: [end, 9],
    })
    expect(sampler.requests[1]).toMatchObject({ maxTokens: 4, stop: [end] })
    for (const absent of ['temperature', 'topP', 'topK'])
      expect(sampler.requests[1]).not.toHaveProperty(absent)
  })

  test('that comes to its length, or to a text or an id that ends it, says so', async () => {
    const sampler = scriptedSampler(() => reply('one two three'))
    await serve(sampler)
    expect((await chat({ max_tokens: 3 })).body.choices[0]).toMatchObject({
      message: { content: 'one' },
      finish_reason: 'length',
    })
    const cut = (await chat({ stop: [' tw', 'xx'], return_token_ids: true, logprobs: true })).body.choices[0]
    expect(cut).toMatchObject({ message: { content: 'one' }, finish_reason: 'stop', stop_reason: ' tw' })
    // What was sampled of the text that ended it was sampled all the same.
    expect(cut.token_ids).toEqual(ids('one tw'))
    expect(cut.logprobs.content).toHaveLength(6)
    const byId = (await chat({ stop_token_ids: ids(' ') })).body.choices[0]
    expect(byId).toMatchObject({
      message: { content: 'one' },
      finish_reason: 'stop',
      stop_reason: ids(' ')[0],
    })
    const chunks = await events('/chat/completions', { messages, stop: 'two' })
    const said = chunks.flatMap(({ choices }) => choices)
    expect(said.map(({ delta }) => delta.content ?? '').join('')).toBe('one ')
    expect(said.at(-1)).toMatchObject({ finish_reason: 'stop', stop_reason: 'two' })
    expect(server!.load).toEqual({ inFlight: 0, waiting: 0 })
  })

  test('offers tools and tells calls, whole and streamed', async () => {
    const sampler = scriptedSampler(() =>
      reply('<tool_call>{"name":"weather","arguments":{"city":"Rome"}}</tool_call>'),
    )
    await serve(sampler)
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }]
    const { body } = await chat({ tools })
    const [call] = body.choices[0].message.tool_calls
    expect(body.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    expect(call).toMatchObject({
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    })
    const chunks = await events('/chat/completions', { messages, tools })
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta))
    expect(deltas.at(-1)).toMatchObject({ tool_calls: [{ index: 0, function: { name: 'weather' } }] })
    expect(deltas.map(({ content }) => content ?? '').join('')).toBe('')
    // A program that wants no call is told of no tool.
    expect((await chat({ tools, tool_choice: 'none' })).body.choices[0].message.content).toContain('weather')
    // Two replies are told apart by the names of their calls.
    const again = (await chat({ tools })).body.choices[0].message.tool_calls[0]
    expect(again.id).not.toBe(call.id)
  })
})

describe('a conversation that goes on', () => {
  test('keeps the tokens that were sampled, in a session of its own', async () => {
    // Ids that say nothing are in no text, and would be lost if the reply were encoded again.
    const odd = [...ids('a'), user, ...reply('b')]
    const sampler = scriptedSampler(({ prompt }) => (prompt.length < 10 ? odd : reply('c')))
    await serve(sampler)
    const [one, two] = [await chat({ return_token_ids: true }), await chat({ return_token_ids: true })]
    const message = one.body.choices[0].message
    expect(message).toMatchObject({ content: 'ab', reply_id: expect.any(String) })
    const more = [...messages, message, { role: 'user', content: 'Go on' }]
    const second = await chat({ messages: more, return_token_ids: true })
    const before = [...one.body.prompt_token_ids, ...odd]
    expect(second.body.prompt_token_ids.slice(0, before.length)).toEqual(before)
    const [first, other, next] = sampler.requests
    expect(next!.session).toBe(first!.session)
    expect(other!.session).not.toBe(first!.session)
    const third = [...more, second.body.choices[0].message, { role: 'user', content: 'And on' }]
    const last = await chat({ messages: third, return_token_ids: true })
    expect(last.body.prompt_token_ids.slice(0, before.length)).toEqual(before)
    expect(sampler.requests[3]!.session).toBe(first!.session)
    // Streamed, the name is told too.
    const told = (await events('/chat/completions', { messages })).flatMap(({ choices }) => choices)
    expect(told.at(-1).delta).toMatchObject({ reply_id: expect.any(String) })
    expect(two.body.choices[0].message.reply_id).not.toBe(message.reply_id)
  })

  test('whose reply was sent back in another is written as it stands', async () => {
    const sampler = scriptedSampler(() => [user, ...reply('b')])
    await serve(sampler)
    const { message } = (await chat()).body.choices[0]
    const elsewhere = [{ role: 'user', content: 'Ho' }, message, { role: 'user', content: 'x' }]
    const { body } = await chat({ messages: elsewhere, return_token_ids: true })
    expect(body.prompt_token_ids).toEqual([
      user,
      ...ids('Ho'),
      assistant,
      ...reply('b'),
      user,
      ...ids('x'),
      assistant,
    ])
  })

  test('that was cut, or that somebody has changed, is written as it stands', async () => {
    const sampler = scriptedSampler(() => reply('abc'))
    await serve(sampler)
    const cut = (await chat({ max_tokens: 2, return_token_ids: true })).body
    const more = (content: string) => [
      ...messages,
      { role: 'assistant', content },
      { role: 'user', content: 'x' },
    ]
    const goesOn = (await chat({ messages: more('ab'), return_token_ids: true })).body.prompt_token_ids
    expect(goesOn).toEqual([...cut.prompt_token_ids, ...reply('ab'), user, ...ids('x'), assistant])
    const changed = (await chat({ messages: more('AB'), return_token_ids: true })).body.prompt_token_ids
    expect(changed).toEqual([...cut.prompt_token_ids, ...reply('AB'), user, ...ids('x'), assistant])
  })

  test('is forgotten, the sampler told so, when others need the place', async () => {
    const sampler = scriptedSampler(() => reply('abc'))
    await serve(sampler, { limits: { remembered: 15 } })
    for (const content of ['one', 'two', 'three']) await chat({ messages: [{ role: 'user', content }] })
    expect(sampler.forgotten).toEqual([sampler.requests[0]!.session, sampler.requests[1]!.session])
  })
})

describe('a completion', () => {
  test('follows ids as they are, and text', async () => {
    const sampler = scriptedSampler(() => reply('!'))
    await serve(sampler)
    const { body } = await complete({ prompt: [1, 2, 3], return_token_ids: true, logprobs: 0 })
    expect([...sampler.requests[0]!.prompt]).toEqual([1, 2, 3])
    expect(body).toMatchObject({ object: 'text_completion', usage: { prompt_tokens: 3 } })
    expect(body.choices[0]).toMatchObject({
      text: '!',
      finish_reason: 'stop',
      prompt_token_ids: [1, 2, 3],
      token_ids: reply('!'),
      logprobs: { tokens: ['!', '<end>'], token_logprobs: [-0.25, -0.5], text_offset: [0, 1] },
    })
    await complete()
    expect([...sampler.requests[1]!.prompt]).toEqual(ids('Hi'))
    expect(sampler.requests[1]!.maxTokens).toBe(16)
  })

  test('of several prompts has all replies, in their order', async () => {
    await serve(scriptedSampler(({ prompt }) => [...prompt, end]))
    const { body } = await complete({ prompt: ['a', 'b'], n: 2 })
    expect(body.choices.map(({ text }: { text: string }) => text)).toEqual(['a', 'a', 'b', 'b'])
    const chunks = await events('/completions', { prompt: [ids('a'), ids('b')] })
    const said = ['', '']
    for (const { choices } of chunks) for (const { index, text } of choices) said[index] += text
    expect(said).toEqual(['a', 'b'])
  })
})

describe('a stream', () => {
  test('has an event for each token, although several came in one moment', async () => {
    const sampler = scriptedSampler(() => reply('hello'))
    await serve({
      ...sampler,
      requests: sampler.requests,
      // As threads give them: apart, and before the loop turns.
      async sample({ stop }, { onTokens } = {}) {
        const said = reply('hello')
        const logprobs = said.map((_, at) => -1 - at)
        for (const [at, id] of said.entries()) onTokens?.(Int32Array.of(id), Float32Array.of(logprobs[at]!))
        expect(stop).toContain(end)
        return {
          ids: Int32Array.from(said),
          logprobs: Float32Array.from(logprobs),
          finish: 'stop',
          version: 0,
        }
      },
    })
    const chunks = await events('/chat/completions', { messages, logprobs: true, return_token_ids: true })
    const deltas = chunks.flatMap(({ choices }) => choices)
    expect(deltas.map(({ delta, token_ids: told }) => [delta.content, told])).toEqual([
      ...[...'hello'].map((character) => [character, ids(character)]),
      ['', [end]],
      [undefined, undefined],
    ])
    expect(deltas.slice(0, 5).map(({ logprobs }) => logprobs.content)).toEqual(
      [...'hello'].map((token, at) => [
        { token, logprob: -1 - at, bytes: [token.charCodeAt(0)], top_logprobs: [] },
      ]),
    )
  })
})

describe('a request that cannot be answered', () => {
  test.each([
    ['another model', { model: 'gpt' }, 404, 'model_not_found', 'model'],
    ['no messages', { messages: [] }, 400, 'invalid_request', 'messages'],
    ['a setting of the wrong type', { temperature: 'hot' }, 400, 'invalid_request', 'temperature'],
    ['a setting out of its range', { top_p: 0 }, 400, 'invalid_request', 'top_p'],
    ['no token at all', { max_tokens: 0 }, 400, 'invalid_request', 'max_tokens'],
    ['too many replies', { n: 129 }, 400, 'invalid_request', 'n'],
    ['alternatives of tokens', { logprobs: true, top_logprobs: 2 }, 400, 'invalid_request', 'top_logprobs'],
    [
      'a setting that would not be heeded',
      { frequency_penalty: 1 },
      400,
      'invalid_request',
      'frequency_penalty',
    ],
    ['a setting that nobody knows', { temperatur: 1 }, 400, 'invalid_request', 'temperatur'],
    [
      'a form of reply',
      { response_format: { type: 'json_object' } },
      400,
      'invalid_request',
      'response_format',
    ],
    [
      'a call that must be',
      { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' },
      400,
      'invalid_request',
      'tool_choice',
    ],
    ['an empty end', { stop: '' }, 400, 'invalid_request', 'stop'],
  ])('is refused in the form of OpenAI: %s', async (_, fields, status, code, param) => {
    await serve(scriptedSampler(() => reply('')))
    const answer = await chat(fields)
    expect(answer.status).toBe(status)
    expect(answer.body).toEqual({
      error: { message: expect.any(String), type: expect.any(String), param, code },
    })
    expect(logged).toEqual([])
  })

  test('says which is known where a name is a slip', async () => {
    await serve(scriptedSampler(() => reply('')))
    expect((await chat({ temperatur: 1 })).body.error.message).toContain('did you mean "temperature"?')
  })

  test('is refused where its body or its path is none', async () => {
    await serve(scriptedSampler(() => reply('')))
    expect(await post('/chat/completions', '{"model"')).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request' } },
    })
    expect(await post('/chat/completions', '[]')).toMatchObject({ status: 400 })
    expect(await post('/responses', {})).toMatchObject({
      status: 404,
      body: { error: { type: 'not_found_error' } },
    })
    expect(await post('/models', {})).toMatchObject({ status: 405 })
    expect(await post('/chat/completions', `"${'x'.repeat(20 * 2 ** 20)}"`)).toMatchObject({
      status: 413,
      body: { error: { code: 'request_too_large' } },
    })
    expect(await complete({ prompt: [300] })).toMatchObject({
      status: 400,
      body: { error: { param: 'prompt' } },
    })
    expect(await complete({ prompt: [] })).toMatchObject({ status: 400 })
    expect(await complete({ prompt: '' })).toMatchObject({ status: 400 })
    expect(await complete({ logprobs: 3 })).toMatchObject({ status: 400 })
  })

  test.each([
    // The id 7, as a number of 32 bits.
    ['/completions', { prompt: [4_294_967_303] }, 'prompt'],
    ['/completions', { prompt: [ids('a'), [2 ** 40]] }, 'prompt'],
    ['/completions', { prompt: [-1] }, 'prompt'],
    ['/completions', { prompt: [1.5] }, 'prompt'],
    ['/completions', { prompt: [5, '5'] }, 'prompt'],
    ['/completions', { prompt: 'a', stop_token_ids: [2 ** 32 + 5] }, 'stop_token_ids'],
    ['/chat/completions', { messages, stop_token_ids: [renderer.vocabulary] }, 'stop_token_ids'],
    ['/chat/completions', { messages, stop_token_ids: Array(2_000).fill(5) }, 'stop_token_ids'],
    ['/chat/completions', { messages, stop: 'x'.repeat(2_000) }, 'stop'],
  ])('is refused for ids that are none, and for ends without bounds: %s %o', async (path, fields, param) => {
    const sampler = scriptedSampler(() => reply(''))
    await serve(sampler)
    const { status, body } = await post(path, { model: 'policy', ...fields })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param })
    expect(sampler.requests).toEqual([])
  })

  test('is told that its prompt is too long in words that agents know', async () => {
    const sampler = scriptedSampler(() => reply(''), { context: 8 })
    await serve(sampler)
    const { status, body } = await chat({ messages: [{ role: 'user', content: 'far too long' }] })
    expect(status).toBe(400)
    expect(body.error.code).toBe('context_length_exceeded')
    expect(body.error.message).toContain('maximum context length')
    await chat({ max_tokens: 1_000 })
    expect(sampler.requests[0]!.maxTokens).toBe(4)
  })

  test('is refused with tools where the vocabulary writes none', async () => {
    await serve(
      scriptedSampler(() => reply('')),
      { renderer: chatRenderer({ vocabulary: ['Hi'] }) },
    )
    const { status, body } = await chat({ tools: [{ type: 'function', function: { name: 'f' } }] })
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'prompt_invalid' })
  })

  test('tells nothing of a defect, but to the log', async () => {
    await serve(
      scriptedSampler(() => {
        throw new Error('canary of the inside')
      }),
    )
    const { status, body } = await chat()
    expect(status).toBe(500)
    expect(JSON.stringify(body)).not.toContain('canary')
    expect(logged.join()).toContain('canary')
    const response = await fetch(`${server!.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'policy', messages, stream: true }),
    })
    const text = await response.text().catch(() => '')
    expect(text).not.toContain('canary')
    expect(text).not.toContain('[DONE]')
    expect(server!.load).toEqual({ inFlight: 0, waiting: 0 })
  })
})

describe('under load', () => {
  test('so many are sampled, so many wait, and the others are told to come later', async () => {
    const sampler = scriptedSampler(() => reply('a'))
    await serve(sampler, { limits: { inFlight: 2, waiting: 2 } })
    const release = sampler.hold()
    const asked = Array.from({ length: 6 }, () => chat())
    await until(() => sampler.requests.length === 2 && server!.load.waiting === 2)
    const [first, second] = await Promise.all(asked.slice(4))
    for (const refused of [first!, second!]) {
      expect(refused).toMatchObject({
        status: 429,
        body: { error: { code: 'queue_full', type: 'rate_limit_error' } },
      })
      expect(refused.headers.get('retry-after')).toBe('1')
    }
    release()
    for (const answer of await Promise.all(asked.slice(0, 4))) expect(answer.status).toBe(200)
    expect(server!.load).toEqual({ inFlight: 0, waiting: 0 })
  })

  test('more replies to one request than there are places take turns with those of others', async () => {
    const sampler = scriptedSampler(() => reply('a'))
    await serve(sampler, { limits: { inFlight: 2, waiting: 100 } })
    const release = sampler.hold()
    const many = chat({ n: 50 })
    await until(() => sampler.requests.length === 2)
    const one = complete({ prompt: 'b' })
    await until(() => server!.load.waiting === 49)
    release()
    expect((await one).status).toBe(200)
    const before = sampler.requests.findIndex(({ prompt }) => prompt.length === 1)
    expect(before).toBeLessThanOrEqual(4)
    const { body } = await many
    expect(body.choices.map(({ index }: { index: number }) => index)).toEqual(
      Array.from({ length: 50 }, (_, at) => at),
    )
    expect(server!.load).toEqual({ inFlight: 0, waiting: 0 })
  })

  test('a request for more replies than one may have is refused, and others are answered meanwhile', async () => {
    const sampler = scriptedSampler(() => reply('a'))
    await serve(sampler)
    const prompts = Array.from({ length: 128 }, () => 'a')
    const { status, body } = await complete({ prompt: prompts, n: 128 })
    expect({ status, param: body.error.param }).toEqual({ status: 400, param: 'n' })
    expect(body.error.message).toContain('16384 replies')
    expect(sampler.requests).toEqual([])
    expect((await complete({ prompt: prompts, n: 2 })).body.choices).toHaveLength(256)
  })

  test('a request for more replies than are sampled and wait together is not told to come later', async () => {
    await serve(
      scriptedSampler(() => reply('a')),
      { limits: { inFlight: 2, waiting: 2 } },
    )
    expect((await chat({ n: 5 })).status).toBe(400)
    expect((await chat({ n: 4 })).status).toBe(200)
  })

  test.each([{ inFlight: 0 }, { waiting: 1e12 }, { perRequest: 1.5 }, { stallMs: Number.NaN }])(
    'limits that are none are refused: %o',
    async (limits) => {
      await expect(
        serve(
          scriptedSampler(() => reply('')),
          { limits },
        ),
      ).rejects.toMatchObject({ code: 'options_invalid' })
    },
  )

  test('a client that leaves frees at once what of its request has not begun', async () => {
    const sampler = scriptedSampler(() => reply('a'))
    await serve(sampler, { limits: { inFlight: 2 } })
    const release = sampler.hold()
    const leaving = new AbortController()
    const many = fetch(`${server!.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'policy', messages, n: 100 }),
      signal: leaving.signal,
    }).catch(() => 'left')
    await until(() => sampler.requests.length === 2)
    const one = complete({ prompt: 'b' })
    await until(() => server!.load.waiting === 99)
    expect((await fetch(new URL('/health', server!.url))).status).toBe(200)
    leaving.abort()
    expect(await many).toBe('left')
    await until(() => server!.load.waiting === 1)
    release()
    expect((await one).status).toBe(200)
    expect(sampler.requests).toHaveLength(3)
    await until(() => server!.load.inFlight === 0)
    expect(sampler.aborted).toBe(2)
    expect(logged).toEqual([])
  })

  test('a server that ends answers whole what it has begun', async () => {
    const sampler = scriptedSampler(() => reply('a'))
    await serve(sampler, { limits: { inFlight: 2 } })
    const release = sampler.hold()
    const begun = chat({ n: 5 })
    await until(() => sampler.requests.length === 2)
    const waiting = chat({ n: 2 })
    await until(() => server!.load.waiting === 5)
    const ended = server!.drain({ graceMs: 10_000 })
    expect((await waiting).status).toBe(503)
    release()
    expect((await begun).body.choices).toHaveLength(5)
    expect(await ended).toEqual({ cut: 0 })
  })

  test('one reply that fails takes the others of its request with it, and no place is lost', async () => {
    let count = 0
    await serve(
      scriptedSampler(() => {
        if (++count === 3) throw new Error('of one')
        return reply('a')
      }),
      { limits: { inFlight: 2 } },
    )
    expect((await chat({ n: 50 })).status).toBe(500)
    expect(server!.load).toEqual({ inFlight: 0, waiting: 0 })
    expect(count).toBeLessThan(10)
  })

  test('a client that leaves takes its reply with it, waiting or sampled', async () => {
    const sampler = scriptedSampler(() => reply('a'))
    await serve(sampler, { limits: { inFlight: 1, waiting: 5 } })
    const release = sampler.hold()
    const leaving = new AbortController()
    const ask = (stream: boolean) =>
      fetch(`${server!.url}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model: 'policy', messages, stream }),
        signal: leaving.signal,
      }).then((response) => response.text())
    const asked = [ask(true), ask(false), ask(false)].map((promise) =>
      promise.catch((error: unknown) => error),
    )
    await until(() => sampler.requests.length === 1 && server!.load.waiting === 2)
    leaving.abort()
    await Promise.all(asked)
    await until(() => server!.load.waiting === 0)
    release()
    await until(() => server!.load.inFlight === 0)
    expect(sampler).toMatchObject({ aborted: 1 })
    expect(sampler.requests).toHaveLength(1)
    expect(logged).toEqual([])
  })

  test('a reader that takes nothing holds no place, and is hung up on', async () => {
    const long = Array.from({ length: 300_000 }, (_, at) => ids('a')[0]! + (at % 26))
    const sampler = quickSampler(long)
    await serve(sampler, { limits: { stallMs: 200, inFlight: 1 } })
    const { port } = new URL(server!.url)
    const socket = connect({ port: Number(port), host: '127.0.0.1' })
    const body = JSON.stringify({
      model: 'policy',
      messages,
      stream: true,
      logprobs: true,
      max_tokens: long.length,
    })
    socket.pause()
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await until(() => sampler.requests.length === 1 && server!.load.inFlight === 0)
    expect((await chat({ max_tokens: 1 })).status).toBe(200)
    await wait(400)
    let taken = ''
    socket.on('data', (piece: Buffer) => {
      taken = piece.toString('latin1').slice(-100)
    })
    socket.on('error', () => {})
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.resume()
    await closed
    expect(taken).not.toContain('[DONE]')
  })
})

test('a reader that is slow gets each token once, several in an event where it was behind', async () => {
  const long = Array.from({ length: 4_000 }, (_, at) => ids('a')[0]! + (at % 26))
  const sampler = scriptedSampler(() => long, { context: 1_000_000 })
  // Stands in each event, so that some thousands are more than what lies between the two holds.
  const name = 'policy'.repeat(400)
  await serve(sampler, { name })
  const { port } = new URL(server!.url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  const body = JSON.stringify({
    ...{ model: name, messages, stream: true, logprobs: true, return_token_ids: true },
    max_tokens: long.length,
  })
  socket.pause()
  socket.write(
    `POST /v1/chat/completions HTTP/1.0\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await until(() => sampler.requests.length === 1 && server!.load.inFlight === 0)
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  await new Promise((resolve) => socket.once('close', resolve).resume())
  const told = Buffer.concat(pieces).toString('utf8').split('\r\n\r\n')[1]!.trim().split('\n\n')
  expect(told.pop()).toBe('data: [DONE]')
  const choices = told.flatMap((event) => JSON.parse(event.replace(/^data: /, '')).choices)
  expect(choices.flatMap(({ token_ids: told = [] }) => told)).toEqual(long)
  expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe(
    String.fromCharCode(...long.map((_, at) => 97 + (at % 26))),
  )
  expect(choices.length).toBeLessThan(long.length)
})

/** All of a long reply at once. */
function quickSampler(ids: readonly number[]): ScriptedSampler {
  const sampler = scriptedSampler(() => reply(''), { context: 1_000_000 })
  const { requests } = sampler
  return {
    ...sampler,
    requests,
    async sample(request, { onTokens } = {}) {
      requests.push(request)
      const said = ids.slice(0, request.maxTokens)
      const logprobs = new Float32Array(said.length)
      onTokens?.(Int32Array.from(said), logprobs)
      return { ids: Int32Array.from(said), logprobs, finish: 'length', version: 0 }
    },
  }
}

describe('weights that are swapped', () => {
  const control = { port: 0, token: 'control-token-of-the-operator' }
  const bearer = { authorization: `Bearer ${control.token}`, 'content-type': 'application/json' }

  async function swap(body: unknown, headers: Record<string, string> = bearer): Promise<Answer> {
    const response = await fetch(`${server!.controlUrl}/v1/weights`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  test('serve the next reply, while those that began keep theirs; the old ones are closed after the last', async () => {
    const old = scriptedSampler(() => reply('old old old'))
    const fresh = scriptedSampler(() => reply('new'), { version: 8 })
    await serve(old, {
      control: {
        ...control,
        load: async (path, version) => ({
          sampler: fresh,
          version: version ?? '8',
          from: { path, digest: 'd' },
        }),
      },
    })
    const release = old.hold()
    const streamed = events('/chat/completions', { messages })
    const whole = chat()
    await until(() => old.requests.length === 2)
    expect(await swap({ path: 'checkpoints/step-8' })).toMatchObject({
      status: 200,
      body: {
        version: '8',
        path: 'checkpoints/step-8',
        digest: 'd',
        in_flight: [
          { version: '7', replies: 2 },
          { version: '8', replies: 0 },
        ],
      },
    })
    expect((await chat()).body).toMatchObject({
      weight_version: '8',
      choices: [{ message: { content: 'new' } }],
    })
    expect(old.closed).toBe(false)
    release()
    expect((await whole).body).toMatchObject({
      weight_version: '7',
      choices: [{ message: { content: 'old old old' } }],
    })
    expect(new Set((await streamed).map((chunk) => chunk.weight_version))).toEqual(new Set(['7']))
    await until(() => old.closed)
    const models = (await (await fetch(`${server!.url}/models`)).json()) as { data: unknown[] }
    expect(models.data).toEqual([
      expect.objectContaining({ id: 'policy', weight_version: '8', max_model_len: 256 }),
    ])
  })

  test('are refused where they do not fit, and nothing is changed', async () => {
    const foreign = scriptedSampler(() => reply(''), { context: 9 })
    const same = scriptedSampler(() => reply(''))
    await serve(
      scriptedSampler(() => reply('old')),
      {
        control: {
          ...control,
          load: async (path) => ({
            sampler: path === 'foreign' ? foreign : same,
            version: path === 'same' ? '7' : '9',
          }),
        },
      },
    )
    expect(await swap({ path: 'foreign' })).toMatchObject({
      status: 400,
      body: { error: { code: 'checkpoint_invalid' } },
    })
    for (const version of ['', 'a b', 'a,b', 'a\r\nx: 1', 'ä', 'x'.repeat(129)]) {
      expect(await swap({ path: 'new', version })).toMatchObject({
        status: 400,
        body: { error: { code: 'options_invalid' } },
      })
    }
    expect(await swap({ path: 'same' })).toMatchObject({
      status: 409,
      body: { error: { code: 'version_mismatch' } },
    })
    expect(await swap({})).toMatchObject({ status: 400, body: { error: { param: 'path' } } })
    expect({ foreign: foreign.closed, same: same.closed }).toEqual({ foreign: true, same: true })
    expect((await chat()).body.weight_version).toBe('7')
  })

  test('are swapped by whoever has the token of that, at an address of its own', async () => {
    await serve(
      scriptedSampler(() => reply('')),
      {
        token: 'client-token-of-an-agent',
        control: { ...control, load: async () => Promise.reject(new Error('never')) },
      },
    )
    expect((await swap({ path: 'x' }, {})).status).toBe(401)
    expect((await swap({ path: 'x' }, { authorization: 'Bearer client-token-of-an-agent' })).status).toBe(401)
    expect((await post('/weights', { path: 'x' }, bearer)).status).toBe(401)
    expect(
      (await post('/weights', { path: 'x' }, { authorization: 'Bearer client-token-of-an-agent' })).status,
    ).toBe(404)
    await expect(
      serveModel({
        weights: { sampler: scriptedSampler(() => []), version: '0' },
        renderer,
        name: 'policy',
        token: control.token,
        control: { ...control, load: async () => Promise.reject(new Error('never')) },
        log: () => {},
      }),
    ).rejects.toMatchObject({ code: 'usage' })
  })
})

describe('the address', () => {
  test('beyond this machine needs a token', async () => {
    const sampler = scriptedSampler(() => [])
    await expect(serve(sampler, { host: '0.0.0.0' })).rejects.toMatchObject({ code: 'usage' })
    expect(sampler.closed).toBe(true)
  })

  test('tells health to anybody, and all else to those with the token', async () => {
    await serve(
      scriptedSampler(() => reply('')),
      { token: 'client-token-of-an-agent' },
    )
    const root = server!.url.replace(/\/v1$/, '')
    expect(await (await fetch(`${root}/health`)).text()).toBe('ok\n')
    const refused = await chat()
    expect(refused).toMatchObject({
      status: 401,
      body: { error: { type: 'authentication_error', code: 'invalid_api_key' } },
    })
  })

  test('tells the tokens of a conversation and of a text', async () => {
    await serve(scriptedSampler(() => reply('')))
    const root = server!.url.replace(/\/v1$/, '')
    const ask = async (path: string, body: object) =>
      (await fetch(`${root}${path}`, { method: 'POST', body: JSON.stringify(body) })).json()
    expect(await ask('/tokenize', { model: 'policy', messages })).toEqual({
      count: 4,
      max_model_len: 256,
      tokens: [user, ...ids('Hi'), assistant],
    })
    expect(await ask('/tokenize', { prompt: 'Hi' })).toMatchObject({ tokens: ids('Hi') })
    expect(await ask('/detokenize', { tokens: ids('Hi') })).toEqual({ prompt: 'Hi' })
  })

  test('drains: replies that began come to their end, and no other begins', async () => {
    const sampler = scriptedSampler(() => reply('abc'))
    await serve(sampler)
    const release = sampler.hold()
    const begun = chat()
    await until(() => sampler.requests.length === 1)
    const drained = server!.drain({ graceMs: 10_000 })
    expect(await chat()).toMatchObject({ status: 503, body: { error: { code: 'server_ending' } } })
    release()
    expect((await begun).body.choices[0].message.content).toBe('abc')
    expect(await drained).toEqual({ cut: 0 })
    expect(sampler.closed).toBe(true)
  })

  test('drains no longer than its grace', async () => {
    const sampler = scriptedSampler(() => reply('abc'))
    await serve(sampler)
    const release = sampler.hold()
    const begun = chat().catch(() => 'hung up')
    await until(() => sampler.requests.length === 1)
    const drained = server!.drain({ graceMs: 20 })
    await wait(50)
    release()
    expect(await drained).toEqual({ cut: 1 })
    expect(await begun).toMatchObject({ status: 503 })
  })
})

describe('our own client', () => {
  test.each([true, false])('records what was sampled, as of vLLM (streamed: %s)', async (stream) => {
    const sampler = scriptedSampler(() => reply('Grüße'))
    await serve(sampler)
    const model = createChatModel({ model: 'policy', baseUrl: server!.url, server: 'vllm', tokenIds: true })
    const context = { signal: new AbortController().signal, ...(stream ? { onDelta: () => {} } : {}) }
    const asked = {
      messages: [{ role: 'user' as const, content: 'Hi' }],
      sampling: { logprobs: true, maxTokens: 50 },
    }
    const { message, tokens, policyVersion, finish, usage } = await model.generate(asked, context)
    expect(message.content).toBe('Grüße')
    expect([...tokens!.promptIds!]).toEqual([...sampler.requests[0]!.prompt])
    expect([...tokens!.outputIds!]).toEqual(reply('Grüße'))
    expect([...tokens!.logprobs!]).toEqual(Array.from({ length: 8 }, (_, at) => -0.25 * (at + 1)))
    expect({ policyVersion, finish }).toEqual({ policyVersion: '7', finish: 'stop' })
    expect(usage).toMatchObject({ output: 8 })
    expect(await model.countTokens?.(asked, context)).toBe(4)
    await model.close?.()
  })

  test('takes a prompt that is too long for what it is', async () => {
    await serve(scriptedSampler(() => reply(''), { context: 4 }))
    const model = createChatModel({ model: 'policy', baseUrl: server!.url, server: 'vllm' })
    await expect(
      model.generate(
        { messages: [{ role: 'user', content: 'Hello' }] },
        { signal: new AbortController().signal },
      ),
    ).rejects.toMatchObject({ outcome: 'context_overflow' })
    await model.close?.()
  })
})

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000 && !holds(); tries++) await wait(5)
  expect(holds()).toBe(true)
}
