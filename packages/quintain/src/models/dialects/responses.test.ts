import { describe, expect, test } from 'vitest'
import type { Message, ModelResponse } from '../../core/index.ts'
import { readResponse } from '../completion.ts'
import { eventsOf, fixture, streams, wholeReplies } from './__fixtures__/one-reply.ts'
import type { DialectError, ReplyContext } from './dialect.ts'
import { responsesDialect } from './responses.ts'

type Body = Record<string, unknown>

const { readRequest, requestBody, writeReply } = responsesDialect
const upstream = { model: 'gpt-4o', stream: false }

/** What a gateway remembers of a reply that was sampled elsewhere. */
const sampled: Message = {
  role: 'assistant',
  content: 'Let me look.',
  reasoning: 'I need the weather of both cities.',
  toolCalls: [
    { id: 'call_a', name: 'weather', arguments: '{"city": "Oslo"}' },
    { id: 'call_b', name: 'weather', arguments: '{"city":"Rome"}' },
  ],
  extra: { 'quintain.reasoning': 'reasoning_content' },
}

function remembers(reply: Message, earlier: Message[] = [{ role: 'user', content: 'weather?' }]) {
  return (id: string): readonly Message[] | undefined =>
    /^(reply-1|call_[ab]|.*_67ccd2b.*)$/.test(id) ? [...earlier, reply] : undefined
}

function thrownBy(act: () => unknown): DialectError {
  try {
    act()
  } catch (thrown) {
    return thrown as DialectError
  }
  throw new Error('nothing was thrown')
}

function sent(body: Body, options: { model: string; stream: boolean } = upstream): Body {
  return JSON.parse(requestBody(readRequest(body), options)) as Body
}

