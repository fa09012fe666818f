import { describe, expect, test } from 'vitest'
import type { AssistantMessage, DialectName, Message, ModelRequest, ModelResponse } from '../../core/index.ts'
import { type RawMessage, readResponse } from '../completion.ts'
import { asks, eventsOf, streams, wholeReplies } from './__fixtures__/one-reply.ts'
import { dialects, type ReplyContext } from './index.ts'

type Body = Record<string, unknown>
type History = (id: string) => readonly Message[] | undefined

const names: DialectName[] = ['chat', 'responses', 'messages']
const pairs = names.flatMap((program) => names.map((upstream) => [program, upstream] as const))

function contextOf(program: DialectName, body: Body): ReplyContext {
  return {
    request: dialects[program].readRequest(body),
    model: 'policy',
    id: 'reply-1',
    created: 1_764_000_000,
  }
}

/** The response of a model, as a client of the upstream's dialect makes it. */
function replyOf(program: DialectName, upstream: DialectName): ModelResponse {
  const body = wholeReplies[upstream]
  const completion = dialects[upstream].readReply(body as RawMessage)
  const response = readResponse(completion!)
  return program === upstream ? { ...response, wire: { dialect: upstream, body } } : response
}

/** A stream of the upstream as the program is sent it. */
function streamed(
  program: DialectName,
  upstream: DialectName,
  context: ReplyContext,
): [string, ModelResponse] {
  const writer = dialects[program].replyWriter(context)
  let text = writer.start()
  const reader = dialects[upstream].replyReader({
    as: program === upstream ? 'events' : 'pieces',
    onDelta: (delta) => {
      text += writer.delta(delta)
    },
  })
  for (const { data, event } of eventsOf(streams[upstream])) if (!reader.push(data, event)) break
  const end = reader.end()
  if (end.state !== 'complete') throw new Error(`the stream is ${end.state}`)
  const response = readResponse(end.completion)
  return [text + writer.end(response), response]
}

function readStream(program: DialectName, text: string): ModelResponse {
  const reader = dialects[program].replyReader({})
  for (const { data, event } of eventsOf(text)) if (!reader.push(data, event)) break
  const end = reader.end()
  if (end.state !== 'complete') throw new Error(`the stream is ${end.state}`)
  return readResponse(end.completion)
}

/** A reply without what only its own provider can read, arguments as values. */
function said(response: ModelResponse): Body {
  const { content, reasoning, toolCalls, refusal } = response.message
  return {
    content,
    reasoning,
    refusal,
    calls: toolCalls?.map(({ id, name, arguments: text }) => ({ id, name, arguments: JSON.parse(text) })),
    finish: response.finish,
    usage: response.usage,
  }
}

/** Chat Completions has no word for tokens that were written to a cache; there they are input like any other. */
function toldTo(program: DialectName, response: ModelResponse): Body {
  const { usage } = response
  if (program !== 'chat' || usage === undefined) return said(response)
  const { fresh, cacheWrite } = usage
  return said({ ...response, usage: { ...usage, fresh: fresh + cacheWrite, cacheWrite: 0 } })
}

/** A second request that sends back what the program was given. */
function echo(program: DialectName, reply: Body, results: string[]): Body {
  const ask = asks[program]
  if (program === 'chat') {
    const [choice] = reply['choices'] as { message: Body }[]
    return {
      ...ask,
      messages: [
        ...(ask['messages'] as unknown[]),
        choice!.message,
        ...results.map((id) => ({ role: 'tool', tool_call_id: id, content: 'warm' })),
      ],
    }
  }
  if (program === 'responses') {
    return {
      ...ask,
      input: [
        { role: 'user', content: 'weather?' },
        ...(reply['output'] as unknown[]),
        ...results.map((id) => ({ type: 'function_call_output', call_id: id, output: 'warm' })),
      ],
    }
  }
  const content = results.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'warm' }))
  return {
    ...ask,
    messages: [
      ...(ask['messages'] as unknown[]),
      { role: 'assistant', content: reply['content'] },
      { role: 'user', content },
    ],
  }
}

function remembering(program: DialectName, response: ModelResponse, context: ReplyContext): History {
  const ids = dialects[program].replyIds?.(response, context) ?? []
  const conversation = [...context.request.messages, response.message]
  return (id) => (ids.includes(id) ? conversation : undefined)
}

function assistantOf(request: ModelRequest): AssistantMessage | undefined {
  return request.messages.find((message): message is AssistantMessage => message.role === 'assistant')
}

/** What a provider alone can read of its reasoning. */
const sealed: Partial<Record<DialectName, string[]>> = {
  messages: ['EqQBCkYIBxgCKkD2', 'EmwKAhgBEgy3va3p'],
  responses: ['gAAAAABlx8Qp', 'rs_67ccd2bf17f0819081ff3bb2'],
}

