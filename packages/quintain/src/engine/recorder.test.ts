import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type AttemptRecord,
  type CallRecord,
  environment,
  type Harness,
  type Message,
  readTokens,
  tool,
} from '../core/index.ts'
import { Recorder } from '../core/recorder.ts'
import { calling, modelThat, type Recorded, recorded, say } from './__fixtures__/recorded.ts'

const user = (content: string): Message => ({ role: 'user', content })
const call = { model: 'm', atMs: 0, latencyMs: 0, waitMs: 0 }

/** A harness that sends the model these histories, one after the other. */
const sending = (...histories: (() => Message[])[]): Harness => ({
  name: 'sending@1',
  carries: { turns: true, tools: true, images: true },
  async run({ model }) {
    for (const history of histories) await model.generate({ messages: history() })
    return { outcome: 'completed' }
  },
})
const ask = environment({ tasks: [{ id: 'ask', prompt: 'go' }], rewards: { any: () => 1 } })

/** The graph as paths of texts from root to leaf. */
async function branches(run: Recorded): Promise<string[]> {
  const { nodes } = await run.trajectory()
  const parents = new Set(nodes.map(({ parent }) => parent))
  return nodes.flatMap((_, leaf) => {
    if (parents.has(leaf)) return []
    const path: string[] = []
    for (let at = leaf; at >= 0; at = nodes[at]!.parent) path.unshift(String(nodes[at]!.message.content))
    return [path.join(' > ')]
  })
}

describe('the message graph', () => {
  const model = () => modelThat((_request, _context, nth) => `reply ${nth}`)

  test('is one branch while a history only grows', async () => {
    const run = await recorded(
      ask,
      { model: model() },
      {
        harness: sending(
          () => [user('go')],
          () => [user('go'), say('reply 0'), user('on')],
          () => [user('go'), say('reply 0'), user('on'), say('reply 1'), user('end')],
        ),
      },
    )
    expect(await branches(run)).toEqual(['go > reply 0 > on > reply 1 > end > reply 2'])
    const { calls, nodes } = await run.trajectory()
    expect(calls.map(({ prompt, output }) => [prompt, output])).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
    ])
    expect(nodes.map(({ sampled }) => sampled)).toEqual([false, true, false, true, false, true])
  })

  test('branches where a history was edited, compacted or started anew', async () => {
    const run = await recorded(
      ask,
      { model: model() },
      {
        harness: sending(
          () => [user('go')],
          () => [user('go'), say('reply 0 (shortened)'), user('on')],
          () => [user('a new start')],
          () => [user('go'), say('reply 0'), user('on')],
        ),
      },
    )
    expect((await branches(run)).sort()).toEqual([
      'a new start > reply 2',
      'go > reply 0 (shortened) > on > reply 1',
      'go > reply 0 > on > reply 3',
    ])
  })

  test('holds what was said even when a harness writes into the message afterwards', async () => {
    const harness: Harness = {
      name: 'editing@1',
      carries: { turns: true, tools: true, images: true },
      async run({ model, messages }) {
        const { message } = await model.generate({ messages })
        try {
          message.content = 'something else'
        } catch {}
        return { outcome: 'completed' }
      },
    }
    expect(await branches(await recorded(ask, { model: model() }, { harness }))).toEqual(['go > reply 0'])
  })

  const shop = environment({
    tasks: [{ id: 'shop', prompt: 'go' }],
    world: () => ({
      tools: () => [
        tool({
          name: 'look',
          description: 'Looks.',
          input: z.object({ at: z.string() }),
          run: ({ at }) => ({ content: `a ${at}`, reward: 1 }),
        }),
      ],
      reply: (content) => ({
        content: `you said ${String(content)}`,
        ...(content === 'bye' ? { done: 'over' } : {}),
      }),
      finish: () => null,
    }),
    rewards: { turns: ({ transcript }) => transcript.turnRewards.length },
  })
  const wanted = 'go >  > a hat > hello > you said hello >  > a cap > bye > you said bye'

  test('has each tool result and each turn of the world once, for a model', async () => {
    const replies = [
      calling(['look', { at: 'hat' }]),
      say('hello'),
      calling(['look', { at: 'cap' }]),
      say('bye'),
    ]
    const run = await recorded(shop, { model: modelThat((_r, _c, nth) => ({ message: replies[nth]! })) })
    expect(await branches(run)).toEqual([wanted])
    expect(run.only.verdict!.reward).toBe(2)
  })

  test('has them once for an agent that holds the conversation itself', async () => {
    const things = ['hat', 'cap']
    const run = await recorded(shop, {
      agent: async ({ call }) => {
        const thing = things.shift()!
        await call('look', { at: thing })
        return thing === 'hat' ? 'hello' : 'bye'
      },
    })
    expect(await branches(run)).toEqual([wanted])
    expect(run.only.verdict!.reward).toBe(2)
  })

  test('is whole when an agent is cut off in the middle of its turn', async () => {
    const run = await recorded(shop, {
      agent: async ({ call }) => {
        await call('look', { at: 'hat' })
        throw new Error('gone')
      },
    })
    expect(run.only.outcome).toBe('agent_error')
    expect(await branches(run)).toEqual(['go >  > a hat'])
  })
})

