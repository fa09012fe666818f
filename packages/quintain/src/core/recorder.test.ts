import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AssistantMessage, Content, Message } from './message.ts'
import { Recorder } from './recorder.ts'

const user = (content: Content): Message => ({ role: 'user', content })
const says = (content: string, rest: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  content,
  ...rest,
})
const facts = { model: 'm', atMs: 0, latencyMs: 0, waitMs: 0 }

/** Records a call and gives the node of its prompt. */
function call(recorder: Recorder, messages: readonly Message[], output: AssistantMessage): number {
  const prompt = recorder.path('agent', messages)
  recorder.call('agent', prompt, output, facts)
  return prompt
}

function pathTo(recorder: Recorder, leaf: number): Message[] {
  const found: Message[] = []
  for (let at = leaf; at >= 0; at = recorder.nodes[at]!.parent) found.unshift(recorder.nodes[at]!.message)
  return found
}

describe('what was sampled is known when it comes back', () => {
  const sampled = says('Looking.', {
    reasoning: 'The shop opens at nine.',
    toolCalls: [{ id: 'c1', name: 'look', arguments: '{"at": "hat", "deep": {"n": [1, 2]}}' }],
    extra: { annotations: [] },
  })
  const echo = (change: Partial<AssistantMessage>): Message => {
    const { extra: _, ...rest } = sampled
    return { ...rest, ...change }
  }
  const calls = (change: object) => ({ toolCalls: [{ ...sampled.toolCalls![0]!, ...change }] })
  const known = (sent: Message): boolean => {
    const recorder = new Recorder()
    call(recorder, [user('go')], sampled)
    call(recorder, [user('go'), sent, user('on')], says('done'))
    expect(recorder.nodes[1]!.message).toEqual(sampled)
    return recorder.nodes.length === 4
  }

  test.each<[string, Message]>([
    ['as it was', sampled],
    ['without what the program does not know', echo({})],
    ['with arguments written anew', echo(calls({ arguments: '{"deep":{"n":[1,2]},"at":"hat"}' }))],
    ['with its text as a part', echo({ content: [{ type: 'text', text: 'Looking.' }] })],
    [
      'with its text in two parts',
      echo({
        content: [
          { type: 'text', text: 'Look' },
          { type: 'text', text: 'ing.' },
        ],
      }),
    ],
    ['with fields of the program', echo({ extra: { cached: true } })],
    ['without its reasoning', { role: 'assistant', content: 'Looking.', toolCalls: sampled.toolCalls! }],
  ])('%s', (_, sent) => expect(known(sent)).toBe(true))

  test.each<[string, Message]>([
    ['another text', echo({ content: 'Looked.' })],
    ['other reasoning', echo({ reasoning: 'It opens at ten.' })],
    ['another id', echo(calls({ id: 'c2' }))],
    ['another tool', echo(calls({ name: 'take' }))],
    ['other arguments', echo(calls({ arguments: '{"at": "cap", "deep": {"n": [1, 2]}}' }))],
    ['arguments that are no JSON', echo(calls({ arguments: '{"at": "hat"' }))],
    ['a call less', echo({ toolCalls: [] })],
    ['another role', user('Looking.')],
  ])('and not mistaken for %s', (_, sent) => expect(known(sent)).toBe(false))

  test.each<[AssistantMessage, AssistantMessage]>([
    [says('', { refusal: 'No.' }), says('')],
    [says(''), { role: 'assistant', content: [] }],
    [
      says('', { toolCalls: [{ id: 'c', name: 'now', arguments: '' }] }),
      says('', { toolCalls: [{ id: 'c', name: 'now', arguments: '{}' }] }),
    ],
    [
      says('', { toolCalls: [{ id: 'c', name: 'now', arguments: '{"cut' }] }),
      says('', { toolCalls: [{ id: 'c', name: 'now', arguments: '{"cut' }] }),
    ],
  ])('where there is little to know it by: %j', (given, sent) => {
    const recorder = new Recorder()
    call(recorder, [user('go')], given)
    call(recorder, [user('go'), sent, user('on')], says('done'))
    expect(recorder.nodes).toHaveLength(4)
  })

  test('and arguments that nest without end are compared as text, not walked', () => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const recorder = new Recorder()
    call(recorder, [user('go')], says('', { toolCalls: [{ id: 'c', name: 'f', arguments: deep }] }))
    const sent = says('', { toolCalls: [{ id: 'c', name: 'f', arguments: ` ${deep}` }] })
    call(recorder, [user('go'), sent, user('on')], says('done'))
    expect(recorder.nodes).toHaveLength(5)
  })
})

