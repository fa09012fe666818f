import { afterEach, describe, expect, test } from 'vitest'
import { type Model, type ModelContext, ModelFault, type ModelRequest } from '../core/model.ts'
import { type ChatModelOptions, createChatModel } from './chat-client.ts'
import { type FakeModel, type FakeModelOptions, startFakeModel } from './fake-server.ts'
import { createLimiter } from './limiter.ts'

const request: ModelRequest = { messages: [{ role: 'user', content: 'hello' }] }
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function setUp(
  server: FakeModelOptions,
  client: Partial<ChatModelOptions> = {},
): Promise<{ fake: FakeModel; model: Model }> {
  const fake = await startFakeModel(server)
  const model = createChatModel({ model: 'fake', baseUrl: fake.url, retry: { maxRetries: 0 }, ...client })
  closers.push(
    () => fake.close(),
    () => model.close?.(),
  )
  return { fake, model }
}

/** A context that keeps what it is told, and how long it was told to wait. */
function listener(signal: AbortSignal = new AbortController().signal): {
  context: ModelContext
  told: string[]
  waitedMs(): number
} {
  const told: string[] = []
  let since = 0
  let waited = 0
  return {
    told,
    waitedMs: () => waited,
    context: {
      signal,
      onWait(waiting, why) {
        told.push(`${waiting ? 'wait' : 'go'} ${why}`)
        if (waiting) since = performance.now()
        else waited += performance.now() - since
      },
    },
  }
}

const backOff = ['wait backoff', 'go backoff']
const queue = ['wait queue', 'go queue']

describe('a call tells that it waits', () => {
  test('not at all when it need not', async () => {
    const { model } = await setUp({}, { limiter: createLimiter({ initial: 1 }) })
    const { context, told } = listener()
    await model.generate(request, context)
    expect(told).toEqual([])
  })

  test('for each back-off; a 429 twice and then a reply', async () => {
    const { model } = await setUp(
      {
        latencyMs: 30,
        script: [
          { kind: 'status', status: 429, headers: { 'retry-after-ms': '40' } },
          { kind: 'status', status: 429, headers: { 'retry-after-ms': '40' } },
        ],
      },
      { retry: { maxRetries: 2 } },
    )
    const { context, told, waitedMs } = listener()
    const reply = await model.generate(request, context)
    expect(told).toEqual([...backOff, ...backOff])
    expect(waitedMs()).toBeGreaterThan(75)
    // Two failed tries of 30 ms each are no work of the model either; the third, which succeeded, is.
    const { waitMs, totalMs } = reply.timing!
    const ledger = reply.retries!.reduce((sum, entry) => sum + entry.tookMs + entry.waitedMs, 0)
    expect(waitMs).toBeGreaterThanOrEqual(ledger)
    expect(waitMs).toBeGreaterThan(waitedMs() + 50)
    expect(totalMs - waitMs).toBeGreaterThan(25)
  })

  test('for a place at the provider, and only the one that queues', async () => {
    const { model } = await setUp({ latencyMs: 40 }, { limiter: createLimiter({ initial: 1, max: 1 }) })
    const first = listener()
    const second = listener()
    const replies = [model.generate(request, first.context), model.generate(request, second.context)]
    const [, waited] = await Promise.all(replies)
    expect(first.told).toEqual([])
    expect(second.told).toEqual(queue)
    expect(second.waitedMs()).toBeGreaterThan(30)
    expect(waited!.timing!.waitMs).toBeGreaterThan(30)
  })

  test('for a connection, when all are taken', async () => {
    const { model } = await setUp({ latencyMs: 40 }, { connections: 1 })
    const first = listener()
    const second = listener()
    await Promise.all([model.generate(request, first.context), model.generate(request, second.context)])
    expect(first.told).toEqual([])
    expect(second.told).toEqual(queue)
    expect(second.waitedMs()).toBeGreaterThan(30)
  })
})

