import { describe, expect, test } from 'vitest'
import {
  createRng,
  type Harness,
  type HarnessContext,
  type HarnessResult,
  type Message,
  type ModelRequest,
  type ModelResponse,
  type ToolMessage,
  type Turn,
} from '../core/index.ts'
import { type AgentFunction, agentFunction, chat, toolLoop } from './index.ts'

type Reply = string | Partial<ModelResponse>
const say = (content: string): ModelResponse['message'] => ({ role: 'assistant', content })
const calling = (...names: string[]): Partial<ModelResponse> => ({
  message: {
    role: 'assistant',
    content: '',
    toolCalls: names.map((name, at) => ({ id: `call_${at}`, name, arguments: '{}' })),
  },
  finish: 'tool_calls',
})
const cut = { message: say('and then'), finish: 'length' as const }

/** Plays a harness against replies in a row, the last one for ever; what it sent, handed over and ran is kept. */
async function play(
  harness: Harness,
  replies: Reply[],
  options: { reply?: (content: unknown, nth: number) => Turn; turns?: number } = {},
): Promise<HarnessResult & { sent: ModelRequest[]; said: unknown[]; ran: string[]; recorded: Message[][] }> {
  const sent: ModelRequest[] = []
  const said: unknown[] = []
  const ran: string[] = []
  const recorded: Message[][] = []
  const context: HarnessContext = {
    task: { id: 'task', split: 'test', data: undefined },
    seat: 'agent',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
    ],
    tools: {
      specs: [{ name: 'act', description: 'Acts.', parameters: {} }],
      async run(calls, { truncated }) {
        const messages: ToolMessage[] = calls.map(({ id, name }) => {
          if (!truncated) ran.push(name)
          const error = truncated ? 'truncated' : name === 'bad' ? 'unknown_tool' : undefined
          return { role: 'tool', toolCallId: id, name, content: name, ...(error ? { error } : {}) }
        })
        const done = calls.some(({ name }) => name === 'end') && !truncated ? { done: 'sold' } : {}
        return { messages, executed: truncated ? 0 : calls.length, truncated, ...done }
      },
    },
    model: {
      id: 'script:test',
      turns: 0,
      address: () => Promise.reject(new Error('no gateway here')),
      async generate(request) {
        const reply = replies[Math.min(sent.length, replies.length - 1)]!
        sent.push({ ...request, messages: [...request.messages] })
        const partial = typeof reply === 'string' ? { message: say(reply) } : reply
        return { finish: 'stop', ...partial, message: partial.message ?? say('') }
      },
      record: (messages) => void recorded.push([...messages]),
    },
    ...(options.reply === undefined
      ? {}
      : { reply: async (content: unknown) => options.reply!(content, said.push(content) - 1) }),
    endpoints: {},
    limits: options.turns === undefined ? {} : { turns: options.turns },
    signal: new AbortController().signal,
    rng: createRng('harness'),
  }
  return { ...(await harness.run(context)), sent, said, ran, recorded }
}

const goOn =
  (last: number) =>
  (_content: unknown, nth: number): Turn =>
    nth === last ? { content: 'yes', done: 'won' } : { content: `no ${nth}` }

describe('chat', () => {
  test('asks once where the world gives no turns', async () => {
    const end = await play(chat(), ['hello'])
    expect(end).toMatchObject({ outcome: 'completed' })
    expect(end.sent).toHaveLength(1)
  })

  test('hands each reply to the world, and its answer to the model', async () => {
    const end = await play(chat(), ['a', 'b', 'c'], { reply: goOn(2) })
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'won', said: ['a', 'b', 'c'] })
    expect(end.sent[2]!.messages.map(({ content }) => content)).toEqual([
      'Be brief.',
      'go',
      'a',
      'no 0',
      'b',
      'no 1',
    ])
  })

  test('ends as truncated at a single cut answer, and after three in a row', async () => {
    expect(await play(chat(), [cut])).toMatchObject({ outcome: 'truncated' })
    const end = await play(chat(), [cut], { reply: goOn(99) })
    expect(end).toMatchObject({ outcome: 'truncated' })
    expect(end.sent).toHaveLength(3)
    const broken = await play(chat(), [cut, cut, 'whole', cut, cut, 'whole'], { reply: goOn(5) })
    expect(broken).toMatchObject({ outcome: 'env_done' })
  })

  test('ends as refused, whoever refuses', async () => {
    for (const finish of ['refusal', 'content_filter'] as const) {
      expect(await play(chat(), [{ message: say('no'), finish }], { reply: goOn(9) })).toMatchObject({
        outcome: 'refused',
        said: [],
      })
    }
  })

  test('ends when a script has nothing more to do, and says its last words first', async () => {
    expect(await play(chat(), [{ ended: true }], { reply: goOn(9) })).toMatchObject({
      outcome: 'completed',
      said: [],
    })
    for (const harness of [chat(), toolLoop()]) {
      expect(
        await play(harness, ['a', { ended: true, endedAs: 'turn_limit' }], { reply: goOn(9) }),
      ).toMatchObject({ outcome: 'turn_limit', stop: 'as_recorded', said: ['a'] })
    }
    const last = await play(chat(), ['a', { message: say('bye'), ended: true }], { reply: goOn(9) })
    expect(last).toMatchObject({ outcome: 'completed', said: ['a', 'bye'] })
  })

  test('lets an agent say that the task is broken, when that is allowed', async () => {
    const escalates = 'ESCALATE: there is no word'
    const allowed = await play(chat({ escalate: true }), [escalates], { reply: goOn(0) })
    expect(allowed).toMatchObject({ outcome: 'escalated', stop: 'there is no word', said: [] })
    expect(String(allowed.sent[0]!.messages[0]!.content)).toContain('ESCALATE')
    const not = await play(chat(), [escalates], { reply: goOn(0) })
    expect(not).toMatchObject({ outcome: 'env_done' })
  })
})