test('of equal samples of a prompt the last is the one that came back, and later messages stay with it', () => {
  const recorder = new Recorder()
  call(recorder, [user('go')], says('same'))
  call(recorder, [user('go')], says('same'))
  call(recorder, [user('go'), says('same'), user('on')], says('more'))
  call(recorder, [user('go')], says('same'))
  call(recorder, [user('go'), says('same'), user('on'), says('more'), user('end')], says('done'))
  // go, then three samples; what follows hangs on the second, which was the last when it came.
  expect(recorder.nodes.map(({ parent }) => parent)).toEqual([-1, 0, 0, 2, 3, 0, 4, 6])
})

test('messages that nobody sampled are one where they say the same, and parts stay what they are', () => {
  const recorder = new Recorder()
  call(recorder, [user('go')], says('a'))
  call(recorder, [user([{ type: 'text', text: 'go' }])], says('b'))
  call(
    recorder,
    [
      user([
        { type: 'text', text: 'g' },
        { type: 'text', text: 'o' },
      ]),
    ],
    says('c'),
  )
  call(recorder, [{ role: 'user', content: 'go', name: 'Ann' }], says('d'))
  call(recorder, [says('go')], says('e'))
  call(recorder, [says('go', { reasoning: 'why' })], says('f'))
  expect(recorder.calls.map(({ prompt }) => prompt)).toEqual([0, 0, 3, 5, 7, 9])
})

test('a set of tools is stored once, and each call says which it had', () => {
  const recorder = new Recorder()
  const tool = (name: string) => ({ name, description: '', parameters: { type: 'object' } })
  const told = (tools: ReturnType<typeof tool>[] | undefined) =>
    recorder.call('agent', recorder.path('agent', [user('go')]), says('x'), {
      ...facts,
      ...(tools === undefined ? {} : { tools }),
    })
  for (const tools of [[tool('a')], undefined, [tool('a'), tool('b')], [tool('a')], []]) told(tools)
  expect(recorder.calls.map(({ tools }) => tools)).toEqual([0, undefined, 1, 0, 2])
  const whole = new Recorder()
  whole.call('agent', -1, says('x'), { ...facts, tools: [] })
  whole.absorb(structuredClone(recorder.graph()))
  expect(whole.calls.map(({ tools }) => tools)).toEqual([0, 1, undefined, 2, 1, 0])
  expect(whole.toolSets).toEqual([[], [tool('a')], [tool('a'), tool('b')]])
})

