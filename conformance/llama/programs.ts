import type { DialectName } from '../../packages/quintain/src/core/index.ts'

/** One thing that is said in a conversation, in words of no protocol. */
export type Said =
  | { by: 'system'; text: string }
  | { by: 'user'; text: string }
  | { by: 'model'; text: string; calls?: readonly Call[] }
  | { by: 'tool'; id: string; text: string }

export interface Call {
  id: string
  name: string
  arguments: string
}

export interface Tool {
  name: string
  description: string
  parameters: object
}

export interface Question {
  said: readonly Said[]
  maxTokens: number
  stream?: boolean
  tools?: readonly Tool[]
  /** Some tool must be called. */
  mustCall?: boolean
  /** Schema of what is to be said. */
  schema?: object
  /** Fields that are put into the body as they are. */
  extra?: object
}

/** What a program reads of a reply. */
export interface Seen {
  text: string
  calls: Call[]
  /** The protocol's own word. */
  finish: string | null | undefined
  input: number
  output: number
  /** The whole reply as it came, or the events of its stream. */
  raw: Body[]
}

export interface Address {
  baseURL: string
  apiKey: string
  fetch?: typeof globalThis.fetch
}

/** The gateway said no. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, body: string) {
    super(`${status} ${body}`)
    this.status = status
  }
}

/** A JSON object of a protocol. */
// biome-ignore lint/suspicious/noExplicitAny: what a program takes on trust is what is tried here.
type Body = Record<string, any>

/** A program's side of one protocol, as SDKs hold it: bodies as they write them, replies as they read them. */
interface Protocol {
  path: string
  body(question: Question): Body
  whole(body: Body): Omit<Seen, 'raw'>
  streamed(events: readonly Body[]): Omit<Seen, 'raw'>
}

