import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  environment,
  type Fault,
  type FaultOwner,
  foldRun,
  ModelFault,
  type OrderRecord,
  type Outcome,
  recordsOf,
  runFiles,
  unscored,
} from '../core/index.ts'
import { modelThat, never, pause, recorded, resumed, say } from './__fixtures__/recorded.ts'
import type { Progress } from './progress.ts'

const provider = (code: string, retryable: boolean): ModelFault =>
  new ModelFault({ owner: 'provider', stage: 'model', code, message: `${code} happened`, retryable })

const tasks = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `t${at}`, prompt: 'go' }))
const asking = (count = 1) => environment({ tasks: tasks(count), rewards: { any: () => 1 } })

describe('an attempt that ends in a fault is tried again by whose fault it is', () => {
  test('a provider that recovers is scored, and every try is on record', async () => {
    const model = modelThat((_request, _context, call) => {
      if (call < 2) throw provider('http_500', true)
      return 'ok'
    })
    const began = performance.now()
    const run = await recorded(asking(), { model })
    expect(run.states[0]).toMatchObject({ status: 'scored', tries: 3 })
    expect(run.attempts.map(({ try: nth, final, fault }) => [nth, final, fault?.code])).toEqual([
      [1, false, 'http_500'],
      [2, false, 'http_500'],
      [3, true, undefined],
    ])
    // 0.5 s and 1 s were waited between them.
    expect(performance.now() - began).toBeGreaterThan(1_400)
  })

  test('a provider that stays down is a fault after as many tries as were given', async () => {
    const model = modelThat(() => {
      throw provider('http_500', true)
    })
    const run = await recorded(asking(), { model }, { maxTries: 2 })
    expect(run.states[0]).toMatchObject({ status: 'faulted', tries: 2 })
    expect(run.attempts.map(({ final }) => final)).toEqual([false, true])
  })

  test('what cannot pass is tried once', async () => {
    const model = modelThat(() => {
      throw provider('http_401', false)
    })
    const run = await recorded(asking(), { model }, { maxTries: 5 })
    expect(run.states[0]).toMatchObject({ status: 'faulted', tries: 1 })
  })

  test('no agent is run again for its grader', async () => {
    let asked = 0
    const env = environment({
      tasks: tasks(1),
      rewards: {
        broken: () => {
          throw new Error('always')
        },
      },
    })
    const run = await recorded(env, {
      agent: () => {
        asked++
        return 'x'
      },
    })
    expect([asked, run.attempts.length]).toEqual([1, 1])
  })

  test('one order that waits for its next try does not hold up the others', async () => {
    const model = modelThat((_request, { task }) => {
      if (task === 't0') throw provider('http_500', true)
      return 'ok'
    })
    const run = await recorded(asking(20), { model }, { concurrency: 1, maxTries: 2 })
    const last = run.attempts.at(-1)!
    expect(last.task).toBe('t0')
    expect(run.states.filter(({ status }) => status === 'scored')).toHaveLength(19)
  })
})

describe('a run that only meets faults', () => {
  test('stops with the top error and leaves the rest of the plan open', async () => {
    const model = modelThat(() => {
      throw provider('http_401', false)
    })
    const run = await recorded(asking(200), { model }, { concurrency: 4 })
    expect(run.end.stop).toMatchObject({ code: 'only_faults' })
    expect(run.end.stop!.message).toContain('provider/http_401: http_401 happened')
    const faulted = run.states.filter(({ status }) => status === 'faulted').length
    expect(faulted).toBeGreaterThanOrEqual(30)
    expect(faulted).toBeLessThan(40)
    expect(run.states).toHaveLength(200)
  })

  test('goes on when anything at all was scored', async () => {
    const model = modelThat((_request, { task }) => {
      if (task !== 't0') throw provider('http_401', false)
      return 'ok'
    })
    const run = await recorded(asking(100), { model }, { concurrency: 1 })
    expect(run.end.stop).toBeUndefined()
    expect(run.states.filter(({ status }) => status === 'faulted')).toHaveLength(99)
  })
})

