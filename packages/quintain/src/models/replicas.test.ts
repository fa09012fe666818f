import { describe, expect, test } from 'vitest'
import { type Model, type ModelContext, ModelFault, type ModelResponse } from '../core/model.ts'
import { createReplicas } from './replicas.ts'

const request = { messages: [] }
const { signal } = new AbortController()
const reply: ModelResponse = {
  message: { role: 'assistant', content: 'ok' },
  finish: 'stop',
  timing: { totalMs: 1, waitMs: 0 },
}

function fault(code: string): ModelFault {
  return new ModelFault(
    { owner: 'provider', stage: 'model', code, message: code, retryable: true },
    { retries: [{ code, tookMs: 5, waitedMs: 2 }] },
  )
}

/** Replicas that fail as they are told, a clock that stands still, and who was asked. */
function setUp(count: number): {
  model: Model
  failing: Map<number, string>
  asked: number[]
  clock: { ms: number }
} {
  const failing = new Map<number, string>()
  const asked: number[] = []
  const clock = { ms: 0 }
  const models = Array.from(
    { length: count },
    (_, index): Model => ({
      id: 'policy',
      endpoint: `http://replica-${index}`,
      async generate(_request, context) {
        asked.push(index)
        const code = failing.get(index)
        if (code?.startsWith('told ')) await context.onDelta?.({ type: 'text', text: 'x' })
        if (code !== undefined) throw fault(code.replace('told ', ''))
        return reply
      },
    }),
  )
  const model = createReplicas(models, { downMs: 100, maxDownMs: 400, now: () => clock.ms })
  return { model, failing, asked, clock }
}

const of = (attempt: string, more: Partial<ModelContext> = {}): ModelContext => ({ signal, attempt, ...more })

describe('an attempt', () => {
  test('stays with its replica, and attempts spread over all', async () => {
    const { model, asked } = setUp(4)
    const counts = [0, 0, 0, 0]
    for (let attempt = 0; attempt < 400; attempt++) {
      await model.generate(request, of(`a${attempt}`))
      await model.generate(request, of(`a${attempt}`))
      const [first, second] = asked.splice(0)
      expect(second).toBe(first)
      counts[first!]!++
    }
    for (const count of counts) expect(count).toBeGreaterThan(50)
  })

  test('moves when its replica is down, says so, and stays where it went', async () => {
    const { model, failing, asked, clock } = setUp(3)
    await model.generate(request, of('a'))
    const [own] = asked.splice(0)
    failing.set(own!, 'connection_refused')
    const moved = await model.generate(request, of('a'))
    expect(moved.flags).toEqual(['replica_moved'])
    expect(moved.retries).toEqual([{ code: 'connection_refused', tookMs: 5, waitedMs: 2 }])
    expect(moved.timing).toEqual({ totalMs: 8, waitMs: 7 })
    const [, to] = asked.splice(0)
    failing.clear()
    clock.ms += 10_000
    expect((await model.generate(request, of('a'))).flags).toBeUndefined()
    expect(asked).toEqual([to])
  })

  test('does not move for what another replica would refuse too', async () => {
    const { model, failing, asked } = setUp(3)
    for (const index of [0, 1, 2]) failing.set(index, 'bad_request')
    await expect(model.generate(request, of('a'))).rejects.toThrow('bad_request')
    expect(asked).toHaveLength(1)
  })

  test('does not move once a piece of its reply was told', async () => {
    const { model, failing, asked } = setUp(3)
    for (const index of [0, 1, 2]) failing.set(index, 'told stream_incomplete')
    await expect(model.generate(request, of('a', { onDelta: () => {} }))).rejects.toThrow('stream_incomplete')
    expect(asked).toHaveLength(1)
  })
})

describe('a replica that is down', () => {
  test('is left alone for longer each time, and asked again after', async () => {
    const { model, failing, asked, clock } = setUp(2)
    const homes: string[] = []
    const idle = setUp(2)
    for (let index = 0; homes.length < 8; index++) {
      await idle.model.generate(request, of(`x${index}`))
      if (idle.asked.pop() === 0) homes.push(`x${index}`)
    }
    failing.set(0, 'timeout_connect')
    // Down for 100, 200, 400 ms, and never for longer than that.
    for (const [at, expected] of [
      [0, [0, 1]],
      [99, [1]],
      [100, [0, 1]],
      [299, [1]],
      [300, [0, 1]],
      [699, [1]],
      [700, [0, 1]],
      [1100, [0, 1]],
    ] as const) {
      clock.ms = at
      await model.generate(request, of(homes.pop()!))
      expect(asked.splice(0), `at ${at} ms`).toEqual(expected)
    }
  })

  test('is asked all the same when all are, and the fault holds the whole ledger', async () => {
    const { model, failing, asked } = setUp(2)
    failing.set(0, 'http_503')
    failing.set(1, 'http_503')
    const thrown = await model.generate(request, of('a')).catch((error: unknown) => error)
    expect(thrown).toMatchObject({ fault: { code: 'http_503' }, retries: [{}, {}] })
    expect(asked.splice(0)).toHaveLength(2)
    await expect(model.generate(request, of('a'))).rejects.toThrow('http_503')
    expect(asked).toHaveLength(1)
  })

  test('counts calls that fail together once', async () => {
    const { model, failing, asked, clock } = setUp(2)
    failing.set(0, 'closed_early')
    await Promise.all(Array.from({ length: 50 }, (_, index) => model.generate(request, of(`a${index}`))))
    failing.clear()
    asked.length = 0
    clock.ms += 101
    for (let index = 50; index < 90; index++) await model.generate(request, of(`a${index}`))
    expect(asked).toContain(0)
  })
})

test('replicas are of one policy', () => {
  expect(() => createReplicas([])).toThrow(/no replicas/)
  const other = (id: string): Model => ({ id, generate: async () => reply })
  expect(() => createReplicas([other('a'), other('b')])).toThrow(/no replicas of one policy/)
})