/** Asks in one of the protocols, always for the likeliest token. */
export async function ask(
  dialect: DialectName,
  { baseURL, apiKey, fetch = globalThis.fetch }: Address,
  question: Question,
): Promise<Seen> {
  const protocol = protocols[dialect]
  const response = await fetch(`${baseURL}${protocol.path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(dialect === 'messages'
        ? { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }
        : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({
      model: 'any',
      temperature: 0,
      ...protocol.body(question),
      ...(question.stream === true ? { stream: true } : {}),
      ...question.extra,
    }),
  })
  const text = await response.text()
  if (!response.ok) throw new Refused(response.status, text)
  if (question.stream !== true) {
    const body = JSON.parse(text) as Body
    return { ...protocol.whole(body), raw: [body] }
  }
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Body)
  return { ...protocol.streamed(events), raw: events }
}

const chat: Protocol = {
  path: '/chat/completions',
  body: ({ said, maxTokens, stream, tools, mustCall, schema }) => ({
    max_tokens: maxTokens,
    messages: said.map((one) => {
      if (one.by === 'tool') return { role: 'tool', tool_call_id: one.id, content: one.text }
      if (one.by !== 'model') return { role: one.by, content: one.text }
      const calls = one.calls?.map(({ id, ...made }) => ({ id, type: 'function', function: made })) ?? []
      return {
        role: 'assistant',
        content: one.text,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      }
    }),
    ...(stream === true ? { stream_options: { include_usage: true } } : {}),
    ...(tools === undefined ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    ...(mustCall === true ? { tool_choice: 'required' } : {}),
    ...(schema === undefined
      ? {}
      : { response_format: { type: 'json_schema', json_schema: { name: 'said', schema, strict: true } } }),
  }),
  whole({ choices: [{ message, finish_reason }], usage }) {
    return {
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map((call: Body) => ({ id: call.id, ...call.function })),
      finish: finish_reason,
      input: usage.prompt_tokens,
      output: usage.completion_tokens,
    }
  },
  streamed(chunks) {
    const seen = { text: '', calls: [] as Call[], finish: undefined, input: NaN, output: NaN }
    for (const { choices, usage } of chunks) {
      if (usage) Object.assign(seen, { input: usage.prompt_tokens, output: usage.completion_tokens })
      for (const { delta, finish_reason } of choices) {
        seen.text += delta.content ?? ''
        seen.finish = finish_reason ?? seen.finish
        for (const { index, id, function: made } of delta.tool_calls ?? []) {
          seen.calls[index] ??= { id, name: made.name, arguments: '' }
          seen.calls[index].arguments += made.arguments ?? ''
        }
      }
    }
    return seen
  },
}

const responses: Protocol = {
  path: '/responses',
  body: ({ said, maxTokens, tools, mustCall, schema }) => ({
    max_output_tokens: maxTokens,
    input: said.flatMap((one): Body[] => {
      if (one.by === 'tool') return [{ type: 'function_call_output', call_id: one.id, output: one.text }]
      if (one.by !== 'model') return [{ role: one.by, content: one.text }]
      const calls =
        one.calls?.map(({ id, ...made }) => ({ type: 'function_call', call_id: id, ...made })) ?? []
      // As SDKs send back what they were given.
      const content = [{ type: 'output_text', text: one.text, annotations: [] }]
      const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content }
      return one.text === '' ? calls : [item, ...calls]
    }),
    ...(tools === undefined
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function', strict: null, ...tool })) }),
    ...(mustCall === true ? { tool_choice: 'required' } : {}),
    ...(schema === undefined
      ? {}
      : { text: { format: { type: 'json_schema', name: 'said', schema, strict: true } } }),
  }),
  whole({ output, usage, status }) {
    const parts = (output as Body[]).flatMap(({ content = [] }) => content as Body[])
    return {
      text: parts.map(({ text = '' }) => text).join(''),
      calls: (output as Body[])
        .filter(({ type }) => type === 'function_call')
        .map((call) => ({ id: call['call_id'], name: call['name'], arguments: call['arguments'] })),
      finish: status,
      input: usage.input_tokens,
      output: usage.output_tokens,
    }
  },
  streamed(events) {
    const pieces = (type: string) =>
      events.flatMap((event) => (event['type'] === type ? [event['delta']] : [])).join('')
    const seen = responses.whole(events.at(-1)!['response'])
    const told = [pieces('response.output_text.delta'), pieces('response.function_call_arguments.delta')]
    const held = [seen.text, seen.calls.map((call) => call.arguments).join('')]
    if (told.join() !== held.join()) throw new Error(`the pieces say ${told}, the whole reply ${held}`)
    return seen
  },
}

const messages: Protocol = {
  path: '/messages',
  body: ({ said, maxTokens, tools, mustCall, schema }) => ({
    max_tokens: maxTokens,
    system: said.flatMap((one) => (one.by === 'system' ? [{ type: 'text', text: one.text }] : [])),
    messages: said.flatMap((one): Body[] => {
      if (one.by === 'system') return []
      if (one.by === 'user') return [{ role: 'user', content: one.text }]
      if (one.by === 'tool') {
        const result = { type: 'tool_result', tool_use_id: one.id, content: one.text }
        return [{ role: 'user', content: [result] }]
      }
      const text = one.text === '' ? [] : [{ type: 'text', text: one.text }]
      const calls = one.calls?.map(({ id, name, arguments: input }) => ({
        ...{ type: 'tool_use', id, name },
        input: JSON.parse(input) as unknown,
      }))
      return [{ role: 'assistant', content: [...text, ...(calls ?? [])] }]
    }),
    ...(tools === undefined
      ? {}
      : { tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })) }),
    ...(mustCall === true ? { tool_choice: { type: 'any' } } : {}),
    ...(schema === undefined ? {} : { output_config: { format: { type: 'json_schema', schema } } }),
  }),
  whole({ content, stop_reason, usage }) {
    return {
      text: (content as Body[]).map(({ text = '' }) => text).join(''),
      calls: (content as Body[])
        .filter(({ type }) => type === 'tool_use')
        .map((block) => ({
          id: block['id'],
          name: block['name'],
          arguments: JSON.stringify(block['input']),
        })),
      finish: stop_reason,
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0),
      output: usage.output_tokens,
    }
  },
  streamed(events) {
    const content: Body[] = []
    const reply: Body = { content, usage: {} }
    for (const event of events) {
      if (event['type'] === 'message_start') Object.assign(reply['usage'], event['message'].usage)
      if (event['type'] === 'content_block_start')
        content[event['index']] = { ...event['content_block'], json: '' }
      if (event['type'] === 'content_block_delta') {
        const block = content[event['index']]!
        if (event['delta'].type === 'text_delta') block['text'] += event['delta'].text
        else block['json'] += event['delta'].partial_json
      }
      if (event['type'] === 'message_delta') {
        reply['stop_reason'] = event['delta'].stop_reason
        Object.assign(reply['usage'], event['usage'])
      }
    }
    for (const block of content)
      if (block['type'] === 'tool_use') block['input'] = JSON.parse(block['json'] || '{}')
    return messages.whole(reply)
  },
}

const protocols: Readonly<Record<DialectName, Protocol>> = { chat, responses, messages }
export const dialects = ['chat', 'responses', 'messages'] as const satisfies readonly DialectName[]