describe('the cost cap', () => {
  const priced = (costUsd: number | null) => modelThat(() => ({ message: say('ok'), costUsd }))

  test('starts nothing more once it is reached, and loses nothing', async () => {
    const run = await recorded(asking(50), { model: priced(0.1) }, { maxCostUsd: 0.45, concurrency: 1 })
    expect(run.end.stop).toMatchObject({ code: 'spend_cap' })
    expect(run.states.filter(({ status }) => status === 'scored')).toHaveLength(5)
    const capped = await resumed(run, { env: asking(50) as never, players: { agent: { model: priced(0) } } })
    expect(capped.end.stop).toMatchObject({ code: 'spend_cap' })
    expect(capped.attempts).toHaveLength(run.attempts.length)
    const whole = await resumed(run, {
      env: asking(50) as never,
      maxCostUsd: 1_000,
      players: { agent: { model: priced(0) } },
    })
    expect(whole.states.every(({ status }) => status === 'scored')).toBe(true)
    expect(whole.attempts).toHaveLength(50)
  })

  test('that cannot be kept, since a price is unknown, stops the run and says so', async () => {
    const run = await recorded(asking(50), { model: priced(null) }, { maxCostUsd: 5, concurrency: 1 })
    expect(run.end.stop).toMatchObject({ code: 'spend_cap' })
    expect(run.end.stop!.message).toContain('price')
    expect(run.only.costUsd.agent).toBeNull()
    expect(run.attempts).toHaveLength(1)
  })
})

describe('cancelling', () => {
  /** Answers at once for even tasks; odd ones take `ms`. */
  const slow = (ms: number) =>
    modelThat(async (_request, { task }) => {
      if (Number(task!.slice(1)) % 2 === 1) await pause(ms)
      return 'ok'
    })

  test('lets what runs finish within the grace, starts nothing more, and resume does the rest', async () => {
    const controller = new AbortController()
    let started = 0
    const model = modelThat(async () => {
      if (++started === 4) controller.abort()
      await pause(50)
      return 'ok'
    })
    const run = await recorded(
      asking(40),
      { model },
      { concurrency: 4, signal: controller.signal, graceMs: 20_000 },
    )
    expect(run.end.stop).toMatchObject({ code: 'cancelled' })
    expect(started).toBe(4)
    expect(run.states.filter(({ status }) => status === 'scored')).toHaveLength(4)
    expect(run.states.filter(({ status }) => status === 'pending')).toHaveLength(36)
    const whole = await resumed(run, { env: asking(40) as never, players: { agent: { model } } })
    expect(whole.states.every(({ status, tries }) => status === 'scored' && tries === 1)).toBe(true)
  })

  test('cancels what does not finish in time, and keeps what did', async () => {
    const controller = new AbortController()
    const model = modelThat(async (_request, { task }) => {
      if (task === 't3') controller.abort()
      return task === 't0' ? never() : 'ok'
    })
    const run = await recorded(
      asking(10),
      { model },
      { concurrency: 2, signal: controller.signal, graceMs: 30 },
    )
    expect(run.states[0]).toMatchObject({ status: 'cancelled' })
    expect(run.states[0]!.chosen).toMatchObject({ outcome: 'cancelled', final: false, verdict: null })
    expect(run.states.slice(1, 4).map(({ status }) => status)).toEqual(['scored', 'scored', 'scored'])
    const whole = await resumed(run, { env: asking(10) as never, players: { agent: { model: slow(1) } } })
    expect(whole.states.every(({ status }) => status === 'scored')).toBe(true)
  })

  test('at once ends what runs, also code that never ends', async () => {
    const soft = new AbortController()
    const hard = new AbortController()
    let grading = 0
    const env = environment({
      tasks: tasks(4),
      rewards: {
        any: () => {
          if (++grading === 2) {
            soft.abort()
            setTimeout(() => hard.abort(), 20)
          }
          return never()
        },
      },
    })
    const run = await recorded(
      env,
      { agent: () => 'x' },
      { concurrency: 2, signal: soft.signal, hardSignal: hard.signal, graceMs: 600_000 },
    )
    expect(run.states.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'pending', 'pending'])
  })

  test('before anything ran orders the plan and runs nothing', async () => {
    const controller = new AbortController()
    controller.abort()
    const run = await recorded(asking(5), { model: slow(0) }, { signal: controller.signal })
    expect(run.attempts).toEqual([])
    expect(run.states.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'pending'))
  })

  test('while an order waits for its next try leaves that order open', async () => {
    const controller = new AbortController()
    let down = true
    const model = modelThat(() => {
      if (!down) return 'ok'
      setTimeout(() => controller.abort(), 50)
      throw provider('http_500', true)
    })
    const run = await recorded(asking(1), { model }, { signal: controller.signal })
    expect(run.states[0]).toMatchObject({ status: 'pending', tries: 1 })
    down = false
    const whole = await resumed(run, { env: asking(1) as never, players: { agent: { model } } })
    expect(whole.states[0]).toMatchObject({ status: 'scored', tries: 2 })
  })

  test('in the middle of grading keeps the verdict', async () => {
    const controller = new AbortController()
    const env = environment({
      tasks: tasks(1),
      rewards: {
        any: async () => {
          controller.abort()
          await pause(60)
          return 1
        },
      },
    })
    const run = await recorded(env, { agent: () => 'x' }, { signal: controller.signal, graceMs: 1 })
    expect(run.states[0]).toMatchObject({ status: 'scored' })
  })
})

