import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Message, ModelContext, ModelRequest, ReplyDelta } from '../core/index.ts'
import { createTableLearner } from './__fixtures__/table-engine.ts'
import { chatRenderer } from './chat-renderer.ts'
import type { SampledSequence, SampleRequest, Sampler } from './engine.ts'
import { policyModel } from './policy-model.ts'

const pieces = ['a', 'b', 'ab', '!', '?']
const renderer = chatRenderer({ vocabulary: pieces })
const user = (content: string): Message => ({ role: 'user', content })
const context = (more: Partial<ModelContext> = {}): ModelContext => ({
  signal: new AbortController().signal,
  attempt: 'attempt-1',
  task: 'task-1',
  repeat: 0,
  seat: 'agent',
  ...more,
})

/** An untrained policy, uniform over its vocabulary, and what was asked of it. */
async function watched(options: { context?: number; version?: number } = {}) {
  const learner = createTableLearner({ vocabulary: renderer.vocabulary, context: options.context ?? 400 })
  const sampler = await learner.sampler()
  const asked: SampleRequest[] = []
  const forgotten: string[] = []
  const watching: Sampler = {
    version: options.version ?? sampler.version,
    capabilities: sampler.capabilities,
    sample: (request, given) => {
      asked.push(request)
      return sampler.sample(request, given)
    },
    score: (data) => sampler.score(data),
    forget: (session) => void forgotten.push(session),
    close: () => sampler.close(),
  }
  return { sampler: watching, asked, forgotten }
}

/** Replies that are said one after the other, token by token. */
function scripted(...replies: (readonly number[])[]): Sampler & { asked: SampleRequest[] } {
  const asked: SampleRequest[] = []
  return {
    asked,
    version: 3,
    capabilities: {
      name: 'script',
      losses: [],
      entropy: false,
      deterministic: true,
      context: 1000,
      vocabulary: renderer.vocabulary,
    },
    sample: async (request, { signal, onTokens } = {}): Promise<SampledSequence> => {
      const ids = replies[asked.push(request) - 1]!
      const logprobs = ids.map((_, at) => -1 - at)
      for (const [at, id] of ids.entries()) {
        signal?.throwIfAborted()
        onTokens?.(Int32Array.of(id), Float32Array.of(logprobs[at]!))
      }
      signal?.throwIfAborted()
      return {
        ids: Int32Array.from(ids),
        logprobs: Float32Array.from(logprobs),
        finish: request.stop?.includes(ids.at(-1)!) ? 'stop' : 'length',
        version: 3,
      }
    },
    score: () => Promise.resolve([]),
    forget: () => {},
    close: () => Promise.resolve(),
  }
}

const [a, b, , bang, ask] = pieces.map((piece) => renderer.encode(piece)[0]!)
const end = renderer.stop[0]!

describe('a reply of a policy', () => {
  it('brings its tokens, what it cost and the version of the weights', async () => {
    const sampler = scripted([a!, b!, end])
    const said = await policyModel({ sampler, renderer }).generate({ messages: [user('a')] }, context())
    expect(said).toMatchObject({
      message: { role: 'assistant', content: 'ab' },
      finish: 'stop',
      usage: { fresh: 3, output: 3 },
      costUsd: 0,
      policyVersion: '3',
      tokens: {
        promptIds: renderer.render([user('a')]),
        outputIds: Int32Array.of(a!, b!, end),
        logprobs: Float32Array.of(-1, -2, -3),
      },
    })
    expect(said.flags).toBeUndefined()
  })

  it('that is cut says so', async () => {
    const { sampler } = await watched()
    const said = await policyModel({ sampler, renderer }).generate(
      { messages: [user('a')], sampling: { maxTokens: 2, temperature: 0 } },
      context(),
    )
    expect(said).toMatchObject({ finish: 'length', flags: expect.arrayContaining(['no_end']) })
    expect(said.tokens?.outputIds).toHaveLength(2)
  })

  it('is sampled as the request says, and as the options say where it does not', async () => {
    const { sampler, asked } = await watched()
    const model = policyModel({ sampler, renderer, temperature: 0.3, maxTokens: 4 })
    await model.generate({ messages: [user('a')] }, context())
    await model.generate(
      { messages: [user('a')], sampling: { temperature: 0.9, topP: 0.5, maxTokens: 2, extra: { top_k: 3 } } },
      context(),
    )
    expect(asked[0]).toMatchObject({ temperature: 0.3, maxTokens: 4, stop: renderer.stop })
    expect(asked[1]).toMatchObject({ temperature: 0.9, maxTokens: 2, topP: 0.5, topK: 3 })
  })

  it('ends at a text that is to end it, wherever its tokens part, and the text is not said', async () => {
    const sampler = scripted([a!, b!, bang!, ask!, a!, end])
    const said = await policyModel({ sampler, renderer }).generate(
      { messages: [user('a')], sampling: { stop: ['nowhere', 'b!'] } },
      context(),
    )
    expect(said).toMatchObject({ message: { content: 'a' }, finish: 'stop' })
    expect(said.tokens?.outputIds).toEqual(Int32Array.of(a!, b!, bang!))
    expect(said.tokens?.logprobs).toHaveLength(3)
    expect(said.flags).toBeUndefined()
  })
})

