import {
  createRng,
  type HarnessContext,
  type Message,
  type ModelAddress,
  type ModelRequest,
  type ModelResponse,
  QuintainError,
  type ToolMessage,
  type Turn,
} from '../../core/index.ts'

/** What a harness did to its context. */
export interface Done {
  sent: ModelRequest[]
  said: unknown[]
  ran: { name: string; arguments: string }[]
  recorded: Message[][]
  flagged: string[]
}

export interface FakeOptions {
  /** Replies of the model in a row, the last one for ever; one that throws is thrown. */
  replies?: (Partial<ModelResponse> | Error)[]
  reply?: (content: unknown, nth: number) => Turn
  /** Calls of tool `end` end the episode, calls of `bad` fail, others answer with their arguments. */
  tools?: boolean
  turns?: number
  endpoints?: Record<string, string>
  address?: () => Promise<ModelAddress>
  messages?: Message[]
  signal?: AbortSignal
  box?: NonNullable<HarnessContext['box']>
}

/** A context without an engine, and what came of it. */
export function fakeContext(options: FakeOptions = {}): { context: HarnessContext; done: Done } {
  const done: Done = { sent: [], said: [], ran: [], recorded: [], flagged: [] }
  const replies = options.replies ?? [{ message: { role: 'assistant', content: 'hello' } }]
  let turns = 0
  let last: ModelResponse['message'] | undefined
  const context: HarnessContext = {
    task: { id: 'task-1', split: 'test', data: { level: 1 } },
    seat: 'agent',
    messages: options.messages ?? [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
    ],
    tools: {
      specs: options.tools
        ? [
            {
              name: 'act',
              description: 'Acts.',
              parameters: { type: 'object', properties: { n: { type: 'number' } } },
            },
            { name: 'end', description: 'Ends.', parameters: { type: 'object', properties: {} } },
          ]
        : [],
      async run(calls) {
        const messages: ToolMessage[] = calls.map(({ id, name, arguments: text }) => {
          done.ran.push({ name, arguments: text })
          const error = name === 'act' || name === 'end' ? {} : { error: 'unknown_tool' }
          return { role: 'tool', toolCallId: id, name, content: `${name} ${text}`, ...error }
        })
        const ended = calls.some(({ name }) => name === 'end') ? { done: 'sold' } : {}
        return { messages, executed: calls.length, truncated: false, ...ended }
      },
    },
    model: {
      id: 'script:test',
      get turns() {
        return turns
      },
      lastReply: () => last,
      address:
        options.address ?? (() => Promise.reject(new QuintainError('needs_unmet', 'there is no model'))),
      async generate(request, own) {
        const reply = replies[Math.min(done.sent.length, replies.length - 1)]!
        done.sent.push({ ...request, messages: [...request.messages] })
        if (reply instanceof Error) throw reply
        own?.signal?.throwIfAborted()
        const message = reply.message ?? { role: 'assistant' as const, content: '' }
        if (typeof message.content === 'string')
          for (const text of message.content.match(/.{1,2}/gs) ?? [])
            await own?.onDelta?.({ type: 'text', text })
        turns++
        last = message
        return { finish: 'stop', ...reply, message }
      },
      record(messages) {
        turns++
        done.recorded.push([...messages])
      },
    },
    ...(options.reply === undefined
      ? {}
      : { reply: async (content: unknown) => options.reply!(content, done.said.push(content) - 1) }),
    endpoints: options.endpoints ?? {},
    limits: options.turns === undefined ? {} : { turns: options.turns },
    ...(options.box === undefined ? {} : { box: options.box }),
    flag: (name) => void done.flagged.push(name),
    signal: options.signal ?? new AbortController().signal,
    rng: createRng('harness'),
  }
  return { context, done }
}

/** A reply with all that a reply can have. */
export const calling = {
  message: {
    role: 'assistant',
    content: 'I look.',
    reasoning: 'hm',
    toolCalls: [{ id: 'c1', name: 'act', arguments: '{"n": 1}' }],
    extra: { signature: 'x' },
  },
  finish: 'tool_calls',
  finishRaw: 'tool_use',
  usage: { fresh: 3, cacheRead: 2, cacheWrite: 1, output: 5, reasoning: 2 },
  responseId: 'r1',
  model: 'm-1',
} satisfies Partial<ModelResponse>