test('a display that breaks does not cost the run', async () => {
  const run = await recorded(
    asking(5),
    { agent: () => 'x' },
    {
      onProgress: () => {
        throw new Error('no terminal')
      },
    },
  )
  expect(run.states.every(({ status }) => status === 'scored')).toBe(true)
})

/** What may befall a rollout, drawn at random by task, repeat and try. */
type Mishap =
  | 'none'
  | 'provider'
  | 'provider_for_good'
  | 'world_open'
  | 'world_reply'
  | 'finish'
  | 'reward'
  | 'reward_nan'
  | 'unscored'
  | 'agent_loops'
const mishaps: Mishap[] = [
  'none',
  'provider',
  'provider_for_good',
  'world_open',
  'world_reply',
  'finish',
  'reward',
  'reward_nan',
  'unscored',
  'agent_loops',
]

test('the sum of outcomes and faults is the orders, and each has one final attempt, whatever happens', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        tasks: fc.integer({ min: 1, max: 6 }),
        repeats: fc.integer({ min: 1, max: 3 }),
        concurrency: fc.integer({ min: 1, max: 8 }),
        maxTries: fc.integer({ min: 1, max: 3 }),
        fate: fc.infiniteStream(fc.constantFrom(...mishaps, 'none' as const, 'none' as const)),
      }),
      async ({ tasks: count, repeats, concurrency, maxTries, fate }) => {
        const draw = (): Mishap => fate.next().value as Mishap
        const env = environment({
          tasks: tasks(count),
          needs: ['turns'],
          limits: { turns: 3 },
          world() {
            const mine = draw()
            if (mine === 'world_open') throw new Error('open')
            return {
              reply(content) {
                if (mine === 'world_reply') throw new Error('reply')
                return content === 'loop' ? { content: 'on' } : { content: '', done: 'over' }
              },
              finish() {
                if (mine === 'finish') throw new Error('finish')
                return { mine }
              },
            }
          },
          rewards: {
            any({ state }) {
              if (state.mine === 'reward') throw new Error('reward')
              if (state.mine === 'reward_nan') return Number.NaN
              return state.mine === 'unscored' ? unscored('declined') : 1
            },
          },
        })
        const model = modelThat(() => {
          const mine = draw()
          if (mine === 'provider_for_good') throw provider('http_400', false)
          // No wait between the tries: a fault of the platform is tried again at once.
          if (mine === 'provider') {
            throw new ModelFault({ ...provider('lost', true).fault, owner: 'platform' })
          }
          return mine === 'agent_loops' ? 'loop' : 'ok'
        })
        let last: Progress | undefined
        const run = await recorded(
          env,
          { model },
          {
            repeats,
            concurrency,
            maxTries,
            onProgress: (progress) => {
              last = progress
            },
          },
        )
        const orders: OrderRecord[] = []
        for await (const { value } of recordsOf(`${run.dir}/${runFiles.orders}`)) {
          if ((value as OrderRecord).schema === 'quintain.order') orders.push(value as OrderRecord)
        }
        expect(orders).toHaveLength(count * repeats)
        for (const order of orders) {
          const attempts = run.attempts.filter((attempt) => attempt.order === order.id)
          expect(attempts.filter(({ final }) => final)).toHaveLength(1)
          expect(attempts.at(-1)!.final).toBe(true)
          expect(attempts.length).toBeLessThanOrEqual(maxTries)
          expect(attempts.map(({ try: nth }) => nth)).toEqual(attempts.map((_, at) => at + 1))
        }
        for (const attempt of run.attempts) {
          // A number is there exactly when graders gave one; a fault never has one.
          if (attempt.fault !== null) expect(attempt.verdict).toBeNull()
          else expect(attempt.verdict).not.toBeNull()
        }
        const { states } = await foldRun(run.dir)
        const statuses: Record<string, number> = {}
        const ends: Partial<Record<Outcome | FaultOwner, number>> = {}
        for (const { status, chosen } of states) {
          statuses[status] = (statuses[status] ?? 0) + 1
          const end = (chosen!.fault as Fault | null)?.owner ?? chosen!.outcome!
          ends[end] = (ends[end] ?? 0) + 1
        }
        expect(Object.values(ends).reduce((sum, one) => sum + one, 0)).toBe(orders.length)
        expect(statuses['pending'] ?? 0).toBe(0)
        expect(last).toMatchObject({
          orders: orders.length,
          done: orders.length,
          running: 0,
          scored: statuses['scored'] ?? 0,
          unscored: statuses['unscored'] ?? 0,
          faulted: statuses['faulted'] ?? 0,
          retried: run.attempts.length - orders.length,
        })
      },
    ),
    { numRuns: 30 },
  )
})
