import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AssistantMessage, DialectName, ModelResponse, ReplyDelta } from '../../core/index.ts'
import { readResponse } from '../completion.ts'
import { conversations } from './__fixtures__/one-conversation.ts'
import { asks, eventsOf } from './__fixtures__/one-reply.ts'
import { DialectError, dialects, type ReplyContext } from './index.ts'

type Body = Record<string, unknown>
type Piece = Exclude<ReplyDelta, { type: 'event' }>

/** A reply and the pieces in which it came. */
interface Told {
  message: AssistantMessage
  pieces: Piece[]
}

const cut = (text: string, at: number[]): string[] => {
  const places = [...new Set(at.map((place) => place % (text.length + 1)))].sort((a, b) => a - b)
  return [0, ...places].map((from, index) => text.slice(from, places[index])).filter((piece) => piece !== '')
}

const places = fc.array(fc.nat(50), { maxLength: 4 })
const text = fc.string({ maxLength: 30, unit: 'grapheme' })
const args = fc.oneof(
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map((value) => JSON.stringify(value)),
  fc.string({ maxLength: 10 }),
)

/** Reasoning, text and calls, cut anywhere; arguments of parallel calls may come by turns. */
const told: fc.Arbitrary<Told> = fc
  .record({
    reasoning: fc.option(text, { nil: undefined }),
    content: text,
    refusal: fc.option(text, { nil: undefined }),
    calls: fc.array(fc.record({ name: fc.constantFrom('a', 'b'), arguments: args }), { maxLength: 3 }),
    places,
    mixed: fc.infiniteStream(fc.nat(2)),
    tells: fc.boolean(),
  })
  .map(({ reasoning, content, refusal, calls, places: at, mixed, tells }) => {
    const toolCalls = calls.map((call, index) => ({ id: `call_${index}`, ...call }))
    const message: AssistantMessage = {
      role: 'assistant',
      content,
      ...(reasoning ? { reasoning } : {}),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(refusal ? { refusal } : {}),
    }
    if (!tells) return { message, pieces: [] }
    const pieces: Piece[] = [
      ...cut(reasoning ?? '', at).map((piece): Piece => ({ type: 'reasoning', text: piece })),
      ...cut(content, at).map((piece): Piece => ({ type: 'text', text: piece })),
      ...cut(refusal ?? '', at).map((piece): Piece => ({ type: 'refusal', text: piece })),
      ...toolCalls.map(({ id, name }, call): Piece => ({ type: 'call', call, id, name })),
    ]
    const left = toolCalls.map((call) => cut(call.arguments, at))
    for (const pick of mixed) {
      const open = left.flatMap((rest, call) => (rest.length > 0 ? [call] : []))
      const call = open[pick % open.length]
      if (call === undefined) break
      pieces.push({ type: 'arguments', call, text: left[call]!.shift()! })
    }
    return { message, pieces }
  })

function written(name: DialectName, { message, pieces }: Told): { events: Body[]; response: ModelResponse } {
  const context: ReplyContext = {
    request: dialects[name].readRequest({ ...asks[name], stream: true }),
    model: 'policy',
    id: 'reply-1',
    created: 1_764_000_000,
  }
  const response: ModelResponse = { message, finish: message.toolCalls === undefined ? 'stop' : 'tool_calls' }
  const writer = dialects[name].replyWriter(context)
  const all = [writer.start(), ...pieces.map((piece) => writer.delta(piece)), writer.end(response)].join('')
  return { events: eventsOf(all).map(({ data }) => JSON.parse(data) as Body), response }
}

function readBack(name: DialectName, events: Body[]): ModelResponse | undefined {
  const reader = dialects[name].replyReader({})
  for (const event of events) reader.push(JSON.stringify(event))
  const end = reader.end()
  return end.state === 'complete' ? readResponse(end.completion, { thinkTags: 'never' }) : undefined
}

describe('a stream of Responses that is written from pieces', () => {
  test('numbers its events, begins and ends each item once, and says at its end what it said in between', () => {
    fc.assert(
      fc.property(told, (reply) => {
        const { events } = written('responses', reply)
        expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at))
        const { output } = events.at(-1)!['response'] as { output: Body[] }
        const at = (kind: string): unknown[] =>
          events.filter(({ type }) => type === kind).map(({ output_index: index }) => index)
        const indexes = output.map((_item, index) => index)
        expect(at('response.output_item.added')).toEqual(indexes)
        expect(at('response.output_item.done').toSorted()).toEqual(indexes)
        for (const [index, item] of output.entries()) {
          const of = (kind: string): string =>
            events
              .filter(({ type, output_index: place }) => type === `response.${kind}.delta` && place === index)
              .map(({ delta }) => String(delta))
              .join('')
          expect(
            events.find(
              (event) => event['type'] === 'response.output_item.done' && event['output_index'] === index,
            )!['item'],
          ).toEqual(item)
          if (item['type'] === 'function_call') expect(of('function_call_arguments')).toBe(item['arguments'])
          const parts = item['type'] === 'message' ? (item['content'] as Body[]) : []
          const said = (key: string): string => parts.map((part) => String(part[key] ?? '')).join('')
          expect(of('output_text')).toBe(said('text'))
          expect(of('refusal')).toBe(said('refusal'))
        }
      }),
    )
  })

  test('holds the whole reply', () => {
    fc.assert(
      fc.property(told, (reply) => {
        const { message } = readBack('responses', written('responses', reply).events)!
        const { content, refusal, toolCalls, reasoning } = message
        expect({ content, refusal, toolCalls, reasoning }).toEqual({
          content: reply.message.content,
          refusal: reply.message.refusal,
          toolCalls: reply.message.toolCalls,
          reasoning: reply.message.reasoning,
        })
      }),
    )
  })
})