describe('a reply', () => {
  test.each(pairs)('to a %s program from a %s upstream is whole', (program, upstream) => {
    const context = contextOf(program, asks[program])
    const response = replyOf(program, upstream)
    const body = dialects[program].writeReply(response, context)
    const seen = readResponse(dialects[program].readReply(body as RawMessage)!)
    expect(toldTo(program, seen)).toEqual(toldTo(program, response))
  })

  test.each(pairs)('to a %s program from a %s upstream is the same in a stream', (program, upstream) => {
    const context = contextOf(program, { ...asks[program], stream: true, ...usageToo(program) })
    const [text, response] = streamed(program, upstream, context)
    expect(said(response)).toEqual(said(replyOf(program, upstream)))
    expect(toldTo(program, readStream(program, text))).toEqual(toldTo(program, response))
  })

  test.each(pairs)(
    'that comes back from a %s program to a %s upstream is what was sampled',
    (program, upstream) => {
      const context = contextOf(program, asks[program])
      const response = replyOf(program, upstream)
      const reply = dialects[program].writeReply(response, context)
      const ids = response.message.toolCalls!.map(({ id }) => id)
      const history = remembering(program, response, context)
      const again = dialects[program].readRequest(echo(program, reply, ids), { history })
      const { content, reasoning, toolCalls } = assistantOf(again)!
      expect({ content, reasoning, toolCalls }).toEqual({
        content: response.message.content,
        reasoning: response.message.reasoning,
        toolCalls: response.message.toolCalls,
      })
      const sent = dialects[upstream].requestBody(again, { model: 'served', stream: false })
      // A chat completion has no place for what only its provider can read.
      if (program !== 'chat') for (const text of sealed[upstream] ?? []) expect(sent).toContain(text)
      expect(sent).not.toContain('quintain.')
    },
  )

  test.each(names)('that is a refusal is one to a %s program', (program) => {
    const context = contextOf(program, asks[program])
    const message: AssistantMessage = { role: 'assistant', content: '', refusal: 'I will not.' }
    const response: ModelResponse = { message, finish: 'refusal' }
    const body = JSON.stringify(dialects[program].writeReply(response, context))
    expect(body).toContain('I will not.')
    const finish = readResponse(dialects[program].readReply(JSON.parse(body) as RawMessage)!).finish
    expect(finish).toBe('refusal')
  })

  test.each(names)('that was cut is cut to a %s program, streamed or not', (program) => {
    const context = contextOf(program, asks[program])
    const response: ModelResponse = { message: { role: 'assistant', content: 'Once upon' }, finish: 'length' }
    const whole = dialects[program].writeReply(response, context)
    expect(readResponse(dialects[program].readReply(whole as RawMessage)!).finish).toBe('length')
    const writer = dialects[program].replyWriter(context)
    const text = writer.start() + writer.delta({ type: 'text', text: 'Once upon' }) + writer.end(response)
    expect(readStream(program, text)).toMatchObject({ finish: 'length', message: { content: 'Once upon' } })
  })

  test.each(names)('that breaks is an error to a %s program, and no reply', (program) => {
    const context = contextOf(program, asks[program])
    const writer = dialects[program].replyWriter(context)
    const text =
      writer.start() +
      writer.delta({ type: 'text', text: 'Once' }) +
      writer.error({ status: 502, code: 'stream_incomplete', message: 'It broke off.' })
    const reader = dialects[program].replyReader({})
    for (const { data, event } of eventsOf(text)) if (!reader.push(data, event)) break
    expect(reader.end()).toMatchObject({ state: 'error', error: { message: 'It broke off.' } })
  })

  test.each(names)('of a script is written whole in a stream of %s', (program) => {
    const context = contextOf(program, asks[program])
    const response = replyOf(program === 'chat' ? 'messages' : 'chat', 'chat')
    const writer = dialects[program].replyWriter(context)
    const { wire: _wire, ...script } = response
    expect(said(readStream(program, writer.start() + writer.end(script)))).toMatchObject({
      content: 'Let me look.',
      calls: said(response)['calls'],
    })
  })
})

function usageToo(program: DialectName): Body {
  return program === 'chat' ? { stream_options: { include_usage: true } } : {}
}

describe('a stream', () => {
  test.each(names)('of %s that stops at any event is no reply', (name) => {
    const events = eventsOf(streams[name])
    // Chat Completions has said all before it says that it is over.
    const ends = name === 'chat' ? 3 : 1
    for (let stop = 0; stop <= events.length - ends; stop++) {
      const reader = dialects[name].replyReader({})
      for (const { data, event } of events.slice(0, stop)) reader.push(data, event)
      expect(reader.end().state, `after ${stop} events`).toBe('incomplete')
    }
  })

  test.each(names)('of %s tells in pieces what it says at its end', (name) => {
    const told = { text: '', reasoning: '', calls: [] as { id: string; name: string; arguments: string }[] }
    const reader = dialects[name].replyReader({
      onDelta: (delta) => {
        if (delta.type === 'text' || delta.type === 'reasoning') told[delta.type] += delta.text
        if (delta.type === 'call') told.calls[delta.call] = { id: delta.id, name: delta.name, arguments: '' }
        if (delta.type === 'arguments') told.calls[delta.call]!.arguments += delta.text
      },
    })
    for (const { data, event } of eventsOf(streams[name])) if (!reader.push(data, event)) break
    const end = reader.end()
    const { message } = readResponse(end.state === 'complete' ? end.completion : { message: {} })
    expect(told).toEqual({ text: message.content, reasoning: message.reasoning, calls: message.toolCalls })
  })
})
