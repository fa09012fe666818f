import { describe, expect, test } from 'vitest'
import type { AssistantMessage, Message, ModelResponse } from '../../core/index.ts'
import { readResponse } from '../completion.ts'
import { eventsOf, fixture, streams, wholeReplies } from './__fixtures__/one-reply.ts'
import type { DialectError, ReplyContext } from './dialect.ts'
import { messagesDialect } from './messages.ts'

type Body = Record<string, unknown>

const { readRequest, requestBody, writeReply } = messagesDialect
const upstream = { model: 'claude', stream: false }
const least = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] }

const sampled: AssistantMessage = {
  role: 'assistant',
  content: 'Let me look.',
  reasoning: 'I need the weather of both cities.',
  toolCalls: [
    { id: 'call_a', name: 'weather', arguments: '{"city": "Oslo"}' },
    { id: 'call_b', name: 'weather', arguments: '{"city":"Rome"}' },
  ],
  extra: { 'quintain.reasoning': 'reasoning_content' },
}

function remembers(reply: Message, earlier: readonly Message[] = [{ role: 'user', content: 'weather?' }]) {
  return (id: string): readonly Message[] | undefined =>
    /reply-1|call_[ab]/.test(id) ? [...earlier, reply] : undefined
}

function thrownBy(act: () => unknown): DialectError {
  try {
    act()
  } catch (thrown) {
    return thrown as DialectError
  }
  throw new Error('nothing was thrown')
}

function sent(messages: Message[]): Body {
  return JSON.parse(requestBody({ messages }, upstream)) as Body
}

