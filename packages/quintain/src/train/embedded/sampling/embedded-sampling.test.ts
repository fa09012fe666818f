import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Message } from '../../../core/index.ts'
import { chatRenderer } from '../../chat-renderer.ts'
import type { Datum, Learner, SampledSequence, Sampler } from '../../engine.ts'
import { policyModel } from '../../policy-model.ts'
import { createEmbedded } from '../index.ts'
import { told } from './__fixtures__/threads-in-process.ts'

const vocabulary = 13
const shape = { layers: 2, width: 32, heads: 2, feedForward: 32, vocabulary, context: 96 }
const shared = Array.from({ length: 30 }, (_, at) => at % vocabulary)

let learners: Record<'one' | 'two' | 'narrow', Learner>
let samplers: Record<'one' | 'two' | 'narrow', Sampler>
beforeAll(async () => {
  const open = (threads: number, slots: number) => createEmbedded({ shape, seed: 'sampling', threads, slots })
  learners = { one: await open(1, 64), two: await open(2, 64), narrow: await open(1, 3) }
  samplers = {
    one: await learners.one.sampler(),
    two: await learners.two.sampler(),
    narrow: await learners.narrow.sampler(),
  }
})
afterAll(() => Promise.all(Object.values(learners).map((learner) => learner.close())))

/** Three turns of so many conversations at once. */
async function talk(
  sampler: Sampler,
  options: { count: number; hasSessions?: boolean },
): Promise<SampledSequence[][]> {
  return await Promise.all(
    Array.from({ length: options.count }, async (_, at) => {
      const turns: SampledSequence[] = []
      let ids = Int32Array.from([...(at % 2 === 0 ? shared : []), at % vocabulary])
      for (let turn = 0; turn < 3; turn++) {
        const said = await sampler.sample({
          prompt: ids,
          maxTokens: 1 + ((at + turn) % 9),
          seed: `${at}/${turn}`,
          stop: [4],
          ...(options.hasSessions === false ? {} : { session: `talk-${at}` }),
        })
        turns.push(said)
        ids = Int32Array.from([...ids, ...said.ids, 1, turn, 2])
      }
      return turns
    }),
  )
}
const plain = (talked: SampledSequence[][]) => talked.map((turns) => turns.map(told))

describe('the embedded engine samples', () => {
  it('the same bits alone and in company, on one thread and two, kept, evicted and computed again', async () => {
    const together = plain(await talk(samplers.two, { count: 24 }))
    expect(plain(await talk(samplers.one, { count: 24 }))).toEqual(together)
    expect(plain(await talk(samplers.narrow, { count: 24 }))).toEqual(together)
    expect(plain(await talk(samplers.two, { count: 24, hasSessions: false }))).toEqual(together)
    const [alone] = plain(await talk(samplers.one, { count: 1 }))
    expect(alone).toEqual(together[0])
  })

  it('with the log-probabilities that the learner has for what it sampled', async () => {
    const prompt = Int32Array.from(shared)
    const said = await samplers.two.sample({ prompt, maxTokens: 40, seed: 'x', temperature: 0.7, topK: 5 })
    const ids = Int32Array.from([...prompt, ...said.ids])
    const datum = { input: ids.slice(0, -1), target: ids.slice(1) }
    for (const scores of [
      await samplers.two.score([datum]),
      (await learners.two.forward([datum])).logprobs,
    ]) {
      expect(scores[0]!.slice(prompt.length - 1)).toEqual(said.logprobs)
    }
  })

  it('sessions that go on with other weights as if they had begun with them', async () => {
    const learner = await createEmbedded({ shape, seed: 'swap', threads: 2 })
    try {
      const old = await learner.sampler()
      const before = plain(await talk(old, { count: 6 }))
      const datum: Datum = {
        input: Int32Array.from(shared.slice(0, -1)),
        target: Int32Array.from(shared.slice(1)),
        weights: new Float32Array(shared.length - 1).fill(1),
      }
      await learner.forwardBackward([datum], { name: 'cross_entropy' }, { run: 'swap', seq: 1 })
      await learner.optimStep({ learningRate: 0.05 }, { run: 'swap', seq: 2 })
      const fresh = await learner.sampler()
      const after = plain(await talk(fresh, { count: 6 }))
      expect([old.version, fresh.version]).toEqual([0, 1])
      expect(after).not.toEqual(before)
      expect(plain(await talk(fresh, { count: 6, hasSessions: false }))).toEqual(after)
      expect(plain(await talk(old, { count: 6 }))).toEqual(before)
    } finally {
      await learner.close()
    }
  })

  it('a cancelled sequence no further, and the others as if nothing had been', async () => {
    const stop = new AbortController()
    const asked = { prompt: Int32Array.from(shared), maxTokens: 60, seed: 'c' }
    const cancelled = samplers.one.sample(asked, {
      signal: stop.signal,
      onTokens: () => stop.abort(new Error('enough')),
    })
    const other = samplers.one.sample({ ...asked, seed: 'other' })
    await expect(cancelled).rejects.toThrow('enough')
    expect(told(await other)).toEqual(told(await samplers.two.sample({ ...asked, seed: 'other' })))
  })
})

describe('a policy in a seat', () => {
  it('says in many turns what it would say to the whole conversation at once', async () => {
    const renderer = chatRenderer({ vocabulary: ['a', 'b', 'c', 'd', 'e', 'f', '?', '!'] })
    expect(renderer.vocabulary).toBe(vocabulary)
    const model = policyModel({ sampler: samplers.two, renderer, maxTokens: 6 })
    const context = {
      signal: new AbortController().signal,
      attempt: 'one',
      task: 't',
      repeat: 0,
      seat: 'agent',
    }
    const messages: Message[] = []
    for (let turn = 0; turn < 4; turn++) {
      messages.push({ role: 'user', content: 'ab?' })
      const { message, tokens } = await model.generate({ messages }, context)
      messages.push(message)
      const { promptIds, outputIds, logprobs } = tokens!
      const ids = Int32Array.from([...promptIds!, ...outputIds!])
      const [scores] = await samplers.one.score([{ input: ids.slice(0, -1), target: ids.slice(1) }])
      expect(scores!.slice(promptIds!.length - 1)).toEqual(logprobs)
    }
  })
})