describe('a seed', () => {
  const tell = async (
    options: { seed?: string },
    request: Partial<ModelRequest>,
    more: Partial<ModelContext>,
  ) => {
    const { sampler } = await watched()
    const model = policyModel({ sampler, renderer, ...options })
    const said = await model.generate(
      { messages: [user('a')], sampling: { maxTokens: 40 }, ...request },
      context(more),
    )
    return said.tokens?.outputIds?.join()
  }

  it('makes a run say the same again, whatever the attempt is called', async () => {
    expect(await tell({ seed: 's' }, {}, { attempt: 'x' })).toBe(
      await tell({ seed: 's' }, {}, { attempt: 'y' }),
    )
  })

  it('is another for each task, repeat, seat and seed', async () => {
    const said = await Promise.all([
      tell({}, {}, {}),
      tell({ seed: 's' }, {}, {}),
      tell({}, { sampling: { maxTokens: 40, seed: 4 } }, {}),
      tell({}, {}, { task: 'task-2' }),
      tell({}, {}, { repeat: 1 }),
      tell({}, {}, { seat: 'other' }),
    ])
    expect(new Set(said).size).toBe(said.length)
  })

  it('is another when the same is asked again, and for calls of nobody', async () => {
    const { sampler, asked } = await watched()
    const model = policyModel({ sampler, renderer })
    const request = { messages: [user('a')], sampling: { maxTokens: 3 } }
    for (let call = 0; call < 3; call++) await model.generate(request, context())
    const { signal } = context()
    for (let call = 0; call < 3; call++) await model.generate(request, { signal })
    expect(new Set(asked.map(({ seed }) => seed)).size).toBe(6)
    const seeded = { ...request, sampling: { ...request.sampling, seed: 1 } }
    const [one, other] = [await model.generate(seeded, { signal }), await model.generate(seeded, { signal })]
    expect(one.tokens).toEqual(other.tokens)
  })
})

