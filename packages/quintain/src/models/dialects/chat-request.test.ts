import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message, ModelRequest } from '../../core/index.ts'
import { readResponse } from '../completion.ts'
import { chatDialect } from './chat.ts'
import { readChatRequest } from './chat-request.ts'
import { DialectError } from './dialect.ts'
import { dialects } from './index.ts'

interface Captured {
  from: string
  requests: Record<string, unknown>[]
}

/** Bodies as packages send them, two turns each. */
const captured = JSON.parse(
  readFileSync(new URL('./__fixtures__/chat-requests.json', import.meta.url), 'utf8'),
) as Captured[]

function errorOf(body: unknown): DialectError {
  try {
    readChatRequest(body)
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DialectError)
    return thrown as DialectError
  }
  throw new Error('the request was read')
}

const user = { role: 'user', content: 'hello' }
const minimal = { model: 'm', messages: [user] }

describe('what packages send', () => {
  test.each(captured)('$from', ({ requests }) => {
    const [first, second] = requests.map((body) => readChatRequest(body))
    // The second turn extends the first, whatever form the package sends its own messages back in.
    expect(second!.messages.slice(0, first!.messages.length)).toEqual(first!.messages)
    expect(second!.messages.length).toBeGreaterThan(first!.messages.length)
    const said = second!.messages[first!.messages.length]
    if (first!.tools === undefined) {
      expect(said).toEqual({ role: 'assistant', content: '{"answer":3}' })
      return
    }
    expect(first!.tools).toMatchObject([
      { name: 'add', description: 'Adds.', parameters: { required: ['a', 'b'] } },
    ])
    expect(said).toMatchObject({
      role: 'assistant',
      content: '',
      toolCalls: [{ name: 'add', arguments: '{"a":1,"b":2}' }],
    })
    const id = said?.role === 'assistant' ? said.toolCalls?.[0]?.id : undefined
    expect(second!.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: id, content: '3' })
  })

  test('sampling, formats and wishes are read', () => {
    const request = readChatRequest({
      ...minimal,
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 50,
      max_tokens: 60,
      stop: 'END',
      seed: 3,
      reasoning_effort: 'low',
      logprobs: true,
      top_logprobs: 4,
      top_k: 20,
      min_p: 0.1,
      frequency_penalty: 0,
      presence_penalty: 0.2,
      parallel_tool_calls: false,
      tool_choice: { type: 'function', function: { name: 'add' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'sum', schema: { type: 'object' }, strict: true },
      },
      stream: true,
      stream_options: { include_usage: true },
      return_token_ids: true,
      verbosity: 'low',
      logit_bias: { 5: 1 },
      chat_template_kwargs: { enable_thinking: false },
      metadata: { a: 'b' },
      user: 'u',
    })
    expect(request.sampling).toEqual({
      temperature: 0.5,
      topP: 0.9,
      maxTokens: 50,
      stop: ['END'],
      seed: 3,
      reasoningEffort: 'low',
      logprobs: true,
    })
    expect(request.wire).toMatchObject({
      stream: true,
      wants: { logprobs: true, tokenIds: true, usage: true },
      settings: {
        toolChoice: { tool: 'add' },
        parallelToolCalls: false,
        responseFormat: { type: 'schema', name: 'sum', schema: { type: 'object' }, strict: true },
        topK: 20,
        minP: 0.1,
        presencePenalty: 0.2,
        topLogprobs: 4,
        verbosity: 'low',
        own: ['return_token_ids', 'logit_bias', 'chat_template_kwargs'],
      },
    })
    expect(request.wire.settings.frequencyPenalty).toBeUndefined()
  })

  test('images come with their bytes or their address', () => {
    const part = (url: string) => ({ type: 'image_url', image_url: { url } })
    const content = [
      { type: 'text', text: 'see' },
      part('data:image/PNG;base64,AAAA'),
      part('https://a.example/b.png'),
    ]
    const { messages } = readChatRequest({ ...minimal, messages: [{ role: 'user', content }] })
    expect(messages[0]!.content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'image', mediaType: 'image/*', url: 'https://a.example/b.png' },
    ])
  })

  test('ids of calls that a server gave twice are told apart, and so are their results', () => {
    const call = { id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }
    const turn = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '1' },
    ]
    const { messages } = readChatRequest({ ...minimal, messages: [user, ...turn, ...turn] })
    const ids = messages.map((message) =>
      message.role === 'tool'
        ? message.toolCallId
        : message.role === 'assistant'
          ? message.toolCalls![0]!.id
          : '',
    )
    expect(ids).toEqual(['', 'c', 'c', 'c_2', 'c_2'])
  })

  test('the echo of a reply with calls is what was recorded of it, with what chat has no place for', () => {
    const toolCalls = [{ id: 'c', name: 'add', arguments: '{"a": 1}' }]
    const recorded: Message = {
      role: 'assistant',
      content: 'hm',
      reasoning: 'thought',
      toolCalls,
      extra: { 'quintain.signed': 'x' },
    }
    const echo = (content: string, text: string) => ({
      ...minimal,
      messages: [
        user,
        {
          role: 'assistant',
          content,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: text } }],
        },
        { role: 'tool', tool_call_id: 'c', content: '1' },
      ],
    })
    const history = (id: string): Message[] | undefined => (id === 'c' ? [recorded] : undefined)
    const read = (content: string, text: string) =>
      readChatRequest(echo(content, text), { history }).messages[1]
    expect(read('hm', '{"a": 1}')).toBe(recorded)
    // As SDKs write it that hand the arguments over as an object.
    expect(read('hm', '{"a":1}')).toBe(recorded)
    expect(read('edited', '{"a": 1}')).toEqual({ role: 'assistant', content: 'edited', toolCalls })
    expect(read('hm', '{"a":2}')).toMatchObject({ toolCalls: [{ arguments: '{"a":2}' }] })
  })

  test('functions of the first form become tools, and their history goes on in the new form', () => {
    const [, second] = captured.find(({ from }) => from.endsWith('functions'))!.requests
    const { wire } = readChatRequest(second)
    expect(wire.wants.functionCall).toBe(true)
    expect(wire.body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'add' } }],
      tool_choice: 'auto',
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
        { role: 'tool', tool_call_id: 'call_1' },
      ],
    })
    expect(wire.body).not.toHaveProperty('functions')
  })
})

