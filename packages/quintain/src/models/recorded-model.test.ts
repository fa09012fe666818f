import { describe, expect, test } from 'vitest'
import { type AssistantMessage, type Message, textOf } from '../core/message.ts'
import { createRecordedModel } from './recorded-model.ts'
import { promptKey } from './recorded-rollout.ts'

const context = { signal: new AbortController().signal, task: 't', repeat: 0 }

describe('createRecordedModel', () => {
  test('says the replies in order, then ends', async () => {
    const replies = [
      { role: 'assistant' as const, content: 'a' },
      { role: 'assistant' as const, content: '', toolCalls: [{ id: '1', name: 'x', arguments: '{}' }] },
    ]
    const model = createRecordedModel({ id: 'recorded:x', replies })
    const said = []
    for (let i = 0; i < 3; i++) said.push(await model.generate({ messages: [] }, context))
    expect(said.map(({ finish, ended }) => [finish, ended])).toEqual([
      ['stop', undefined],
      ['tool_calls', undefined],
      ['stop', true],
    ])
    expect(said[1]!.message).toEqual(replies[1])
  })

  test('ends as it was cut', async () => {
    const model = createRecordedModel({ id: 'recorded:x', replies: [], cut: 'turn_limit' })
    expect(await model.generate({ messages: [] }, context)).toMatchObject({
      ended: true,
      endedAs: 'turn_limit',
    })
  })

  test('without a recording is a fault that names the task', async () => {
    const model = createRecordedModel({ id: 'recorded:x', replies: undefined })
    await expect(model.generate({ messages: [] }, context)).rejects.toMatchObject({
      fault: {
        owner: 'platform',
        code: 'not_recorded',
        retryable: false,
        message: 'recorded:x has no recording of task t, repeat 0.',
      },
    })
  })
})

describe('behind an agent', () => {
  const say = (content: string): AssistantMessage => ({ role: 'assistant', content })
  const user = (content: string): Message => ({ role: 'user', content })
  const recorded = (...calls: [string, string][]) =>
    createRecordedModel({
      id: 'recorded:x',
      replies: [say('said in the world')],
      calls: calls.map(([asked, answer]) => ({ prompt: promptKey([user(asked)]), message: say(answer) })),
    })
  const ask = async (model: ReturnType<typeof recorded>, asked: string) => {
    const { message, ended } = await model.generate({ messages: [user(asked)] }, context)
    return ended === true ? undefined : textOf(message.content)
  }

  test('each call gets the reply of its prompt, whichever comes first', async () => {
    const model = recorded(['work', 'done'], ['title?', 'a title'])
    expect([await ask(model, 'title?'), await ask(model, 'work')]).toEqual(['a title', 'done'])
    expect(await ask(model, 'work')).toBeUndefined()
  })

  test('a prompt that was asked twice gets both replies, in their order', async () => {
    const model = recorded(['roll', 'one'], ['other', 'x'], ['roll', 'two'])
    expect([await ask(model, 'roll'), await ask(model, 'roll')]).toEqual(['one', 'two'])
  })

  test('a prompt that was not recorded gets the first reply that is left', async () => {
    const model = recorded(['at ten', 'first'], ['title?', 'a title'], ['at eleven', 'second'])
    expect([
      await ask(model, 'title?'),
      await ask(model, 'at noon'),
      await ask(model, 'at one'),
      await ask(model, 'at two'),
    ]).toEqual(['a title', 'first', 'second', undefined])
  })

  test('a call that failed fails again, unless it was answered later; one that nobody waited for is answered with nothing', async () => {
    const fault = {
      owner: 'provider' as const,
      stage: 'model',
      code: 'context_overflow',
      message: 'too long',
      retryable: false,
    }
    const key = (asked: string) => promptKey([user(asked)])
    const model = createRecordedModel({
      id: 'recorded:x',
      replies: [],
      calls: [
        { prompt: key('all of it'), fault },
        { prompt: key('again'), fault },
        { prompt: key('left') },
        { prompt: key('again'), message: say('yes') },
        { prompt: key('short'), message: say('done') },
      ],
    })
    await expect(ask(model, 'all of it')).rejects.toMatchObject({ outcome: 'context_overflow', fault })
    expect([await ask(model, 'left'), await ask(model, 'again'), await ask(model, 'short')]).toEqual([
      '',
      'yes',
      'done',
    ])
  })

  test('where no call was recorded, what was said is said again', async () => {
    expect(await ask(recorded(), 'go')).toBe('said in the world')
  })
})