describe('a conversation', () => {
  it('goes on from the tokens that were sampled', async () => {
    // `a` and `b` where the vocabulary would write `ab`.
    const sampler = scripted([a!, b!, end], [bang!], [ask!, end])
    const model = policyModel({ sampler, renderer })
    const messages: Message[] = [user('a')]
    for (let turn = 0; turn < 3; turn++) {
      const { message } = await model.generate({ messages }, context())
      messages.push(message, user('b'))
    }
    const [first, second, third] = sampler.asked.map(({ prompt }) => renderer.text(prompt))
    expect(first).toBe('<user>a<assistant>')
    expect([...sampler.asked[1]!.prompt.slice(3, 6)]).toEqual([a, b, end])
    expect(second).toBe('<user>a<assistant>ab<end><user>b<assistant>')
    // The second reply was cut before its end.
    expect(third).toBe(`${second}!<end><user>b<assistant>`)
    expect(new Set(sampler.asked.map(({ session }) => session)).size).toBe(1)
  })

  it('whose history was edited goes on from where it parts, or anew', async () => {
    const sampler = scripted([a!, b!, end], [a!, b!, end], [end], [end], [end], [end])
    const model = policyModel({ sampler, renderer })
    const first = (await model.generate({ messages: [user('a')] }, context())).message
    const two = [user('a'), first, user('b')]
    const second = (await model.generate({ messages: two }, context())).message
    const idsOf = async (messages: Message[], more: Partial<ModelContext> = {}): Promise<number[]> => {
      await model.generate({ messages }, context(more))
      return [...sampler.asked.at(-1)!.prompt]
    }
    const other: AssistantMessage = { role: 'assistant', content: 'ab' }
    const branch = await idsOf([...two, { ...second, content: '!' }, user('?')])
    expect(branch).toEqual([
      ...renderer.render([user('a')]),
      ...[a!, b!, end],
      ...renderer.renderNext([user('b'), { role: 'assistant', content: '!' }, user('?')], 'stop'),
    ])
    const original = await idsOf([...two, second, user('?')])
    expect(original.slice(-6)).toEqual([a!, b!, end, ...renderer.renderNext([user('?')], 'stop')])
    const anew = await idsOf([user('b'), other, user('a')])
    expect(anew).toEqual([...renderer.render([user('b'), other, user('a')])])
    expect(await idsOf(two, { attempt: 'another' })).toEqual([...renderer.render(two)])
  })

  it('beside others of the same seat is told from them', async () => {
    // Sub-agents take turns in one seat; what they say is not what the vocabulary would write.
    const sampler = scripted([a!, b!, end], [b!, end], [end], [end], [end])
    const model = policyModel({ sampler, renderer })
    const one: Message[] = [user('a')]
    const other: Message[] = [user('b')]
    for (const messages of [one, other, one, other, one]) {
      const { message } = await model.generate({ messages }, context())
      messages.push(message, user('?'))
    }
    const prompts = sampler.asked.map(({ prompt }) => [...prompt])
    for (const [later, earlier] of [
      [2, 0],
      [3, 1],
      [4, 2],
    ] as const) {
      expect(prompts[later]!.slice(0, prompts[earlier]!.length)).toEqual(prompts[earlier])
    }
    expect(prompts[2]!.slice(3, 6)).toEqual([a, b, end])
    const sessions = sampler.asked.map(({ session }) => session)
    expect(sessions).toEqual([sessions[0], sessions[1], sessions[0], sessions[1], sessions[0]])
    expect(sessions[0]).not.toBe(sessions[1])
  })

  it('that is gone on from twice at once becomes two', async () => {
    const sampler = scripted([a!, end], [b!, end], [bang!, end], [end], [end])
    const model = policyModel({ sampler, renderer })
    const { message } = await model.generate({ messages: [user('a')] }, context())
    const messages = [user('a'), message, user('?')]
    const two = await Promise.all([1, 2].map(() => model.generate({ messages }, context())))
    for (const { message: last } of two) {
      await model.generate({ messages: [...messages, last, user('!')] }, context())
    }
    const texts = sampler.asked.slice(3).map(({ prompt }) => renderer.text(prompt))
    const before = '<user>a<assistant>a<end><user>?<assistant>'
    expect(new Set(sampler.asked.slice(3).map(({ session }) => session)).size).toBe(2)
    expect(texts).toEqual(['b', '!'].map((said) => `${before}${said}<end><user>!<assistant>`))
  })

  it('that nobody went on with for long is forgotten, and rendered again when it comes back', async () => {
    const { sampler, asked, forgotten } = await watched()
    const model = policyModel({ sampler, renderer, conversations: 2, maxTokens: 5 })
    const request = { messages: [user('a')] }
    const { message } = await model.generate(request, context({ attempt: '1' }))
    for (const attempt of ['2', '3']) await model.generate(request, context({ attempt }))
    expect(forgotten).toEqual(['1/agent/0'])
    const messages = [user('a'), message, user('b')]
    await model.generate({ messages }, context({ attempt: '1' }))
    expect(asked.at(-1)!.prompt).toEqual(renderer.render(messages))
    await model.close?.()
    expect(forgotten).toHaveLength(4)
  })

  it('of many turns is the same whether it was kept or is rendered, where the text says the tokens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 5 }),
        async (turns) => {
          const { sampler, asked } = await watched({ context: 2000 })
          const model = policyModel({ sampler, renderer, maxTokens: 1 })
          const messages: Message[] = []
          for (const text of turns) {
            messages.push(user(text))
            const { message } = await model.generate({ messages }, context())
            messages.push(message)
          }
          // A reply of one token is that token, unless it is a special one, which no text says.
          const prompt = asked.at(-1)!.prompt
          const texts = messages.slice(0, -1).map(({ content }) => content)
          if (texts.every((text) => text !== ''))
            expect(prompt).toEqual(renderer.render(messages.slice(0, -1)))
        },
      ),
      { numRuns: 30 },
    )
  })
})

