import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SampledSequence, SampleRequest } from '../../engine.ts'
import { hashDecoder } from './__fixtures__/hash-decoder.ts'
import { threadsInProcess, told } from './__fixtures__/threads-in-process.ts'
import { checkedRequest } from './checked-request.ts'
import { PackedReader, PackedWriter, putRequest, saidKind, workKind } from './packed-work.ts'
import { SamplingThread } from './sampling-thread.ts'
import { seedWords } from './seeded-draw.ts'

const prompt = (...ids: number[]): Int32Array => Int32Array.from(ids)
const join = (...parts: ArrayLike<number>[]): Int32Array =>
  Int32Array.from(parts.flatMap((p) => [...Array.from(p)]))

async function alone(request: SampleRequest, sizes = {}): Promise<ReturnType<typeof told>> {
  return told(
    await threadsInProcess([hashDecoder(sizes)])
      .sampler()
      .sample(request),
  )
}

describe('what is sampled', () => {
  const request = fc.record({
    prompt: fc
      .tuple(fc.constantFrom(0, 20), fc.array(fc.nat(6), { minLength: 1, maxLength: 20 }))
      // What several begin with is long enough to be copied.
      .map(([shared, ids]) =>
        Int32Array.from([...Array.from({ length: shared }, (_, at) => at % 5), ...ids]),
      ),
    maxTokens: fc.integer({ min: 1, max: 20 }),
    temperature: fc.constantFrom(0, 0.5, 1, 2),
    topK: fc.constantFrom(0, 1, 3),
    topP: fc.constantFrom(1, 0.6),
    stop: fc.constantFrom([], [0], [1, 2]),
    seed: fc.string(),
    session: fc.constantFrom(undefined, 'a', 'b', 'c'),
  })

  it('hangs on seed and weights alone, not on what is beside it, how many threads, slots or rows there are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(request, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 10 }),
        async (drawn, threads, slots, maxRows) => {
          const requests = drawn.map(({ session, ...rest }) =>
            session === undefined ? rest : { ...rest, session },
          )
          const decoders = Array.from({ length: threads }, () => hashDecoder({ slots, maxRows }))
          const sampler = threadsInProcess(decoders).sampler()
          const together = await Promise.all(requests.map((one) => sampler.sample(one)))
          for (const [at, one] of requests.entries()) expect(told(together[at]!)).toEqual(await alone(one))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('is another with another seed, and with other weights', async () => {
    const pool = threadsInProcess([hashDecoder()])
    const asked = { prompt: prompt(1, 2), maxTokens: 30 }
    const [a, b, c] = await Promise.all([
      pool.sampler().sample({ ...asked, seed: 'a' }),
      pool.sampler().sample({ ...asked, seed: 'b' }),
      pool.sampler({ weights: 2 }).sample({ ...asked, seed: 'a' }),
    ])
    expect(told(a)).not.toEqual(told(b))
    expect(told(a).ids).not.toEqual(told(c).ids)
  })

  it('follows the distribution of the logits', async () => {
    const sampler = threadsInProcess([hashDecoder({ vocabulary: 3, slots: 32 })]).sampler()
    const counts = [0, 0, 0]
    const logprobs = [0, 0, 0]
    const said = await Promise.all(
      Array.from({ length: 6000 }, (_, at) =>
        sampler.sample({ prompt: prompt(1), maxTokens: 1, seed: `s${at}` }),
      ),
    )
    for (const { ids, logprobs: each } of said) {
      counts[ids[0]!]! += 1
      logprobs[ids[0]!] = each[0]!
    }
    // Four standard deviations of a binomial share are at most 2.6 per cent here.
    for (let id = 0; id < 3; id++)
      expect(Math.abs(counts[id]! / 6000 - Math.exp(logprobs[id]!))).toBeLessThan(0.026)
  })

  it('ends at a stop, which is part of it, or for its length, and never goes past the context', async () => {
    const whole = await alone({ prompt: prompt(3), maxTokens: 1000, seed: 'x' })
    expect(whole.ids).toHaveLength(63)
    expect(whole.finish).toBe('length')
    const stop = whole.ids[5]!
    const stopped = await alone({ prompt: prompt(3), maxTokens: 1000, seed: 'x', stop: [stop] })
    expect(stopped.ids).toEqual(whole.ids.slice(0, whole.ids.indexOf(stop) + 1))
    expect(stopped.finish).toBe('stop')
  })

  it('is told token by token to one who wants it', async () => {
    const streamed: number[] = []
    const said = await threadsInProcess([hashDecoder()])
      .sampler()
      .sample({ prompt: prompt(1), maxTokens: 9, seed: 's' }, { onTokens: (ids) => streamed.push(...ids) })
    expect(streamed).toEqual([...said.ids])
  })
})

describe('sessions', () => {
  async function conversation(
    sampler: { sample(request: SampleRequest): Promise<SampledSequence> },
    session: string,
  ) {
    let ids = prompt(1, 2, 3, 4, 5)
    const turns: ReturnType<typeof told>[] = []
    for (let turn = 0; turn < 4; turn++) {
      const said = await sampler.sample({ prompt: ids, maxTokens: 5, seed: `${session}${turn}`, session })
      turns.push(told(said))
      ids = join(ids, said.ids, [turn, turn])
    }
    return turns
  }

  it('compute each position once', async () => {
    const decoder = hashDecoder()
    await conversation(threadsInProcess([decoder]).sampler(), 'one')
    // Five of the prompt, three times two between the turns, and four turns of five whose very last is not computed.
    expect(decoder.rowsDecoded).toBe(5 + 3 * 2 + 4 * 5 - 1)
  })

  it('say the same when they were evicted between their turns, at the price of computing again', async () => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const roomy = hashDecoder({ slots: 8 })
    const narrow = hashDecoder({ slots: 2 })
    const [kept, evicted] = [threadsInProcess([roomy]).sampler(), threadsInProcess([narrow]).sampler()]
    const talk = (sampler: typeof kept) => Promise.all(names.map((name) => conversation(sampler, name)))
    expect(await talk(evicted)).toEqual(await talk(kept))
    expect(narrow.rowsDecoded).toBeGreaterThan(roomy.rowsDecoded)
  })

  it('give way longest unused first, and at once when they are forgotten', async () => {
    const decoder = hashDecoder({ slots: 2 })
    const sampler = threadsInProcess([decoder]).sampler()
    const ask = async (session: string): Promise<number> => {
      const before = decoder.rowsDecoded
      await sampler.sample({ prompt: prompt(1, 2, 3, 4), maxTokens: 1, seed: 's', session })
      return decoder.rowsDecoded - before
    }
    const first = [await ask('a'), await ask('b'), await ask('a')]
    expect(first.at(-1)).toBe(1)
    sampler.forget('a')
    await ask('c')
    // c took the place of a, which was forgotten though it was used last.
    expect(await ask('b')).toBe(1)
  })

  it('are computed again with other weights, and the reply in flight keeps those with which it began', async () => {
    const pool = threadsInProcess([hashDecoder()])
    const [old, fresh] = [pool.sampler({ weights: 1, version: 4 }), pool.sampler({ weights: 2, version: 5 })]
    const first = await old.sample({ prompt: prompt(1, 2), maxTokens: 4, seed: 's', session: 'x' })
    const next = { prompt: join([1, 2], first.ids, [3]), maxTokens: 12, seed: 't', session: 'x' }
    const inFlight = old.sample(next)
    const swapped = await fresh.sample(next)
    const afresh = threadsInProcess([hashDecoder()])
    const { session: _, ...unnamed } = next
    expect(told(swapped)).toEqual(told(await afresh.sampler({ weights: 2, version: 5 }).sample(unnamed)))
    expect(told(await inFlight)).toEqual(
      told(await afresh.sampler({ weights: 1, version: 4 }).sample(unnamed)),
    )
  })
})

describe('what prompts begin with', () => {
  const shared = Array.from({ length: 40 }, (_, at) => at % 6)
  const request = (at: number): SampleRequest => ({
    prompt: prompt(...shared, at % 7),
    maxTokens: 4,
    seed: `${at}`,
    session: `${at}`,
  })

  it('is computed once for those that come together, and for one that comes later', async () => {
    const decoder = hashDecoder({ slots: 16, maxRows: 32 })
    const sampler = threadsInProcess([decoder]).sampler()
    const together = await Promise.all(Array.from({ length: 7 }, (_, at) => sampler.sample(request(at))))
    // The beginning once, the last of each prompt, and all that was sampled but the very last tokens.
    expect(decoder.rowsDecoded).toBe(40 + 7 + 7 * 3)
    const later = await sampler.sample(request(7))
    expect(decoder.rowsDecoded).toBe(40 + 7 + 8 * 3 + 1)
    for (const [at, said] of [...together, later].entries())
      expect(told(said)).toEqual(await alone(request(at)))
  })

  it('is computed by the next when the one that computed it is cancelled, whoever has its place', async () => {
    const said: number[][] = []
    const thread = new SamplingThread(hashDecoder({ slots: 3, maxRows: 8 }), (packed) => {
      const reader = new PackedReader(packed)
      while (!reader.done) {
        expect(reader.next()).toBe(saidKind.finished)
        said[reader.next()] = [reader.next(), ...reader.nextAll()].slice(1)
        reader.nextAll()
      }
    })
    const stranger: SampleRequest = { ...request(3), prompt: prompt(...shared.toReversed()) }
    const requests = [request(0), request(1), request(2), stranger]
    const work = new PackedWriter()
    for (const [id, one] of requests.entries()) {
      const asked = { ...checkedRequest(one, { vocabulary: 7, context: 64 }), seed: seedWords(one.seed) }
      putRequest(work, { ...asked, id, key: 1, offset: 1, session: id + 1, streams: false })
    }
    thread.receive(work.take())
    thread.step()
    work.put(workKind.cancel, 0)
    thread.receive(work.take())
    while (thread.busy) thread.step()
    expect(said[0]).toBeUndefined()
    for (const id of [1, 2, 3]) expect(said[id]).toEqual((await alone(requests[id]!)).ids)
  })

  it('is not taken from other weights', async () => {
    const pool = threadsInProcess([hashDecoder({ slots: 16 })])
    await pool.sampler({ weights: 1 }).sample(request(0))
    const said = await pool.sampler({ weights: 2 }).sample(request(1))
    const afresh = threadsInProcess([hashDecoder()]).sampler({ weights: 2 })
    expect(told(said)).toEqual(told(await afresh.sample(request(1))))
  })
})

describe('what is asked', () => {
  it('goes out as one message for each thread in a tick', async () => {
    const pool = threadsInProcess([
      hashDecoder({ slots: 64, maxRows: 512 }),
      hashDecoder({ slots: 64, maxRows: 512 }),
    ])
    const sampler = pool.sampler()
    await Promise.all(
      Array.from({ length: 128 }, (_, at) =>
        sampler.sample({ prompt: prompt(1, 2), maxTokens: 3, seed: `${at}` }),
      ),
    )
    expect(pool.messages).toEqual({ out: 2, back: 2 })
    expect(pool.held).toEqual([true, false])
  })

  it('is given up by its signal with the reason, alone', async () => {
    const pool = threadsInProcess([hashDecoder({ slots: 1 })])
    const sampler = pool.sampler()
    const stop = new AbortController()
    const asked = { prompt: prompt(1, 2), maxTokens: 40 }
    const running = sampler.sample(
      { ...asked, seed: 'r' },
      { signal: stop.signal, onTokens: () => stop.abort(new Error('enough')) },
    )
    const waiting = sampler.sample({ ...asked, seed: 'w' })
    await expect(running).rejects.toThrow('enough')
    expect(told(await waiting)).toEqual(await alone({ ...asked, seed: 'w' }))
    await expect(
      sampler.sample({ ...asked, seed: 'z' }, { signal: AbortSignal.abort(new Error('before')) }),
    ).rejects.toThrow('before')
  })

  it('is refused when the sampler is closed, whose weights go when no thread reads them', async () => {
    const events: string[] = []
    const pool = threadsInProcess([hashDecoder(), hashDecoder()])
    const sampler = pool.sampler({ onRelease: () => events.push('released') })
    const other = pool.sampler({ weights: 2 })
    const asked = { prompt: prompt(1, 2), maxTokens: 40, seed: 's' }
    const inFlight = sampler.sample(asked).catch((error: { code: string }) => void events.push(error.code))
    const beside = other.sample(asked)
    await Promise.all([sampler.close(), sampler.close()])
    await inFlight
    expect(events).toEqual(['sampler_closed', 'released'])
    await expect(sampler.sample(asked)).rejects.toMatchObject({ code: 'sampler_closed' })
    expect((await beside).ids).toHaveLength(40)
    await other.close()
    expect(pool.held).toEqual([true, false, true, false])
  })

  it('fails with the thread that was to answer; the others go on, and closing waits for none that is gone', async () => {
    const pool = threadsInProcess([hashDecoder(), hashDecoder()])
    const sampler = pool.sampler()
    const asked = { prompt: prompt(1, 2), maxTokens: 20 }
    pool.silence(0)
    const two = [
      sampler.sample({ ...asked, seed: 'a', session: 'a' }),
      sampler.sample({ ...asked, seed: 'b', session: 'b' }),
    ]
    pool.dispatch.fail(0, new Error('the thread is gone'))
    const ends = await Promise.allSettled(two)
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
    await sampler.sample({ ...asked, seed: 'a', session: 'a' })
    pool.silence(1)
    const closing = sampler.close()
    await new Promise((resolve) => setImmediate(resolve))
    pool.dispatch.fail(1, new Error('the other is gone too'))
    await closing
    await expect(pool.sampler().sample({ ...asked, seed: 'a' })).rejects.toThrow('the other is gone too')
  })

  it('is refused in words before anything is sampled', async () => {
    const pool = threadsInProcess([hashDecoder()])
    const sampler = pool.sampler()
    const codeOf = (request: Partial<SampleRequest>) =>
      sampler.sample({ prompt: prompt(1), maxTokens: 1, seed: '', ...request }).then(
        () => 'sampled',
        (error: { code: string }) => error.code,
      )
    expect(await codeOf({ prompt: prompt() })).toBe('datum_invalid')
    expect(await codeOf({ prompt: prompt(1, 7) })).toBe('datum_invalid')
    expect(await codeOf({ prompt: prompt(-1) })).toBe('datum_invalid')
    expect(await codeOf({ prompt: new Int32Array(64) })).toBe('context_overflow')
    expect(await codeOf({ prompt: new Int32Array(63) })).toBe('sampled')
    for (const bad of [
      { maxTokens: 0 },
      { temperature: -1 },
      { temperature: Number.NaN },
      { topK: 0.5 },
      { topP: 0 },
    ]) {
      expect(await codeOf(bad)).toBe('datum_invalid')
    }
  })

  it('fails as not finite when the weights are broken, alone', async () => {
    const decoder = hashDecoder()
    decoder.poison = 2
    const pool = threadsInProcess([decoder])
    const asked = { prompt: prompt(1), maxTokens: 3, seed: 's' }
    const whole = pool.sampler().sample(asked)
    await expect(pool.sampler({ weights: 2 }).sample(asked)).rejects.toMatchObject({ code: 'not_finite' })
    expect((await whole).ids).toHaveLength(3)
  })
})