describe('toolLoop', () => {
  test('runs tools until the model answers without one', async () => {
    const end = await play(toolLoop(), [calling('act'), calling('act', 'act'), 'done'])
    expect(end).toMatchObject({ outcome: 'completed', ran: ['act', 'act', 'act'] })
    expect(end.sent[2]!.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'tool',
    ])
  })

  test('hands an answer to the world where that gives turns', async () => {
    const end = await play(toolLoop(), [calling('act'), 'a', 'b'], { reply: goOn(1) })
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'won', said: ['a', 'b'] })
  })

  test('ends when a tool ends the episode', async () => {
    expect(await play(toolLoop(), [calling('end')])).toMatchObject({ outcome: 'env_done', stop: 'sold' })
  })

  test('runs no call of a cut reply, and ends after three in a row', async () => {
    const cutCall = { ...calling('act'), finish: 'length' as const }
    const end = await play(toolLoop(), [cutCall])
    expect(end).toMatchObject({ outcome: 'truncated', ran: [] })
    expect(end.sent).toHaveLength(3)
    const recovers = await play(toolLoop(), [cutCall, cutCall, calling('act'), cutCall, cutCall, 'done'])
    expect(recovers).toMatchObject({ outcome: 'completed', ran: ['act'] })
  })

  test('ends after ten replies in a row whose every call failed', async () => {
    const end = await play(toolLoop(), [calling('bad')])
    expect(end).toMatchObject({ outcome: 'agent_error', stop: 'too_many_tool_errors' })
    expect(end.sent).toHaveLength(10)
    const three = await play(toolLoop({ mostToolErrors: 3 }), [calling('bad', 'bad')])
    expect(three.sent).toHaveLength(3)
    const mixed = await play(toolLoop({ mostToolErrors: 2 }), [
      calling('bad'),
      calling('bad', 'act'),
      calling('bad'),
      'done',
    ])
    expect(mixed).toMatchObject({ outcome: 'completed' })
  })

  test('offers escalation as a tool, when that is allowed', async () => {
    const escalates: Reply = {
      message: {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: 'a', name: 'act', arguments: '{}' },
          { id: 'b', name: 'escalate', arguments: '{"reason":"no such file"}' },
        ],
      },
    }
    const allowed = await play(toolLoop({ escalate: true }), [escalates])
    expect(allowed).toMatchObject({ outcome: 'escalated', stop: 'no such file', ran: [] })
    expect(allowed.sent[0]!.tools!.map(({ name }) => name)).toEqual(['act', 'escalate'])
    expect(await play(toolLoop({ escalate: true }), [calling('escalate')])).toMatchObject({
      outcome: 'escalated',
    })
    expect((await play(toolLoop(), ['done'])).sent[0]!.tools!.map(({ name }) => name)).toEqual(['act'])
  })

  test('ends as refused', async () => {
    expect(await play(toolLoop(), [{ ...calling('act'), finish: 'content_filter' }])).toMatchObject({
      outcome: 'refused',
      ran: [],
    })
  })
})

describe('agentFunction', () => {
  const playing = (agent: AgentFunction, options?: Parameters<typeof play>[2]) =>
    play(agentFunction(agent), [], options)

  test('is asked once per turn, with what was said', async () => {
    const inputs: string[] = []
    const end = await playing(
      ({ input, messages, task }) => `${inputs.push(input)} ${messages.length} ${task.id}`,
      {
        reply: goOn(1),
      },
    )
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'won', said: ['1 2 task', '2 4 task'] })
    expect(inputs).toEqual(['go', 'no 0'])
    expect(end.recorded.map((messages) => messages.length)).toEqual([3, 5])
  })

  test('gets what tools say, and failures as text', async () => {
    const end = await playing(async ({ call, tools }) =>
      [tools[0]!.name, await call('act', { a: 1 }), await call('bad')].join(', '),
    )
    expect(end).toMatchObject({ outcome: 'completed', ran: ['act', 'bad'] })
    expect(end.recorded[0]!.at(-1)!.content).toBe('act, act, error: unknown_tool: bad')
  })

  test('is told when a tool has ended the episode, and runs none after it', async () => {
    const heard: string[] = []
    const end = await playing(async ({ call }) => {
      await call('end')
      heard.push(await call('act'))
      return 'done'
    })
    expect(end).toMatchObject({ outcome: 'env_done', stop: 'sold', ran: ['end'] })
    expect(heard[0]).toMatch(/^error: episode_over/)
  })

  test('is not asked beyond its turns', async () => {
    let asked = 0
    const end = await playing(() => `${++asked}`, { reply: goOn(99), turns: 2 })
    expect([end.outcome, asked]).toEqual(['turn_limit', 2])
  })

  test.for([[undefined], [null], [5], [{ text: 'x' }]])(
    'that answers %j is told to answer with text',
    async ([answer]) => {
      await expect(playing((() => answer) as never)).rejects.toThrow('an agent function returns text')
    },
  )

  test('fails as it fails', async () => {
    const boom = new Error('boom')
    await expect(playing(() => Promise.reject(boom))).rejects.toBe(boom)
  })
})