describe('each wait has its end', () => {
  async function faultCode(promise: Promise<unknown>): Promise<string> {
    const thrown = await promise.catch((error: unknown) => error)
    expect(thrown).toBeInstanceOf(ModelFault)
    return (thrown as ModelFault).fault.code
  }

  test('when the tries are used up', async () => {
    const { model } = await setUp(
      { otherwise: { kind: 'status', status: 500 } },
      { retry: { maxRetries: 2, baseMs: 1 } },
    )
    const { context, told } = listener()
    expect(await faultCode(model.generate(request, context))).toBe('http_500')
    expect(told).toEqual([...backOff, ...backOff])
  })

  test('when nothing is tried again: a lasting failure, or a wait above the cap', async () => {
    const { model } = await setUp(
      {
        script: [
          { kind: 'status', status: 400 },
          { kind: 'status', status: 429, headers: { 'retry-after': '3600' } },
        ],
      },
      { retry: { maxRetries: 3, maxWaitMs: 1000 } },
    )
    const { context, told } = listener()
    expect(await faultCode(model.generate(request, context))).toBe('bad_request')
    expect(await faultCode(model.generate(request, context))).toBe('rate_limited')
    expect(told).toEqual([])
  })

  test('when it is cancelled in a back-off', async () => {
    const { model } = await setUp(
      { otherwise: { kind: 'status', status: 429, headers: { 'retry-after': '30' } } },
      { retry: { maxRetries: 3 } },
    )
    const stop = new AbortController()
    const { context, told } = listener(stop.signal)
    const code = faultCode(model.generate(request, context))
    await expect.poll(() => told).toEqual(['wait backoff'])
    stop.abort()
    expect(await code).toBe('cancelled')
    expect(told).toEqual(backOff)
  })

  test.each<[string, Partial<ChatModelOptions>]>([
    ['the queue', { limiter: createLimiter({ initial: 1, max: 1 }) }],
    ['the queue for a connection', { connections: 1 }],
  ])('when it is cancelled in %s', async (_name, client) => {
    const { model } = await setUp({ otherwise: { kind: 'hang' } }, client)
    const stopFirst = new AbortController()
    const first = faultCode(model.generate(request, { signal: stopFirst.signal }))
    const stop = new AbortController()
    const { context, told } = listener(stop.signal)
    const code = faultCode(model.generate(request, context))
    await expect.poll(() => told).toEqual(['wait queue'])
    stop.abort()
    expect(await code).toBe('cancelled')
    expect(told).toEqual(queue)
    stopFirst.abort()
    expect(await first).toBe('cancelled')
  })

  test('when the queue is full', async () => {
    const limiter = createLimiter({ initial: 1, max: 1, maxQueue: 0 })
    const held = await limiter.acquire()
    const { model } = await setUp({}, { limiter })
    const { context, told } = listener()
    expect(await faultCode(model.generate(request, context))).toBe('queue_full')
    expect(told).toEqual(queue)
    held.release()
  })
})

test('a stream that nobody reads makes no other call wait', async () => {
  const chunk = { choices: [{ index: 0, delta: { content: 'one' } }] }
  const last = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
  const { model } = await setUp(
    { script: [{ kind: 'stream', chunks: [chunk, chunk, last, '[DONE]'], gapMs: 20 }] },
    { limiter: createLimiter({ initial: 1, max: 1 }), deadlines: { idleMs: 2_000 } },
  )
  const { signal } = new AbortController()
  let read = (): void => {}
  const told: unknown[] = []
  const unread = model.generate(request, {
    signal,
    attempt: 'unread',
    onDelta(delta) {
      told.push(delta)
      return told.length > 1 ? undefined : new Promise<void>((resolve) => (read = resolve))
    },
  })
  await expect.poll(() => told.length).toBe(1)
  const other = await model.generate(request, { signal, attempt: 'other' })
  expect(other.message.content).toBe('ok')
  expect(told).toHaveLength(1)
  read()
  expect((await unread).message.content).toBe('oneone')
})
