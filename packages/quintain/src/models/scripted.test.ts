import { describe, expect, test } from 'vitest'
import type { Action, Observation } from '../core/environment.ts'
import type { Message } from '../core/message.ts'
import { ModelFault, type ModelRequest } from '../core/model.ts'
import { createRng } from '../core/rng.ts'
import { createScriptModel, noop, randomCalls, randomCallsMost } from './scripted.ts'

const context = { signal: new AbortController().signal }
const user = (content: string): Message => ({ role: 'user', content })
const ask = (...messages: Message[]): ModelRequest => ({ messages })

function actionsOf(script: Generator<Action, Action | void, Observation>): Action[] {
  const actions: Action[] = []
  const nothing: Observation = { text: '', messages: [], results: [] }
  for (let step = script.next(nothing); !step.done; step = script.next(nothing)) actions.push(step.value)
  return actions
}

describe('createScriptModel', () => {
  test('a script sees what is new, and its actions become replies', async () => {
    const seen: string[] = []
    const model = createScriptModel({
      id: 'script:x',
      *start({ observation }): Generator<Action, Action | void, Observation> {
        seen.push(observation.text)
        const next = yield 'first'
        seen.push(next.text)
        const after = yield [{ tool: 'look' }, { tool: 'go', arguments: { to: 'north' } }]
        seen.push(after.results.map((result) => result.content).join('|'))
        return 'bye'
      },
    })
    const messages: Message[] = [{ role: 'system', content: 'rules' }, user('hello'), user('there')]
    const first = await model.generate({ messages }, context)
    expect(first).toMatchObject({ message: { content: 'first' }, finish: 'stop', costUsd: 0 })
    messages.push(first.message, user('go on'))
    const second = await model.generate({ messages }, context)
    const calls = second.message.toolCalls!
    expect(calls.map(({ name, arguments: text }) => [name, text])).toEqual([
      ['look', '{}'],
      ['go', '{"to":"north"}'],
    ])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    expect(second.finish).toBe('tool_calls')
    messages.push(second.message)
    for (const { id } of calls) messages.push({ role: 'tool', toolCallId: id, content: `result of ${id}` })
    const third = await model.generate({ messages }, context)
    expect(third).toMatchObject({ message: { content: 'bye' }, ended: true })
    expect(seen).toEqual(['hello\nthere', 'go on', calls.map(({ id }) => `result of ${id}`).join('|')])
    expect(await model.generate({ messages }, context)).toMatchObject({
      message: { content: '' },
      ended: true,
    })
  })

  test('an async script works, and a cancelled call does not wait for it', async () => {
    const model = createScriptModel({
      id: 'script:slow',
      async *start() {
        yield 'quick'
        await new Promise(() => {})
      },
    })
    expect((await model.generate(ask(user('a')), context)).message.content).toBe('quick')
    const stop = new AbortController()
    const waiting = model.generate(ask(user('b')), { signal: stop.signal })
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ fault: { code: 'cancelled' } })
  })

  test.each([
    ['agent', 'platform'],
    ['user', 'simulator'],
  ])('a script that throws in seat %s is a fault of the %s', async (seat, owner) => {
    const model = createScriptModel({
      id: 'script:bad',
      seat,
      // biome-ignore lint/correctness/useYield: it throws before it could.
      *start() {
        throw new Error('no such word')
      },
    })
    const error = await model.generate(ask(user('a')), context).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ModelFault)
    expect((error as ModelFault).fault).toEqual({
      owner,
      stage: 'model',
      code: 'script_threw',
      message: 'script:bad: no such word',
      retryable: false,
    })
  })

  test.each([
    ['look', ['look', 'mcp__hut__look'], 'look'],
    ['look', ['mcp__hut__go', 'mcp__hut__look'], 'mcp__hut__look'],
    ['look', ['hut.look'], 'hut.look'],
    // What only ends alike is another tool, and of two that could be meant neither is.
    ['look', ['overlook', 'out_look'], 'look'],
    ['look', ['a__look', 'b__look'], 'look'],
    ['look', [], 'look'],
  ])('calls %j of the offered %j as %j', async (tool, offered, called) => {
    const model = createScriptModel({
      id: 'script:x',
      *start() {
        yield { tool }
      },
    })
    const tools = offered.map((name) => ({ name, description: '', parameters: {} }))
    const { message } = await model.generate({ messages: [user('go')], tools }, context)
    expect(message.toolCalls).toMatchObject([{ name: called }])
  })

  test('an action of the wrong shape is a fault that says what is right', async () => {
    const model = createScriptModel({
      id: 'script:odd',
      *start() {
        yield 5 as unknown as string
      },
    })
    await expect(model.generate(ask(user('a')), context)).rejects.toMatchObject({
      fault: { code: 'script_bad_action', message: expect.stringContaining('yields text') },
    })
  })
})

test('noop says one empty message and ends', async () => {
  const model = createScriptModel({ id: 'script:noop', start: noop })
  const first = await model.generate(ask(user('a')), context)
  expect(first.message).toEqual({ role: 'assistant', content: '' })
  expect(first.ended).toBeUndefined()
  expect((await model.generate(ask(user('a'), first.message), context)).ended).toBe(true)
})

describe('randomCalls', () => {
  const tools = [
    {
      name: 'bid',
      parameters: { type: 'object', properties: { price: { enum: [1, 2] } }, required: ['price'] },
    },
  ]

  test('draws legal calls, the same for the same seed, and ends', () => {
    const play = (seed: string): unknown[] => actionsOf(randomCalls({ rng: createRng(seed), tools }))
    expect(play('a')).toEqual(play('a'))
    expect(play('a')).not.toEqual(play('b'))
    expect(play('a')).toHaveLength(randomCallsMost)
    for (const action of play('a'))
      expect(action).toMatchObject({ tool: 'bid', arguments: { price: expect.toBeOneOf([1, 2]) } })
  })

  test('has nothing to do without tools', () => {
    expect(actionsOf(randomCalls({ rng: createRng(1), tools: [] }))).toEqual([])
  })
})
