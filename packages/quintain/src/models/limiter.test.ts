import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ModelFault } from '../core/model.ts'
import { createLimiter, type Limiter, type Permit } from './limiter.ts'

async function fill(limiter: Limiter, count: number): Promise<Permit[]> {
  return await Promise.all(Array.from({ length: count }, () => limiter.acquire()))
}

describe('createLimiter', () => {
  test('admits in order of arrival, no more than the limit', async () => {
    const limiter = createLimiter({ initial: 1, max: 1 })
    const first = await limiter.acquire()
    const order: number[] = []
    const rest = [1, 2, 3].map(async (number) => {
      const permit = await limiter.acquire()
      order.push(number)
      permit.release()
      return permit.waitedMs
    })
    expect([limiter.inFlight, limiter.queued]).toEqual([1, 3])
    await new Promise((resolve) => setTimeout(resolve, 20))
    first.release()
    expect(Math.min(...(await Promise.all(rest)))).toBeGreaterThan(15)
    expect(order).toEqual([1, 2, 3])
    expect([limiter.inFlight, limiter.queued]).toEqual([0, 0])
  })

  test('serves parties in turn, those that have fewer places first', async () => {
    const limiter = createLimiter({ initial: 2, max: 2 })
    const held: [string, Permit][] = []
    const ask = (party: string) =>
      void limiter.acquire(undefined, party).then((permit) => held.push([party, permit]))
    for (let call = 0; call < 100; call++) ask('greedy')
    await Promise.resolve()
    ask('a')
    ask('b')
    ask('b')
    const order: string[] = []
    for (let call = 0; call < 8; call++) {
      await new Promise((resolve) => setImmediate(resolve))
      const [party, permit] = held.shift()!
      order.push(party)
      permit.release()
    }
    expect(order).toEqual(['greedy', 'greedy', 'a', 'greedy', 'b', 'greedy', 'b', 'greedy'])
  })

  test('a call that rests gives its place to another, and goes on whether there is one or not', async () => {
    const limiter = createLimiter({ initial: 1, max: 1 })
    const first = await limiter.acquire()
    const waiting = limiter.acquire()
    first.rest(true)
    first.rest(true)
    const second = await waiting
    expect(limiter.inFlight).toBe(1)
    first.rest(false)
    expect(limiter.inFlight).toBe(2)
    const third = limiter.acquire()
    first.release()
    first.rest(true)
    expect([limiter.inFlight, limiter.queued]).toEqual([1, 1])
    second.release()
    ;(await third).release()
    expect(limiter.inFlight).toBe(0)
  })

  test('halves once for all calls that were under way, however many were refused', async () => {
    const limiter = createLimiter({ initial: 64 })
    for (const permit of await fill(limiter, 64)) permit.release({ status: 429 })
    expect(limiter.limit).toBe(32)
    const [next] = await fill(limiter, 1)
    next!.release({ status: 503 })
    expect(limiter.limit).toBe(16)
  })

  test('grows slowly after an overload: about one per round of calls', async () => {
    const limiter = createLimiter({ initial: 40 })
    const [one] = await fill(limiter, 1)
    one!.release({ status: 429 })
    expect(limiter.limit).toBe(20)
    for (let round = 0; round < 5; round++) {
      const permits = await fill(limiter, limiter.limit)
      for (const permit of permits) permit.release({ status: 200, latencyMs: 10 })
    }
    expect(limiter.limit).toBeGreaterThanOrEqual(21)
    expect(limiter.limit).toBeLessThanOrEqual(26)
  })

  test('does not grow without demand, nor on the errors of the caller', async () => {
    const limiter = createLimiter({ initial: 10 })
    for (let i = 0; i < 50; i++) (await limiter.acquire()).release({ status: 200 })
    expect(limiter.limit).toBe(10)
    for (const permit of await fill(limiter, 10)) permit.release({ status: 400 })
    expect(limiter.limit).toBe(10)
  })

  test('a provider that becomes many times slower gets fewer calls', async () => {
    const limiter = createLimiter({ initial: 50, max: 50 })
    for (const permit of await fill(limiter, 50)) permit.release({ status: 200, latencyMs: 100 })
    for (let round = 0; round < 10; round++) {
      for (const permit of await fill(limiter, limiter.limit))
        permit.release({ status: 200, latencyMs: 5000 })
    }
    expect(limiter.limit).toBeLessThan(25)
    expect(limiter.limit).toBeGreaterThanOrEqual(12)
  })

  test('a caller that gives up leaves the queue', async () => {
    const limiter = createLimiter({ initial: 1, max: 1 })
    const held = await limiter.acquire()
    const stop = new AbortController()
    const waiting = limiter.acquire(stop.signal)
    const behind = limiter.acquire()
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ fault: { code: 'cancelled' } })
    held.release()
    held.release()
    expect((await behind).waitedMs).toBeGreaterThanOrEqual(0)
    expect([limiter.inFlight, limiter.queued]).toEqual([1, 0])
  })

  test('a full queue turns callers away', async () => {
    const limiter = createLimiter({ initial: 1, max: 1, maxQueue: 1 })
    const held = await limiter.acquire()
    const waiting = limiter.acquire()
    await expect(limiter.acquire()).rejects.toBeInstanceOf(ModelFault)
    held.release()
    ;(await waiting).release()
  })

  test('never loses or invents a place', async () => {
    const event = fc.constantFrom('acquire', 'ok', 'overload', 'abort')
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 200 }), async (events) => {
        const limiter = createLimiter({ initial: 4, min: 2, max: 8 })
        const held: Permit[] = []
        const stops: AbortController[] = []
        let asked = 0
        let given = 0
        let gone = 0
        for (const name of events) {
          if (name === 'acquire') {
            asked++
            const stop = new AbortController()
            stops.push(stop)
            limiter.acquire(stop.signal, `party ${asked % 3}`).then(
              (permit) => {
                given++
                held.push(permit)
              },
              () => gone++,
            )
          } else if (name === 'abort') stops.shift()?.abort()
          else held.shift()?.release({ status: name === 'ok' ? 200 : 429 })
          await Promise.resolve()
          await Promise.resolve()
          await Promise.resolve()
          expect(limiter.inFlight).toBe(held.length)
          expect(limiter.limit).toBeGreaterThanOrEqual(2)
          expect(limiter.limit).toBeLessThanOrEqual(8)
          expect(given + gone + limiter.queued).toBe(asked)
        }
        while (held.length > 0) {
          held.shift()!.release({ status: 200 })
          await Promise.resolve()
          await Promise.resolve()
          await Promise.resolve()
        }
        expect([limiter.inFlight, limiter.queued, given + gone]).toEqual([0, 0, asked])
      }),
    )
  })
})