describe('a stream of Messages that is written from pieces', () => {
  test('counts its blocks, has one open at a time, and ends with the reason', () => {
    fc.assert(
      fc.property(told, (reply) => {
        const { events } = written('messages', reply)
        const types = events.map(({ type }) => type)
        expect(types[0]).toBe('message_start')
        expect(types.slice(-2)).toEqual(['message_delta', 'message_stop'])
        let open: unknown
        let blocks = 0
        for (const { type, index } of events.slice(1, -2)) {
          if (type === 'content_block_start') {
            expect([open, index]).toEqual([undefined, blocks++])
            open = index
          } else {
            expect(index).toBe(open)
            if (type === 'content_block_stop') open = undefined
          }
        }
        expect(open).toBeUndefined()
        expect(blocks).toBeGreaterThan(0)
      }),
    )
  })

  test('holds the whole reply, arguments as JSON objects', () => {
    fc.assert(
      fc.property(told, (reply) => {
        const { message } = readBack('messages', written('messages', reply).events)!
        const { content, refusal = '', toolCalls, reasoning } = reply.message
        expect(message.content).toBe(`${content}${refusal}`)
        expect(message.reasoning).toBe(reasoning)
        expect(message.toolCalls?.map(({ id, name }) => [id, name])).toEqual(
          toolCalls?.map(({ id, name }) => [id, name]),
        )
        for (const call of message.toolCalls ?? []) expect(JSON.parse(call.arguments)).toBeTypeOf('object')
      }),
    )
  })
})

/** Bodies that are almost right: fields of a good one, some of them replaced by anything. */
function nearly(name: DialectName): fc.Arbitrary<unknown> {
  const anything = fc.jsonValue({ maxDepth: 4 })
  const spoil = (value: unknown): fc.Arbitrary<unknown> => {
    if (Array.isArray(value))
      return fc.oneof(
        { weight: 8, arbitrary: fc.tuple(...value.map(spoil)) },
        { weight: 1, arbitrary: anything },
      )
    if (typeof value === 'object' && value !== null) {
      const fields = Object.fromEntries(Object.entries(value).map(([key, field]) => [key, spoil(field)]))
      const some = fc.record(fields, { requiredKeys: Object.keys(fields).slice(0, 1) })
      return fc.oneof({ weight: 8, arbitrary: some }, { weight: 1, arbitrary: anything })
    }
    return fc.oneof({ weight: 12, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: anything })
  }
  return spoil(conversations[name])
}

describe.each<DialectName>(['responses', 'messages'])('whatever comes in %s', (name) => {
  const dialect = dialects[name]

  test('a request is read, or refused in words', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), nearly(name)), (body) => {
        try {
          const request = dialect.readRequest(body)
          for (const upstream of Object.values(dialects))
            JSON.parse(upstream.requestBody(request, { model: 'm', stream: false }))
        } catch (thrown) {
          if (!(thrown instanceof DialectError)) throw thrown
          expect(thrown.message).not.toBe('')
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a reply is read or is none', () => {
    const body = fc.oneof(fc.jsonValue(), fc.record({ output: fc.jsonValue(), content: fc.jsonValue() }))
    fc.assert(
      fc.property(body, (given) => {
        if (typeof given !== 'object' || given === null || Array.isArray(given)) return
        const completion = dialect.readReply({ ...given })
        if (completion !== undefined) readResponse(completion)
      }),
    )
  })

  test('events are read, and are no reply without its end', () => {
    const types = [
      ...['response.created', 'response.output_item.added', 'response.output_item.done', 'response.failed'],
      ...['response.output_text.delta', 'response.function_call_arguments.delta', 'error', 'ping'],
      ...[
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
      ],
    ]
    const event = fc.record(
      {
        type: fc.constantFrom(...types),
        index: fc.nat(2),
        output_index: fc.nat(2),
        delta: fc.jsonValue(),
        item: fc.jsonValue(),
        message: fc.jsonValue(),
        content_block: fc.oneof(fc.constant({ type: 'tool_use', id: 'x', name: 'f' }), fc.jsonValue()),
        response: fc.jsonValue(),
        usage: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    )
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            event.map((given) => JSON.stringify(given)),
            fc.string(),
          ),
        ),
        (events) => {
          const reader = dialect.replyReader({ onDelta: () => {} })
          for (const data of events) reader.push(data)
          expect(reader.end().state).not.toBe('complete')
        },
      ),
    )
  })
})
