import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelResponse, ReplyDelta } from '../../core/index.ts'
import { readResponse } from '../completion.ts'
import { createEventReader } from '../sse.ts'
import { chatDialect } from './chat.ts'
import type { ReplyContext } from './dialect.ts'

function contextOf(body: object = {}): ReplyContext {
  const request = chatDialect.readRequest({ model: 'm', messages: [{ role: 'user', content: 'x' }], ...body })
  return { request, model: 'policy', id: 'reply-1', created: 1_700_000_000 }
}

/** The chunks in the text of a stream; `[DONE]` stays text. */
function chunksOf(text: string): unknown[] {
  const chunks: unknown[] = []
  const events = createEventReader(({ data }) => chunks.push(data === '[DONE]' ? data : JSON.parse(data)))
  events.push(text)
  events.end()
  return chunks
}

interface Chunk {
  id: string
  object: string
  usage?: unknown
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[]
}

/** What a program makes of the text of a stream, read by our own reader. */
function received(text: string): ModelResponse {
  const reader = chatDialect.replyReader({})
  const events = createEventReader(({ data, event }) => reader.push(data, event))
  events.push(text)
  events.end()
  const end = reader.end()
  if (end.state !== 'complete') throw new Error(JSON.stringify(end))
  return readResponse(end.completion)
}

/** A streamed reply as a program of this dialect gets it from an upstream that sends `events`. */
function piped(events: readonly object[], body: object = {}): { text: string; response: ModelResponse } {
  const writer = chatDialect.replyWriter(contextOf(body))
  let text = writer.start()
  const reader = chatDialect.replyReader({ as: 'events', onDelta: (delta) => (text += writer.delta(delta)) })
  for (const event of events) reader.push(JSON.stringify(event))
  reader.push('[DONE]')
  const end = reader.end()
  if (end.state !== 'complete') throw new Error(JSON.stringify(end))
  const response = readResponse(end.completion)
  return { text: text + writer.end(response), response }
}

const upstream = [
  {
    id: 'c1',
    model: 'u',
    prompt_token_ids: [1, 2],
    choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
  },
  {
    id: 'c1',
    model: 'u',
    choices: [
      {
        index: 0,
        delta: { content: 'hi', mood: 'good' },
        token_ids: [7],
        logprobs: { content: [{ token: 'hi', logprob: -1 }] },
        finish_reason: null,
      },
    ],
  },
  {
    id: 'c1',
    model: 'u',
    choices: [{ index: 0, delta: {}, token_ids: [8], finish_reason: 'stop' }],
    system_fingerprint: 'x',
  },
  { id: 'c1', model: 'u', choices: [], usage: { prompt_tokens: 2, completion_tokens: 2 } },
]

describe('chunks of an upstream of this dialect', () => {
  test('pass as they came, without what the program did not ask for', () => {
    const { text, response } = piped(upstream)
    expect(response.tokens).toMatchObject({ promptIds: Int32Array.of(1, 2), outputIds: Int32Array.of(7, 8) })
    const chunks = chunksOf(text)
    expect(chunks).toEqual([
      { id: 'c1', model: 'u', choices: upstream[0]!.choices },
      {
        id: 'c1',
        model: 'u',
        choices: [{ index: 0, delta: { content: 'hi', mood: 'good' }, logprobs: null, finish_reason: null }],
      },
      {
        id: 'c1',
        model: 'u',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        system_fingerprint: 'x',
      },
      '[DONE]',
    ])
  })

  test('pass whole where all of it was asked for', () => {
    const asked = { logprobs: true, return_token_ids: true, stream_options: { include_usage: true } }
    expect(chunksOf(piped(upstream, asked).text)).toEqual([...upstream, '[DONE]'])
  })

  test('that say neither finish nor usage are given both', () => {
    const { text } = piped([upstream[1]!], { stream_options: { include_usage: true } })
    const writer = chatDialect.replyWriter(contextOf({ stream_options: { include_usage: true } }))
    expect(chunksOf(text).at(-2)).toMatchObject({ id: 'c1', choices: [{ finish_reason: 'stop' }] })
    const usage = { fresh: 1, cacheRead: 2, cacheWrite: 0, output: 3 }
    const end = writer.end({ message: { role: 'assistant', content: 'x' }, finish: 'stop', usage })
    expect(chunksOf(end).at(-2)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
    })
  })

  test('with calls in the new form reach a program of the first form as function_call', () => {
    const delta = (call: object) => ({
      id: 'c',
      choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }],
    })
    const { text } = piped(
      [
        delta({ index: 0, id: 'a', type: 'function', function: { name: 'add', arguments: '' } }),
        delta({ index: 0, function: { arguments: '{}' } }),
        { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
      ],
      { functions: [{ name: 'add' }] },
    )
    const deltas = (chunksOf(text).slice(0, -1) as Chunk[]).map(({ choices }) => choices[0])
    expect(deltas).toMatchObject([
      { delta: { function_call: { name: 'add', arguments: '' } } },
      { delta: { function_call: { arguments: '{}' } } },
      { finish_reason: 'function_call' },
    ])
  })
})

const responses = fc
  .record({
    content: fc.string(),
    reasoning: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    refusal: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    calls: fc.array(fc.record({ name: fc.string({ minLength: 1 }), arguments: fc.json() }), { maxLength: 3 }),
  })
  .map(({ content, reasoning, refusal, calls }): ModelResponse => {
    const toolCalls = calls.map((call, index) => ({ id: `c${index}`, ...call }))
    return {
      message: {
        role: 'assistant',
        content,
        ...(reasoning === undefined ? {} : { reasoning }),
        ...(refusal === undefined ? {} : { refusal }),
        ...(toolCalls.length === 0 ? {} : { toolCalls }),
      },
      finish: toolCalls.length > 0 ? 'tool_calls' : 'stop',
    }
  })