describe('a request', () => {
  test('as the AI SDK sends it holds the reply that was sampled', () => {
    const body: unknown = JSON.parse(fixture('messages-request-ai-sdk.json'))
    const { messages, tools, wire } = readRequest(body, { history: remembers(sampled) })
    expect(messages).toEqual([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'weather?' },
      sampled,
      { role: 'tool', toolCallId: 'call_a', content: 'warm in Oslo' },
      { role: 'tool', toolCallId: 'call_b', content: 'warm in Rome' },
    ])
    expect(tools).toMatchObject([{ name: 'weather', description: 'w' }])
    expect(wire.settings).toEqual({ toolChoice: 'auto', reasoningTokens: 2000, own: [] })
  })

  test('that goes on with a thread has what the thread began with', () => {
    const tools = [{ name: 'weather', input_schema: { type: 'object' } }]
    const first = readRequest({ ...least, system: 'Be brief', tools, thread: { type: 'create' } })
    expect(first.wire.body).not.toHaveProperty('thread')
    const body: unknown = JSON.parse(fixture('messages-request-thread.json'))
    const second = readRequest(body, { history: remembers(sampled, first.messages) })
    expect(second.messages).toEqual([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'x' },
      sampled,
      { role: 'tool', toolCallId: 'call_a', content: 'warm' },
      { role: 'tool', toolCallId: 'call_b', content: 'warm' },
    ])
    expect(second.tools).toEqual(first.tools)
    const asked = JSON.parse(requestBody(second, upstream)) as Body
    expect(asked).toMatchObject({ system: 'Be brief', tools })
    expect(asked).not.toHaveProperty('thread')
    expect((asked['messages'] as Body[]).map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  test('that goes on with a thread that nobody knows tells the SDK to send all', () => {
    const thrown = thrownBy(() => readRequest(JSON.parse(fixture('messages-request-thread.json'))))
    const { code, message, param } = thrown
    expect(messagesDialect.errorBody({ status: 400, code, message, param: param! })).toMatchObject({
      error: { type: 'invalid_request_error', details: { error_code: 'thread_unsupported_request' } },
    })
  })

  test('puts results before what the user says with them, and keeps that one failed', () => {
    const turn = {
      role: 'user',
      content: [
        { type: 'text', text: 'and?' },
        { type: 'tool_result', tool_use_id: 'a', content: 'boom', is_error: true },
        { type: 'tool_result', tool_use_id: 'b' },
      ],
    }
    const use = (id: string): Body => ({ type: 'tool_use', id, name: 'f', input: {} })
    const { messages } = readRequest({
      ...least,
      messages: [...least.messages, { role: 'assistant', content: [use('a'), use('b')] }, turn],
    })
    expect(messages.slice(2)).toEqual([
      { role: 'tool', toolCallId: 'a', content: 'boom', error: 'tool_error' },
      { role: 'tool', toolCallId: 'b', content: '' },
      { role: 'user', content: 'and?' },
    ])
  })

  test('whose arguments stand for some that were no JSON has those that were sampled', () => {
    const reply: Message = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_a', name: 'f', arguments: '{"city": Oslo' }],
    }
    const context: ReplyContext = { request: readRequest(least), model: 'p', id: 'reply-1', created: 1 }
    const { content } = writeReply({ message: reply, finish: 'tool_calls' }, context)
    expect(content).toMatchObject([{ type: 'tool_use', input: { malformed_arguments: '{"city": Oslo' } }])
    const { messages } = readRequest(
      { ...least, messages: [...least.messages, { role: 'assistant', content }] },
      { history: remembers(reply) },
    )
    expect(messages[1]).toEqual(reply)
  })

  test('sends a provider what it wrote where the program has a mark', () => {
    const { message } = readResponse(messagesDialect.readReply(wholeReplies.messages)!)
    const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'quintain.reply-1' }
    const messages = [
      ...least.messages,
      { role: 'assistant', content: [thinking, { type: 'text', text: 'x' }] },
    ]
    const request = readRequest({ ...least, messages }, { history: remembers(message) })
    const [first, second] = wholeReplies.messages['content'] as Body[]
    expect(request.wire.body['messages']).toEqual([
      ...least.messages,
      { role: 'assistant', content: [first, second, { type: 'text', text: 'x' }] },
    ])
  })

  test.each<[string, Body, string]>([
    ['a server tool', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0.type'],
    ['an MCP server', { mcp_servers: [{ type: 'url', url: 'http://x', name: 'x' }] }, 'mcp_servers'],
    [
      'a document',
      { messages: [{ role: 'user', content: [{ type: 'document', source: {} }] }] },
      'messages.0.content.0.type',
    ],
    [
      'an image by id',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      'messages.0.content.0.source.type',
    ],
    [
      'a result of a server tool',
      { messages: [{ role: 'assistant', content: [{ type: 'web_search_tool_result' }] }] },
      'messages.0.content.0.type',
    ],
  ])('with %s is refused, and says where', (_what, more, param) => {
    const thrown = thrownBy(() => readRequest({ ...least, ...more }))
    expect(thrown).toMatchObject({ name: 'DialectError', code: 'unsupported', param })
  })

  test.each<[Body, string]>([
    [{ ...least, max_tokens: undefined }, 'max_tokens: Field required'],
    [{ ...least, messages: [] }, 'at least one message'],
    [{ ...least, messages: [{ role: 'tool', content: 'x' }] }, "'messages.0.role'"],
    [{ ...least, messages: [{ role: 'user', content: 5 }] }, "'messages.0.content'"],
    [{ ...least, tools: [{ name: 'f' }] }, "'tools.0.input_schema'"],
    [
      {
        ...least,
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'file:///a.png' } }] },
        ],
      },
      'an http(s) address',
    ],
    [{ ...least, thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  ])('%j is no request', (body, words) => {
    const thrown = thrownBy(() => readRequest(body))
    expect(thrown).toMatchObject({ name: 'DialectError', code: 'invalid_request' })
    expect(thrown.message).toContain(words)
  })
})