describe('what cannot be carried is said', () => {
  test.each<[string, object, string]>([
    ['several answers', { n: 2 }, 'n'],
    ['audio', { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }, 'modalities'],
    ['a predicted output', { prediction: { type: 'content', content: 'x' } }, 'prediction'],
    ['web search', { web_search_options: {} }, 'web_search_options'],
    ['a custom tool', { tools: [{ type: 'custom', custom: { name: 'x' } }] }, 'tools[0].type'],
    ['a grammar', { response_format: { type: 'grammar', grammar: 'x' } }, 'response_format.type'],
    [
      'a file',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'messages[0].content[0].type',
    ],
    ['spoken history', { messages: [user, { role: 'assistant', audio: { id: 'a' } }] }, 'messages[1].audio'],
  ])('%s', (_name, more, param) => {
    expect(errorOf({ ...minimal, ...more })).toMatchObject({ code: 'unsupported', param })
  })

  test.each<[object, string]>([
    [{ messages: 'hello' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [{ messages: [{ role: 'user', content: [{ type: 'text', text: 1 }] }] }, 'messages[0].content[0].text'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///x' } }] }] },
      'messages[0].content[0].image_url.url',
    ],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { arguments: '{}' } }] }] },
      'messages[0].tool_calls[0].function.name',
    ],
    [{ model: 1 }, 'model'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: -5 }, 'max_tokens'],
    [{ stop: [1] }, 'stop[0]'],
    [{ tool_choice: 'any' }, 'tool_choice'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ stream: 'yes' }, 'stream'],
  ])('%j is wrong at %s', (more, param) => {
    expect(errorOf({ ...minimal, ...more })).toMatchObject({ code: 'invalid_request', param })
  })

  test('whatever JSON comes, it is read or refused', () => {
    const names = [
      'role',
      'content',
      'type',
      'text',
      'image_url',
      'url',
      'tool_calls',
      'function_call',
      'function',
      'name',
      'arguments',
      'id',
      'audio',
      'refusal',
      'tool_call_id',
    ]
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom(
          null,
          true,
          0,
          -1,
          'user',
          'assistant',
          'tool',
          'function',
          'text',
          '',
          '{}',
          'data:image/png;base64,AA',
        ),
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 5 }),
      ),
    })).any
    const message = fc.record(
      {
        role: fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool', 'function'),
        content: value,
        tool_calls: value,
        function_call: value,
        name: value,
        tool_call_id: value,
      },
      { requiredKeys: ['role'] },
    )
    const fields = [
      'n',
      'tools',
      'tool_choice',
      'functions',
      'function_call',
      'response_format',
      'stop',
      'stream',
      'stream_options',
      'modalities',
      'seed',
      'max_tokens',
      'logit_bias',
      'frequency_penalty',
    ]
    const body = fc
      .tuple(
        fc.array(fc.oneof(message, value), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom(...fields), value),
      )
      .map(([messages, rest]) => ({ model: 'm', messages, ...rest }))
    fc.assert(
      fc.property(fc.oneof(body, value), (given) => {
        let read: ModelRequest | undefined
        try {
          read = readChatRequest(given)
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(DialectError)
        }
        if (read !== undefined) expect(read.messages.length).toBeGreaterThan(0)
      }),
      { numRuns: 2000 },
    )
  })
})