describe('a request', () => {
  test.each(['responses-request-agents.json', 'responses-request-ai-sdk.json'])(
    'as %s sends it holds the reply that was sampled',
    (name) => {
      const body: unknown = JSON.parse(fixture(name))
      const { messages, tools } = readRequest(body, { history: remembers(sampled) })
      expect(messages).toEqual([
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'weather?' },
        sampled,
        { role: 'tool', toolCallId: 'call_a', content: expect.stringContaining('warm in') },
        { role: 'tool', toolCallId: 'call_b', content: 'warm in Rome' },
      ])
      expect(tools).toMatchObject([{ name: 'weather', description: 'w' }])
    },
  )

  test('without memory keeps what the program shows', () => {
    const body: unknown = JSON.parse(fixture('responses-request-agents.json'))
    const { extra: _extra, ...shown } = sampled as Message & { extra?: unknown }
    expect(readRequest(body).messages[2]).toEqual(shown)
  })

  test('that goes on with an earlier reply has its whole history, and instructions of its own', () => {
    const first = readRequest({ model: 'm', instructions: 'Be brief', input: 'weather?' })
    const history = remembers(sampled, [...first.messages])
    const second = readRequest(
      { model: 'm', instructions: 'Be long', input: 'and?', previous_response_id: 'reply-1' },
      { history },
    )
    expect(second.messages).toEqual([
      { role: 'system', content: 'Be long' },
      { role: 'user', content: 'weather?' },
      sampled,
      { role: 'user', content: 'and?' },
    ])
    const asked = JSON.parse(requestBody(second, upstream)) as Body
    expect(asked).not.toHaveProperty('previous_response_id')
    expect(asked['input']).toMatchObject([
      { role: 'user', content: 'weather?' },
      { type: 'message', role: 'assistant' },
      { type: 'function_call', call_id: 'call_a' },
      { type: 'function_call', call_id: 'call_b' },
      { role: 'user', content: 'and?' },
    ])
  })

  test('gets reasoning whole again of which only the id was sent', () => {
    const { message } = readResponse(responsesDialect.readReply(wholeReplies.responses)!)
    const output = wholeReplies.responses['output'] as Body[]
    const [reasoning, ...others] = output
    const { encrypted_content: _sealed, ...hollow } = reasoning!
    const results = ['call_01A', 'call_01B'].map((call_id) => ({
      type: 'function_call_output',
      call_id,
      output: 'warm',
    }))
    const request = readRequest(
      { model: 'm', input: [hollow, ...others, ...results] },
      { history: remembers(message) },
    )
    expect(request.messages[0]).toEqual(message)
    expect(request.wire.body['input']).toEqual([...output, ...results])
  })

  test('sends a provider what it wrote where the program has a mark', () => {
    const { message } = readResponse(responsesDialect.readReply(wholeReplies.responses)!)
    const mark = { type: 'reasoning', id: 'rs_reply-1_0', summary: [], encrypted_content: 'quintain.reply-1' }
    const request = readRequest({ model: 'm', input: [mark] }, { history: remembers(message) })
    const [reasoning] = wholeReplies.responses['output'] as Body[]
    expect(request.wire.body['input']).toEqual([reasoning])
    expect(readRequest({ model: 'm', input: [mark] }).wire.body['input']).toEqual([])
  })

  test('keeps replies apart that follow each other, and calls of one reply together', () => {
    const replies = new Map<string, Message[]>([
      ['msg_1', [{ role: 'assistant', content: 'one' }]],
      ['msg_2', [{ role: 'assistant', content: 'two' }]],
      ['fc_3', [{ role: 'assistant', content: '' }]],
    ])
    replies.set('fc_4', replies.get('fc_3')!)
    const said = (id: string, text: string): Body => ({
      type: 'message',
      id,
      role: 'assistant',
      content: [{ type: 'output_text', text }],
    })
    const call = (id: string, call_id: string): Body => ({
      type: 'function_call',
      id,
      call_id,
      name: 'f',
      arguments: '{}',
    })
    const result = (call_id: string): Body => ({ type: 'function_call_output', call_id, output: 'ok' })
    const input = [said('msg_1', 'one'), said('msg_2', 'two'), { role: 'user', content: 'go' }]
    const { messages } = readRequest(
      { input: [...input, call('fc_3', 'a'), result('a'), call('fc_4', 'b'), result('b')] },
      { history: (id) => replies.get(id) },
    )
    expect(messages.map(({ role }) => role)).toEqual([
      'assistant',
      'assistant',
      'user',
      'assistant',
      'tool',
      'tool',
    ])
    expect(messages[3]).toMatchObject({ toolCalls: [{ id: 'a' }, { id: 'b' }] })
  })

  test.each<[string, Body, string]>([
    ['a hosted tool', { tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    ['a custom tool', { tools: [{ type: 'custom', name: 'x' }] }, 'tools[0].type'],
    ['a stored conversation', { conversation: 'conv_1' }, 'conversation'],
    ['a prompt template', { prompt: { id: 'p' } }, 'prompt'],
    ['a response in the background', { background: true }, 'background'],
    ['a choice of a hosted tool', { tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
    [
      'a file',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
      'input[0].content[0].type',
    ],
    [
      'an image by id',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input[0].content[0].file_id',
    ],
    ['a call of a hosted tool', { input: [{ type: 'web_search_call', id: 'w' }] }, 'input[0].type'],
  ])('with %s is refused, and says where', (_what, more, param) => {
    const thrown = thrownBy(() => readRequest({ model: 'm', input: 'x', ...more }))
    expect(thrown).toMatchObject({ name: 'DialectError', code: 'unsupported', param })
  })

  test.each<[Body, string]>([
    [{}, "Missing required parameter: 'input'."],
    [{ input: 5 }, "Invalid type for 'input'"],
    [{ input: [5] }, "'input[0]'"],
    [{ input: [{ role: 'boss', content: '' }] }, "'input[0].role'"],
    [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0].call_id'],
    [{ input: 'x', max_output_tokens: 0 }, 'max_output_tokens'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///a.png' }] }] },
      'an http(s) address',
    ],
    [{ input: 'x', previous_response_id: 'resp_none' }, "Previous response with id 'resp_none' not found."],
    [{ input: [{ type: 'item_reference', id: 'msg_none' }] }, "Item with id 'msg_none' not found."],
  ])('%j is no request', (body, words) => {
    const thrown = thrownBy(() => readRequest(body))
    expect(thrown).toMatchObject({ name: 'DialectError', code: 'invalid_request' })
    expect(thrown.message).toContain(words)
  })
})

describe('what is sent on', () => {
  test('is what the program wrote, with the limits of the run, and nothing stored', () => {
    const body = {
      model: 'm',
      input: 'x',
      max_output_tokens: 4000,
      reasoning: { effort: 'low', summary: 'auto' },
      store: true,
      stream: true,
      stream_options: { include_obfuscation: false },
      some_new_field: { a: 1 },
    }
    const request = readRequest(body)
    const lowered = {
      ...request,
      sampling: { ...request.sampling, maxTokens: 30, temperature: 0.3, logprobs: true },
    }
    const asked = JSON.parse(requestBody(lowered, { model: 'gpt-5', stream: false })) as Body
    expect(asked).toEqual({
      model: 'gpt-5',
      input: [{ role: 'user', content: 'x' }],
      max_output_tokens: 30,
      temperature: 0.3,
      reasoning: { effort: 'low', summary: 'auto' },
      store: false,
      some_new_field: { a: 1 },
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    })
    expect(request.wire.body).toMatchObject({ store: true, stream: true })
  })

  test('asks for sealed reasoning only of models that reason', () => {
    expect(sent({ input: 'x' })).not.toHaveProperty('include')
    expect(sent({ input: 'x' }, { model: 'gpt-5.1', stream: true })).toMatchObject({
      stream: true,
      include: ['reasoning.encrypted_content'],
    })
    expect(sent({ input: 'x' }, { model: 'gpt-5-chat-latest', stream: true })).not.toHaveProperty('include')
  })

  test('of a harness has tools that are not strict unless it says so', () => {
    const tools = [{ name: 'f', description: 'd', parameters: { type: 'object' } }]
    const body = JSON.parse(
      requestBody({ messages: [{ role: 'user', content: 'x' }], tools }, upstream),
    ) as Body
    expect(body['tools']).toEqual([{ type: 'function', ...tools[0], strict: false }])
  })

  test('carries how much is said to a chat completion', () => {
    expect(readRequest({ input: 'x', text: { verbosity: 'low' } }).wire.settings).toEqual({
      verbosity: 'low',
      own: [],
    })
  })
})

describe('a reply', () => {
  const context = (body: Body): ReplyContext => ({
    request: readRequest({ model: 'm', input: 'x', ...body }),
    model: 'policy',
    id: 'reply-1',
    created: 1_764_000_000,
  })
  const whole = (body: Body = wholeReplies.responses): ModelResponse => ({
    ...readResponse(responsesDialect.readReply(body)!),
    wire: { dialect: 'responses', body },
  })

  test('of the provider is read as it is', () => {
    expect(whole()).toMatchObject({
      finish: 'tool_calls',
      model: 'gpt-5-2025-08-07',
      responseId: 'resp_67ccd2bed1ec8190b14f964abc0542670bb6a6b452d3795b',
      usage: { fresh: 10, cacheRead: 3, cacheWrite: 2, output: 7, reasoning: 4 },
      tokens: { logprobs: new Float32Array([-0.5]) },
    })
  })

  test.each<[string, Body]>([
    ['is an error', { error: { message: 'no' }, output: [] }],
    ['has failed', { ...wholeReplies.responses, status: 'failed' }],
    ['has not ended', { ...wholeReplies.responses, status: 'in_progress' }],
    ['is something else', { choices: [] }],
  ])('that %s is none', (_what, body) => {
    expect(responsesDialect.readReply(body)).toBeUndefined()
  })

  test('shows log-probabilities to a program that asked for them, and to no other', () => {
    const asked = { include: ['message.output_text.logprobs'] }
    expect(JSON.stringify(writeReply(whole(), context({})))).not.toContain('-0.5')
    expect(JSON.stringify(writeReply(whole(), context(asked)))).toContain('-0.5')
    expect(passed(context({ stream: true }))).not.toContain('-0.5')
    expect(passed(context({ stream: true, ...asked }))).toContain('-0.5')
  })

  test('says that it is stored and what it follows, as the program asked', () => {
    expect(writeReply(whole(), context({}))).toMatchObject({ store: true, previous_response_id: null })
    expect(passed(context({ stream: true, store: false }))).toContain('"store":false')
  })

  function passed(to: ReplyContext): string {
    const writer = responsesDialect.replyWriter(to)
    let text = writer.start()
    const reader = responsesDialect.replyReader({
      as: 'events',
      onDelta: (delta) => {
        text += writer.delta(delta)
      },
    })
    for (const { data, event } of eventsOf(streams.responses)) reader.push(data, event)
    expect(text).not.toContain('response.completed')
    return text + writer.end(whole())
  }

  test('that came whole from the provider is streamed as it would have been', () => {
    const writer = responsesDialect.replyWriter(context({ stream: true }))
    const types = eventsOf(writer.start() + writer.end(whole())).map(({ data }) => JSON.parse(data) as Body)
    const told = eventsOf(streams.responses).map(({ data }) => JSON.parse(data) as Body)
    const kinds = (events: Body[]): unknown[] => [
      ...new Set(events.map(({ type, output_index: at }) => `${type} ${at}`)),
    ]
    expect(kinds(types)).toEqual(kinds(told))
  })

  test('shows reasoning to a program that asked for it; any gets a mark to send back', () => {
    const { message, finish } = whole()
    const shown = writeReply({ message, finish }, context({ reasoning: { summary: 'auto' } }))
    const hidden = writeReply({ message, finish }, context({}))
    expect((shown['output'] as Body[])[0]).toMatchObject({ summary: [{ text: message.reasoning }] })
    expect((hidden['output'] as Body[])[0]).toEqual({
      id: 'rs_reply-1_0',
      type: 'reasoning',
      summary: [],
      encrypted_content: 'quintain.reply-1',
    })
  })

  test("of a failed stream is an error, with the provider's words and none of its secrets", () => {
    const reader = responsesDialect.replyReader({ redact: (text) => text.replaceAll('sk-1', '***') })
    const response = { status: 'failed', error: { code: 'server_error', message: 'Key sk-1 failed.' } }
    expect(reader.push(JSON.stringify({ type: 'response.failed', response }))).toBe(false)
    expect(reader.end()).toEqual({
      state: 'error',
      error: { message: 'Key *** failed.', code: 'server_error', status: 500 },
      retryable: true,
    })
  })
})

test("an error is in OpenAI's form", () => {
  const error = { status: 403, code: 'turn_limit', message: 'No more turns.' }
  expect(responsesDialect.errorBody(error)).toEqual({
    error: { message: 'No more turns.', type: 'permission_error', param: null, code: 'turn_limit' },
  })
})

test('the key is a bearer token', () => {
  expect(responsesDialect.headers('k')).toEqual({ authorization: 'Bearer k' })
  expect(responsesDialect.headers(undefined)).toEqual({})
})