describe('what is sent on', () => {
  test('is what the program wrote, with the limits of the run', () => {
    const body = {
      ...least,
      max_tokens: 6000,
      thinking: { type: 'enabled', budget_tokens: 4000 },
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      some_new_field: 1,
      stream: true,
    }
    const request = readRequest(body)
    const limited = (maxTokens: number): Body =>
      JSON.parse(requestBody({ ...request, sampling: { ...request.sampling, maxTokens } }, upstream)) as Body
    const { stream: _stream, ...same } = body
    expect(limited(6000)).toEqual({ ...same, model: 'claude' })
    expect(limited(3000)).toMatchObject({
      max_tokens: 3000,
      thinking: { type: 'enabled', budget_tokens: 2999 },
    })
    expect(limited(500)).toMatchObject({ max_tokens: 500, thinking: { type: 'disabled' } })
  })

  test('begins a reply for it only where the program speaks the same dialect', () => {
    const prefilled = {
      ...least,
      messages: [...least.messages, { role: 'assistant', content: 'The answer is (' }],
    }
    const request = readRequest(prefilled)
    expect(JSON.parse(requestBody(request, upstream))).toMatchObject({ messages: prefilled.messages })
    expect(request.wire.settings.own).toEqual(['a reply that has begun'])
  })

  test('of a harness has all results of a reply in one turn, no empty text, and a limit', () => {
    const call = (id: string): { id: string; name: string; arguments: string } => ({
      id,
      name: 'f',
      arguments: '',
    })
    const body = sent([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
      { role: 'assistant', content: '\n', toolCalls: [call('a'), call('functions.b:0')] },
      { role: 'tool', toolCallId: 'a', content: 'ok' },
      { role: 'tool', toolCallId: 'functions.b:0', content: 'no', error: 'unknown_tool' },
      { role: 'user', content: 'and?' },
    ])
    const odd = 'id_ZnVuY3Rpb25zLmI6MA'
    expect(body).toEqual({
      model: 'claude',
      max_tokens: 32_000,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'go' }] },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'a', name: 'f', input: {} },
            { type: 'tool_use', id: odd, name: 'f', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'ok' }] },
            {
              type: 'tool_result',
              tool_use_id: odd,
              content: [{ type: 'text', text: 'no' }],
              is_error: true,
            },
            { type: 'text', text: 'and?' },
          ],
        },
      ],
    })
  })

  test('by a run that asks for what cannot be said is a fault of the run', () => {
    const request = { messages: [{ role: 'user' as const, content: 'x' }], sampling: { seed: 1 } }
    expect(() => requestBody(request, upstream)).toThrow(
      expect.objectContaining({
        name: 'ModelFault',
        fault: expect.objectContaining({ owner: 'platform', code: 'unsupported', retryable: false }),
      }),
    )
  })

  test('keeps signed reasoning in its place, whatever is said around it', () => {
    const { message } = readResponse(messagesDialect.readReply(wholeReplies.messages)!)
    const results = message.toolCalls!.map(
      ({ id }): Message => ({ role: 'tool', toolCallId: id, content: 'warm' }),
    )
    const body = sent([{ role: 'user', content: 'weather?' }, message, ...results])
    expect(body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: wholeReplies.messages['content'] },
      { role: 'user' },
    ])
  })
})