/** The prompt ids of every call, from the references in the record alone. */
function promptsOf(calls: readonly CallRecord[], bytes: Buffer): Int32Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const ints = ([at, count]: [number, number]) =>
    Int32Array.from({ length: count }, (_, n) => view.getInt32(at + 4 * n, true))
  const whole: Int32Array[] = []
  const prompts = calls.map(({ tokens }, nth) => {
    const { base, keep, ids } = tokens!.prompt!
    const kept = base === null ? new Int32Array() : whole[base]!.subarray(0, keep)
    const prompt = Int32Array.from([...kept, ...ints(ids)])
    whole[nth] = Int32Array.from([...prompt, ...(tokens!.output === undefined ? [] : ints(tokens!.output))])
    return prompt
  })
  return prompts
}

describe('token ids', () => {
  const id = fc.integer({ min: 0, max: 3 })
  const exchange = fc.record({
    /** What of the conversation so far the next prompt keeps, and what it adds. */
    keep: fc.double({ min: 0, max: 1, noNaN: true }),
    grows: fc.boolean(),
    adds: fc.array(id, { maxLength: 6 }),
    output: fc.option(fc.array(id, { maxLength: 6 }), { nil: undefined }),
  })

  test('come back exactly as they were sent, however the prompts share their beginnings', () => {
    fc.assert(
      fc.property(fc.array(exchange, { minLength: 1, maxLength: 12 }), (exchanges) => {
        const recorder = new Recorder()
        const sent: number[][] = []
        let soFar: number[] = []
        for (const { keep, grows, adds, output } of exchanges) {
          const prompt = [...(grows ? soFar : soFar.slice(0, Math.floor(keep * soFar.length))), ...adds]
          sent.push(prompt)
          recorder.call('agent', recorder.path('agent', [user(String(sent.length))]), say('x'), call, {
            promptIds: Int32Array.from(prompt),
            ...(output === undefined ? {} : { outputIds: Int32Array.from(output) }),
          })
          soFar = [...prompt, ...(output ?? [])]
        }
        const prompts = promptsOf(recorder.calls, recorder.tokenChunk() ?? Buffer.alloc(0))
        expect(prompts.map((ids) => [...ids])).toEqual(sent)
      }),
    )
  })

  test('of a conversation that only grows are stored once', () => {
    const recorder = new Recorder()
    let prompt: number[] = [1, 2, 3]
    for (let nth = 0; nth < 50; nth++) {
      const output = [nth, nth + 1]
      recorder.call('agent', recorder.path('agent', [user(`${nth}`)]), say('x'), call, {
        promptIds: Int32Array.from(prompt),
        outputIds: Int32Array.from(output),
      })
      prompt = [...prompt, ...output, 9]
    }
    // 3 at first, then 2 sampled and 1 new each time.
    expect(recorder.tokenChunk()!.byteLength).toBe(4 * (3 + 50 * 2 + 49))
  })

  test('are in the run folder, with log-probabilities, by call', async () => {
    const game = environment({
      tasks: [{ id: 'game', prompt: 'go' }],
      world: () => ({ reply: () => ({ content: 'on' }), finish: () => null }),
      rewards: { any: () => 1 },
      limits: { turns: 3 },
    })
    const model = modelThat((_request, _context, nth) => ({
      message: say(`${nth}`),
      tokens: {
        promptIds: Int32Array.from({ length: 4 + nth * 3 }, (_, at) => at),
        outputIds: Int32Array.from([4 + nth * 3, 5 + nth * 3]),
        logprobs: Float32Array.from([-0.5, -0.25 * nth]),
      },
      policyVersion: `v${nth}`,
    }))
    const run = await recorded(game, { model })
    const { calls } = await run.trajectory()
    const bytes = (await readTokens(run.dir, run.only as AttemptRecord))!
    expect(promptsOf(calls, bytes).map((ids) => ids.length)).toEqual([4, 7, 10])
    expect(calls[2]!.tokens!.prompt).toMatchObject({ base: 1, keep: 9 })
    const [at] = calls[2]!.tokens!.logprobs!
    expect([bytes.readFloatLE(at), bytes.readFloatLE(at + 4)]).toEqual([-0.5, -0.5])
    expect(calls.map(({ policySpans }) => policySpans)).toEqual(
      [0, 1, 2].map((nth) => [{ start: 0, end: 2, version: `v${nth}` }]),
    )
  })
})