/** The pieces of a reply, cut anywhere. */
function piecesOf({ message }: ModelResponse, size: number): ReplyDelta[] {
  const cut = (text: string): string[] =>
    Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size))
  return [
    ...cut(message.reasoning ?? '').map((text): ReplyDelta => ({ type: 'reasoning', text })),
    ...cut(message.refusal ?? '').map((text): ReplyDelta => ({ type: 'refusal', text })),
    ...cut(String(message.content)).map((text): ReplyDelta => ({ type: 'text', text })),
    ...(message.toolCalls ?? []).flatMap(({ id, name, arguments: text }, call): ReplyDelta[] => [
      { type: 'call', call, id, name },
      ...cut(text).map((piece): ReplyDelta => ({ type: 'arguments', call, text: piece })),
    ]),
  ]
}

/** A message as a program knows it. */
function known({ message }: ModelResponse): object {
  const { content, reasoning, refusal, toolCalls } = message
  return { content, reasoning, refusal, toolCalls }
}

describe('pieces in words of no dialect', () => {
  test('become chunks that say the same, whatever was told before the end', () => {
    fc.assert(
      fc.property(responses, fc.integer({ min: 1, max: 5 }), fc.nat(40), (response, size, told) => {
        const writer = chatDialect.replyWriter(contextOf())
        let text = writer.start()
        for (const delta of piecesOf(response, size).slice(0, told)) text += writer.delta(delta)
        text += writer.end(response)
        const chunks = chunksOf(text)
        expect(chunks.at(-1)).toBe('[DONE]')
        const made = chunks.slice(0, -1) as Chunk[]
        for (const { id, object, choices } of made) {
          expect([id, object]).toEqual(['reply-1', 'chat.completion.chunk'])
          expect(choices).toHaveLength(1)
        }
        expect(made[0]!.choices[0]!.delta['role']).toBe('assistant')
        expect(made.filter(({ choices }) => choices[0]!.delta['role'] !== undefined)).toHaveLength(1)
        expect(
          made.map(({ choices }) => choices[0]!.finish_reason).filter((finish) => finish !== null),
        ).toEqual([response.message.toolCalls === undefined ? 'stop' : 'tool_calls'])
        // Text that begins with a thinking tag is read as thinking by whoever looks for it.
        if (!/^\s*<think/.test(String(response.message.content)))
          expect(known(received(text))).toEqual(known(response))
      }),
    )
  })

  test('and a broken reply ends in an error, without the word that it is done', () => {
    const writer = chatDialect.replyWriter(contextOf())
    let text = writer.delta({ type: 'text', text: 'half' })
    text += writer.error({ status: 502, code: 'stream_incomplete', message: 'it broke' })
    expect(text).toContain('event: error\n')
    expect(text).not.toContain('[DONE]')
    expect(chunksOf(text).at(-1)).toEqual({
      error: { message: 'it broke', type: 'server_error', param: null, code: 'stream_incomplete' },
    })
    expect(() => received(text)).toThrow('it broke')
  })
})

describe('a whole reply', () => {
  test('of this dialect passes with unknown fields, without what was not asked for', () => {
    const body = {
      id: 'c1',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', mood: 'good' },
          logprobs: { content: [] },
          token_ids: [1],
          meta_info: {},
          finish_reason: 'stop',
          stop_reason: null,
        },
      ],
      prompt_token_ids: [1],
      prompt_logprobs: null,
      weight_version: '7',
      usage: { prompt_tokens: 1 },
    }
    const response: ModelResponse = {
      message: { role: 'assistant', content: 'hi' },
      finish: 'stop',
      wire: { dialect: 'chat', body },
    }
    const kept = { role: 'assistant', content: 'hi', mood: 'good' }
    expect(chatDialect.writeReply(response, contextOf())).toEqual({
      id: 'c1',
      choices: [{ index: 0, message: kept, logprobs: null, finish_reason: 'stop', stop_reason: null }],
      usage: { prompt_tokens: 1 },
    })
    expect(body.choices[0]!.token_ids).toEqual([1])
    const plain = { id: 'c2', choices: [{ index: 0, message: kept, finish_reason: 'stop' }] }
    expect(chatDialect.writeReply({ ...response, wire: { dialect: 'chat', body: plain } }, contextOf())).toBe(
      plain,
    )
  })

  test('of another model is written, and reads as what it was', () => {
    fc.assert(
      fc.property(responses, (response) => {
        const body = chatDialect.writeReply(response, contextOf())
        expect(body).toMatchObject({ id: 'reply-1', object: 'chat.completion', model: 'policy' })
        const read = readResponse(chatDialect.readReply(body)!)
        if (!/^\s*<think/.test(String(response.message.content))) expect(known(read)).toEqual(known(response))
      }),
    )
  })

  test('tells the tokens to those who ask', () => {
    const response: ModelResponse = {
      message: { role: 'assistant', content: 'hi' },
      finish: 'length',
      tokens: {
        promptIds: Int32Array.of(1),
        outputIds: Int32Array.of(5, 6),
        logprobs: Float32Array.of(-1, -2),
      },
    }
    const asked = contextOf({ logprobs: true, return_token_ids: true })
    expect(chatDialect.writeReply(response, asked)).toMatchObject({
      prompt_token_ids: [1],
      choices: [
        {
          token_ids: [5, 6],
          finish_reason: 'length',
          logprobs: { content: [{ token: 'token_id:5', logprob: -1 }, { logprob: -2 }] },
        },
      ],
    })
    expect(JSON.stringify(chatDialect.writeReply(response, contextOf()))).not.toContain('token_id')
  })
})