/** Conversations as our own harnesses hold them. */
const conversation = fc
  .array(
    fc.record({
      user: fc.string(),
      said: fc.string(),
      reasoning: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
      results: fc.array(fc.string(), { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((turns) => {
    const messages: Message[] = [{ role: 'system', content: 'Be brief.' }]
    let calls = 0
    for (const turn of turns) {
      messages.push({ role: 'user', content: turn.user })
      const toolCalls = turn.results.map(() => ({ id: `c${calls++}`, name: 'f', arguments: '{"a":1}' }))
      // As the reply to a request is read: what leads it may be reasoning in tags.
      const raw = {
        content: turn.said,
        ...(turn.reasoning === undefined ? {} : { reasoning_content: turn.reasoning }),
        tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
          id,
          function: { name, arguments: text },
        })),
      }
      messages.push(readResponse({ message: raw }).message)
      for (const [index, content] of turn.results.entries())
        messages.push({ role: 'tool', toolCallId: toolCalls[index]!.id, content })
    }
    return messages
  })

test('a conversation that is sent on comes back the same', () => {
  fc.assert(
    fc.property(conversation, (messages) => {
      const body: unknown = JSON.parse(chatDialect.requestBody({ messages }, { model: 'm', stream: false }))
      expect(readChatRequest(body).messages).toEqual(messages)
    }),
  )
})

test('keys that every object has are fields as any other', () => {
  const body = JSON.stringify({ model: 'm', messages: [user] })
  for (const key of ['__proto__', 'hasOwnProperty', 'constructor', 'toString', 'valueOf']) {
    const read = (at: string): ModelRequest => readChatRequest(JSON.parse(at))
    const given = read(`${body.slice(0, -1)},"${key}":{"polluted":1}}`)
    expect(given.wire?.settings.own).toEqual([key])
    const said = read(body.replace('"role":', `"${key}":{"polluted":1},"role":`))
    expect(said.messages).toEqual([user])
    const echo = read(
      `{"model":"m","messages":[${JSON.stringify(user)},{"role":"assistant","content":"a","${key}":{"polluted":1}}]}`,
    )
    expect(echo.messages[1]).toMatchObject({ role: 'assistant', content: 'a' })
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  }
})

test('a program can name no field as our own notes of a reply are', () => {
  const item = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }
  const forged = {
    role: 'assistant',
    content: 'a',
    annotations: ['kept'],
    'quintain.responses': [{ kind: 'whole', item }],
    'quintain.messages': [{ kind: 'whole', item: document }],
    'quintain.reasoning': { open: '<x>', close: '</x>' },
  }
  const request = readChatRequest({ model: 'm', messages: [user, forged, user] })
  expect(request.messages[1]).toEqual({ role: 'assistant', content: 'a', extra: { annotations: ['kept'] } })
  for (const dialect of Object.values(dialects)) {
    const sent = dialect.requestBody(request, { model: 'm', stream: false })
    expect(sent).not.toMatch(/quintain|web_search_call|document/)
  }
})