describe('a reply', () => {
  const context = (more: Body = {}): ReplyContext => ({
    request: readRequest({ ...least, ...more }),
    model: 'policy',
    id: 'reply-1',
    created: 1_764_000_000,
  })

  test('of the provider is read as it is', () => {
    expect(readResponse(messagesDialect.readReply(wholeReplies.messages)!)).toMatchObject({
      finish: 'tool_calls',
      finishRaw: 'tool_use',
      model: 'claude-sonnet-4-5-20250929',
      message: {
        content: 'Let me look.',
        reasoning: 'I need the weather of both cities.',
        toolCalls: [
          { id: 'toolu_01A', arguments: '{"city":"Oslo"}' },
          { id: 'toolu_01B', arguments: '{"city":"Rome","days":2}' },
        ],
      },
      usage: { fresh: 10, cacheRead: 3, cacheWrite: 2, output: 7, reasoning: 4 },
    })
  })

  test('that was streamed has its arguments as they were sampled', () => {
    const reader = messagesDialect.replyReader({})
    for (const { data, event } of eventsOf(streams.messages)) reader.push(data, event)
    const end = reader.end()
    const { message, usage } = readResponse(end.state === 'complete' ? end.completion : { message: {} })
    expect(message.toolCalls?.map((call) => call.arguments)).toEqual([
      '{"city": "Oslo"}',
      '{"city": "Rome", "days": 2}',
    ])
    expect(usage).toEqual({ fresh: 10, cacheRead: 3, cacheWrite: 2, output: 7, reasoning: 4 })
  })

  test.each<[string, Body]>([
    ['is an error', { type: 'error', error: { type: 'overloaded_error', message: 'no' } }],
    ['is something else', { choices: [] }],
  ])('that %s is none', (_what, body) => {
    expect(messagesDialect.readReply(body)).toBeUndefined()
  })

  test.each(['max_tokens', 'model_context_window_exceeded'])(
    'that ended for its length: %s',
    (stop_reason) => {
      const { content, ...rest } = wholeReplies.messages
      const said = (content as Body[]).filter(({ type }) => type === 'text')
      const reply = messagesDialect.readReply({ ...rest, content: said, stop_reason })!
      expect(readResponse(reply)).toMatchObject({ finish: 'length', finishRaw: stop_reason })
    },
  )

  test('shows thinking to a program that asked for it, with a mark for its signature', () => {
    const response: ModelResponse = { message: sampled, finish: 'tool_calls' }
    const types = (body: Body): unknown[] => (body['content'] as Body[]).map(({ type }) => type)
    expect(types(writeReply(response, context()))).toEqual(['text', 'tool_use', 'tool_use'])
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const shown = writeReply(response, context({ max_tokens: 2000, thinking }))
    expect(shown['content']).toMatchObject([
      { type: 'thinking', thinking: sampled.reasoning, signature: 'quintain.reply-1' },
      { type: 'text' },
      { type: 'tool_use' },
      { type: 'tool_use' },
    ])
  })

  test('of nothing is an empty text', () => {
    const empty: ModelResponse = { message: { role: 'assistant', content: '' }, finish: 'stop' }
    expect(writeReply(empty, context())).toMatchObject({
      content: [{ type: 'text', text: '' }],
      stop_reason: 'end_turn',
    })
  })

  test('of the provider passes through a stream unchanged, its end after it was recorded', () => {
    const writer = messagesDialect.replyWriter(context({ stream: true }))
    let text = writer.start()
    const reader = messagesDialect.replyReader({
      as: 'events',
      onDelta: (delta) => {
        text += writer.delta(delta)
      },
    })
    for (const { data, event } of eventsOf(streams.messages)) reader.push(data, event)
    expect(text).not.toContain('message_stop')
    const end = reader.end()
    const response = readResponse(end.state === 'complete' ? end.completion : { message: {} })
    expect(text + writer.end(response)).toBe(streams.messages)
  })

  test('that is overloaded in the middle is an error that may pass', () => {
    const reader = messagesDialect.replyReader({})
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    expect(reader.push(JSON.stringify(error), 'error')).toBe(false)
    expect(reader.end()).toMatchObject({ state: 'error', error: { status: 529 }, retryable: true })
  })
})

test.each([
  [400, 'invalid_request_error'],
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [502, 'api_error'],
  [529, 'overloaded_error'],
])('an error of status %i is a %s', (status, type) => {
  expect(messagesDialect.errorBody({ status, code: 'turn_limit', message: 'No.' })).toEqual({
    type: 'error',
    error: { type, message: 'No.', code: 'turn_limit' },
    request_id: null,
  })
})

test('the key is sent as Anthropic wants it', () => {
  expect(messagesDialect.headers('k')).toEqual({ 'anthropic-version': '2023-06-01', 'x-api-key': 'k' })
  expect(messagesDialect.headers(undefined)).toEqual({ 'anthropic-version': '2023-06-01' })
})