describe('weights', () => {
  it('are swapped between replies: one in flight keeps its own, and the earlier may be closed after it', async () => {
    let release = (): void => {}
    const old = scripted([a!, end])
    const sampleOld = old.sample
    old.sample = async (...given) => {
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return await sampleOld(...given)
    }
    const fresh = { ...scripted([b!, end]), version: 9 }
    const model = policyModel({ sampler: old, renderer })
    const slow = model.generate({ messages: [user('a')] }, context())
    let isDrained = false
    const drained = model.use(fresh).then(() => {
      isDrained = true
    })
    expect(model.version).toBe(9)
    const next = await model.generate({ messages: [user('a')] }, context({ attempt: '2' }))
    expect(next.message.content).toBe('b')
    expect(isDrained).toBe(false)
    // To and fro: whoever waits is told.
    const others = [model.use(old), model.use(fresh)]
    release()
    expect((await slow).policyVersion).toBe('3')
    await Promise.all([drained, ...others])
    await model.use(fresh)
  })

  it('that were closed under a reply are followed by the next', async () => {
    const { sampler: old } = await watched()
    const fresh = scripted([b!, end])
    const model = policyModel({ sampler: old, renderer })
    await old.close()
    await expect(model.generate({ messages: [user('a')] }, context())).rejects.toMatchObject({
      fault: { code: 'sampler_closed', retryable: true },
    })
    const closing = model.generate({ messages: [user('a')] }, context())
    await model.use(fresh)
    expect((await closing).message.content).toBe('b')
  })
})

describe('what goes wrong', () => {
  it('is an outcome where the prompt does not fit, and a fault elsewhere', async () => {
    const { sampler } = await watched({ context: 4 })
    const model = policyModel({ sampler, renderer })
    await expect(model.generate({ messages: [user('abab')] }, context())).rejects.toMatchObject({
      outcome: 'context_overflow',
      fault: { code: 'context_overflow', retryable: false },
    })
    await expect(model.generate({ messages: [user('words')] }, context())).rejects.toMatchObject({
      outcome: undefined,
      fault: { owner: 'provider', code: 'prompt_invalid', retryable: false },
    })
  })

  it('is a cancelled call when its signal is aborted', async () => {
    const { sampler } = await watched()
    const model = policyModel({ sampler, renderer })
    const stop = new AbortController()
    const asked = model.generate({ messages: [user('a')] }, context({ signal: stop.signal }))
    stop.abort(new Error('enough'))
    await expect(asked).rejects.toMatchObject({ fault: { code: 'cancelled' } })
  })
})

describe('a stream', () => {
  const bytes = chatRenderer({ vocabulary: 'bytes' })
  const deltasOf = async (reply: string, request: Partial<ModelRequest> = {}) => {
    const sampler = scripted([...bytes.encode(reply), ...bytes.stop])
    const deltas: ReplyDelta[] = []
    const model = policyModel({ sampler, renderer: bytes })
    const said = await model.generate(
      { messages: [user('a')], ...request },
      context({ onDelta: (delta) => void deltas.push(delta) }),
    )
    return { said, deltas, text: deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('') }
  }

  it('tells the reply piece by piece, whole characters only', async () => {
    const { said, deltas, text } = await deltasOf('Grüße 🎯')
    expect(text).toBe('Grüße 🎯')
    expect(said.message.content).toBe(text)
    expect(deltas).toHaveLength(7)
  })

  it('never tells what turns out to end the reply', async () => {
    const { text } = await deltasOf('one STO STOP two', { sampling: { stop: [' STOP'] } })
    expect(text).toBe('one STO')
  })

  it('tells calls when they are whole, with ids that no earlier call has', async () => {
    const tools = [{ name: 'up', description: '', parameters: {} }]
    const earlier: Message = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'call_1', name: 'up', arguments: '{}' }],
    }
    const { said, deltas } = await deltasOf('Go.<tool_call>{"name":"up","arguments":{}}</tool_call>', {
      tools,
      messages: [user('a'), earlier, { role: 'tool', toolCallId: 'call_1', content: 'up' }],
    })
    const [id] = said.message.toolCalls!.map((call) => call.id)
    expect(id).not.toBe('call_1')
    expect(deltas).toEqual([
      { type: 'text', text: 'Go.' },
      { type: 'call', call: 0, id, name: 'up' },
      { type: 'arguments', call: 0, text: '{}' },
    ])
    expect(said.finish).toBe('tool_calls')
  })

  it('fails with the one who is told', async () => {
    const model = policyModel({ sampler: scripted([a!, end]), renderer })
    const broken = context({ onDelta: () => Promise.reject(new Error('gone')) })
    await expect(model.generate({ messages: [user('a')] }, broken)).rejects.toThrow('gone')
  })
})
