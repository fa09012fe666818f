import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../core/index.ts'
import { Recorder } from '../core/recorder.ts'
import { sidesOf } from './model-side.ts'

const facts = { model: 'm', atMs: 0, latencyMs: 1, waitMs: 0 }
const user = (content: string): Message => ({ role: 'user', content })
const say = (content: string) => ({ role: 'assistant' as const, content })

/** An attempt as the engine records one: the world's side first, then what the model was asked. */
function recordedOutside(ask: (model: Recorder) => void) {
  const world = new Recorder()
  world.append('agent', user('go'))
  world.append('agent', say('In the world.'))
  const model = new Recorder()
  ask(model)
  world.absorb(model.graph())
  return { nodes: world.nodes, calls: world.calls, leaves: { agent: world.leaf('agent') } }
}

describe('an agent outside', () => {
  const call = (model: Recorder, prompt: Message[], answer: string | undefined) =>
    model.call('agent', model.path('agent', prompt), answer === undefined ? undefined : say(answer), facts)

  test('has two sides: what was said in the world, and calls, each message in one of them', () => {
    const record = recordedOutside((model) => {
      call(model, [user('go')], 'draft')
      call(model, [user('title?')], 'Title')
      call(model, [user('go'), say('draft'), user('better')], 'In the world.')
      call(model, [user('go'), say('draft'), user('worse')], undefined)
    })
    const { conversation, asked } = sidesOf(record)
    const texts = (places: readonly number[]) => places.map((at) => record.nodes[at]?.message.content)
    expect(texts(conversation)).toEqual(['go', 'In the world.'])
    expect(asked.map(({ number, from, news }) => [number, from, texts(news)])).toEqual([
      [0, undefined, ['draft']],
      [1, undefined, ['title?', 'Title']],
      [2, 0, ['better', 'In the world.']],
      [3, 0, ['worse']],
    ])
  })

  test('whatever it asks, no message is shown twice and none is lost', () => {
    const prompts = fc.array(fc.array(fc.constantFrom('go', 'a', 'b'), { maxLength: 4 }), { maxLength: 6 })
    fc.assert(
      fc.property(prompts, (all) => {
        const record = recordedOutside((model) => {
          for (const texts of all) call(model, texts.map(user), texts.length === 3 ? undefined : 'ok')
        })
        const { conversation, asked } = sidesOf(record)
        const shown = [...conversation, ...asked.flatMap(({ news }) => news)]
        expect(shown.sort((a, b) => a - b)).toEqual([...record.nodes.keys()])
      }),
    )
  })
})

test('an agent beside its world has one side, edited histories and calls that failed among it', () => {
  const recorder = new Recorder()
  const first = recorder.path('agent', [user('go')])
  recorder.call('agent', first, say('one'), facts)
  recorder.path('agent', [user('go, shorter')])
  recorder.call('agent', recorder.leaf('agent'), say('two'), facts)
  recorder.call('agent', recorder.path('agent', [user('go'), say('one')]), undefined, facts)
  const leaf = recorder.leaf('agent')
  for (const leaves of [undefined, { agent: leaf }])
    expect(
      sidesOf({ nodes: recorder.nodes, calls: recorder.calls, ...(leaves === undefined ? {} : { leaves }) }),
    ).toEqual({
      conversation: [...recorder.nodes.keys()],
      asked: [],
      outside: new Set(),
    })
})
