import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AssistantMessage, Message } from '../core/message.ts'
import { Recorder } from '../core/recorder.ts'
import { promptKey, rolloutOf } from './recorded-rollout.ts'

const say = (content: string): AssistantMessage => ({ role: 'assistant', content })
const fault = {
  owner: 'provider' as const,
  stage: 'model',
  code: 'http_500',
  message: 'down',
  retryable: true,
}
const facts = { model: 'm', atMs: 0, latencyMs: 1, waitMs: 0 }
const record = ({ nodes, calls }: Recorder, leaves?: Record<string, number>) =>
  rolloutOf({
    schema: 'quintain.trajectory',
    v: 1,
    attempt: 'a',
    order: 't#0',
    task: 't',
    seats: {},
    nodes,
    calls,
    ...(leaves === undefined ? {} : { leaves }),
  })

test('of an agent outside: what it said in the world, and each call that was answered with its prompt', () => {
  const recorder = new Recorder()
  recorder.append('agent', { role: 'user', content: 'go' })
  recorder.append('agent', say('In the world.'))
  const leaf = recorder.leaf('agent')
  const history: Message[] = [{ role: 'user', content: 'go' }]
  recorder.call('agent', recorder.path('agent', history), say('draft'), facts)
  const asked = recorder.path('agent', [{ role: 'user', content: 'title?' }])
  recorder.call('agent', asked, undefined, { ...facts, fault })
  recorder.call('agent', recorder.path('agent', [{ role: 'user', content: 'title?' }]), say('Title'), facts)
  history.push(say('draft'), { role: 'user', content: 'better' })
  recorder.call('agent', recorder.path('agent', history), say('In the world.'), facts)
  const { replies, calls } = record(recorder, { agent: leaf })
  expect(replies).toEqual([say('In the world.')])
  expect(calls).toEqual([
    { prompt: promptKey([{ role: 'user', content: 'go' }]), message: say('draft') },
    { prompt: promptKey([{ role: 'user', content: 'title?' }]), fault },
    { prompt: promptKey([{ role: 'user', content: 'title?' }]), message: say('Title') },
    { prompt: promptKey(history), message: say('In the world.') },
  ])
})

test('of any other agent: what its model said', () => {
  const recorder = new Recorder()
  const prompt = recorder.path('agent', [
    { role: 'user', content: 'go' },
    say('few-shot'),
    { role: 'user', content: 'now' },
  ])
  recorder.call('agent', prompt, say('yes'), facts)
  expect(record(recorder).replies).toEqual([say('yes')])
})

test('a history that a program writes in its own way has the same key, and another one another', () => {
  const call = (given: string) => [{ id: 'c', name: 'f', arguments: given }]
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.jsonValue()), (text, given) => {
      const held = { ...say(text), reasoning: 'hm', toolCalls: call(JSON.stringify(given)) }
      const sent = {
        ...say(''),
        content: [{ type: 'text' as const, text }],
        toolCalls: call(JSON.stringify(given, null, 2)),
      }
      expect(promptKey([sent])).toBe(promptKey([held]))
      expect(promptKey([{ ...sent, content: `${text}.` }])).not.toBe(promptKey([held]))
      expect(promptKey([{ ...sent, toolCalls: [] }])).not.toBe(promptKey([held]))
      expect(promptKey([held, held])).not.toBe(promptKey([held]))
    }),
  )
})