describe('any sequence of calls', () => {
  /** What a program does with a history that it holds before it asks again. */
  const step = fc.record({
    history: fc.nat(),
    does: fc.constantFrom('extend', 'edit', 'compact', 'retry', 'start'),
    at: fc.nat(),
    word: fc.constantFrom('a', 'b', 'c'),
    reasoning: fc.boolean(),
  })
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

  const mangle = (message: Message): Message =>
    message.role === 'assistant'
      ? {
          role: 'assistant',
          content: [{ type: 'text', text: String(message.content) }],
          toolCalls: (message.toolCalls ?? []).map((one) => ({
            ...one,
            arguments: JSON.stringify(JSON.parse(one.arguments), null, 1),
          })),
        }
      : { ...message }

  function next(held: readonly Message[], { does, at, word }: Step): Message[] {
    switch (does) {
      case 'extend':
        return [...held, user(word)]
      case 'edit': {
        const place = at % Math.max(1, held.length)
        return held.map((message, nth) => (nth === place ? user(`edited ${word}`) : message))
      }
      case 'compact':
        return [...held.slice(0, 1), user(`summary of ${held.length}`)]
      case 'retry':
        return [...held]
      case 'start':
        return [user(word)]
    }
  }

  /** What tells messages apart, worked out without the code under test. */
  const keyOf = (message: Message): string =>
    message.role === 'assistant'
      ? `assistant ${typeof message.content === 'string' ? message.content : message.content.map((part) => (part.type === 'text' ? part.text : '')).join('')}`
      : JSON.stringify(message)

  test('gives a graph whose paths are the histories that were sent, each message once in its place', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), fc.nat(25), (steps, restart) => {
        const recorder = new Recorder()
        const histories: Message[][] = [[user('go')]]
        const places = new Set<string>()
        const sent: { history: Message[]; output: AssistantMessage }[] = []
        for (const [nth, one] of steps.entries()) {
          const history = next(histories[one.history % histories.length]!, one)
          const output = says(`said ${nth}`, {
            ...(one.reasoning ? { reasoning: 'because' } : {}),
            toolCalls: [{ id: `c${nth}`, name: 'f', arguments: `{"n": ${nth}, "m": 1}` }],
          })
          // From some call on the program goes by what it has stored.
          call(recorder, nth >= restart ? history.map(mangle) : history, output)
          histories.push([...history, output])
          sent.push({ history, output })
          const keys = [...history, output].map(keyOf)
          for (const length of keys.keys()) places.add(JSON.stringify(keys.slice(0, length + 1)))
        }
        expect(recorder.nodes).toHaveLength(places.size)
        for (const [nth, { history, output }] of sent.entries()) {
          const { prompt, output: node } = recorder.calls[nth]!
          expect(pathTo(recorder, prompt).map(keyOf)).toEqual(history.map(keyOf))
          expect(recorder.nodes[node]).toMatchObject({ parent: prompt, sampled: true, message: output })
        }
        // Handed to another recorder, nothing of it changes.
        const other = new Recorder()
        other.absorb(structuredClone(recorder.graph()))
        expect(other.graph()).toEqual(recorder.graph())
      }),
    )
  })

  test('stores ids so that they come back, also of sub-agents and calls side by side', () => {
    const id = fc.integer({ min: 0, max: 2 })
    const one = fc.record({
      from: fc.nat(),
      adds: fc.array(id, { maxLength: 5 }),
      output: fc.array(id, { maxLength: 5 }),
    })
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 15 }), (calls) => {
        const recorder = new Recorder()
        const totals: number[][] = [[]]
        const prompts: number[][] = []
        for (const { from, adds, output } of calls) {
          const prompt = [...totals[from % totals.length]!, ...adds]
          prompts.push(prompt)
          totals.push([...prompt, ...output])
          recorder.call('agent', recorder.path('agent', [user(`${prompts.length}`)]), says('x'), facts, {
            promptIds: Int32Array.from(prompt),
            outputIds: Int32Array.from(output),
          })
        }
        const bytes = recorder.tokenChunk() ?? Buffer.alloc(0)
        const ints = ([at, count]: [number, number]) =>
          Array.from({ length: count }, (_, n) => bytes.readInt32LE(at + 4 * n))
        const read: number[][] = []
        for (const [nth, { tokens }] of recorder.calls.entries()) {
          const { base, keep, ids } = tokens!.prompt!
          const prompt = [...(base === null ? [] : read[base]!.slice(0, keep)), ...ints(ids)]
          expect(prompt).toEqual(prompts[nth])
          read.push([...prompt, ...ints(tokens!.output!)])
        }
      }),
    )
  })

  test('holds on to the ids of open branches only', () => {
    const recorder = new Recorder()
    let prompt = Int32Array.of(1, 2, 3)
    for (let nth = 0; nth < 200; nth++) {
      const outputIds = Int32Array.of(nth, nth)
      recorder.call('agent', recorder.path('agent', [user(`${nth}`)]), says('x'), facts, {
        promptIds: prompt,
        outputIds,
      })
      prompt = Int32Array.from([...prompt, ...outputIds])
    }
    // A conversation that only grows is stored once: 3 ids, then two for each call.
    expect(recorder.tokenChunk()!.byteLength).toBe(4 * (3 + 200 * 2))
    const rests = recorder.calls.map(({ tokens }) => [tokens!.prompt!.base, tokens!.prompt!.keep])
    expect(rests.slice(0, 3)).toEqual([
      [null, 0],
      [0, 5],
      [1, 7],
    ])
  })
})
