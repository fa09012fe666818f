import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type SampleAttempt, type SampleOrder, type SampleRun, writeSampleRun } from './sample-run.ts'
import { summarize } from './summarize.ts'
import { formatText } from './text.ts'

let root: string
let number = 0
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'quintain-summary-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function summaryOf(run: SampleRun, options?: { minCoverage?: number }) {
  const dir = join(root, String(number++))
  await writeSampleRun(dir, run)
  return summarize(dir, options)
}

const order = (task: string, ...attempts: SampleAttempt[]): SampleOrder => ({ task, attempts })
const pass = { reward: 1 }
const fail = { reward: 0 }
const fault = { fault: {} }

describe('counting', () => {
  test('every order has one status, and they add up', async () => {
    const summary = await summaryOf({
      orders: [
        order('a', pass),
        order('b', fail),
        order('c', { unscored: 'no_answer' }),
        order('d', fault),
        order('e', { outcome: 'cancelled' }),
        order('f'),
      ],
    })
    expect(summary.orders).toBe(6)
    expect(summary.status).toEqual({ scored: 2, unscored: 1, faulted: 1, cancelled: 1, pending: 1 })
    expect(summary.coverage).toBeCloseTo(2 / 6)
    expect(summary.complete).toBe(false)
    expect(summary.unscored).toEqual([{ component: 'solved', reason: 'no_answer', count: 1 }])
    expect(summary.faults).toMatchObject([
      { owner: 'provider', code: 'http_500', count: 1, example: 'broke' },
    ])
  })

  test('turns, tool calls and their errors are those of agents whose attempt is no fault', async () => {
    const counts = (toolCalls: number) => ({
      turns: toolCalls,
      toolCalls,
      toolErrors: { malformed: toolCalls },
    })
    const summary = await summaryOf({
      orders: [
        order('a', { reward: 1, counts: counts(2) }),
        order('b', { fault: { code: 'session_expired' }, counts: counts(40) }),
      ],
    })
    expect(summary.turns).toMatchObject({ mean: 2, max: 2 })
    expect(summary.toolCalls).toBe(2)
    expect(summary.toolErrors).toEqual({ malformed: 2 })
    const faulted = await summaryOf({ orders: [order('b', { fault: {}, counts: counts(40) })] })
    expect(faulted.turns.mean).toBeNull()
    expect(formatText(faulted)).not.toMatch(/tool calls|turns/)
  })

  test('why agents failed is told, the commonest reason first, with a warning where most did', async () => {
    const failed = (stop?: string) => ({
      reward: 0,
      outcome: 'agent_error' as const,
      ...(stop === undefined ? {} : { stop }),
    })
    const orders = [
      order('a', failed('no such file')),
      order('b', failed('exit 1: boom')),
      order('c', failed('exit 1: boom')),
      order('d', failed()),
      order('e', fault, failed('tried again')),
    ]
    const summary = await summaryOf({ orders: [...orders, order('f', pass)] })
    expect(summary.agentErrors?.[0]).toEqual({ reason: 'exit 1: boom', count: 2 })
    expect(summary.agentErrors).toHaveLength(4)
    expect(summary.warnings).toMatchObject([
      { code: 'mostly_agent_errors', message: expect.stringContaining('exit 1: boom') },
    ])
    expect(formatText(summary)).toMatch(/agent errors +2: exit 1: boom/)
    const well = await summaryOf({ orders: [order('a', pass), order('b', pass), order('c', failed('x'))] })
    expect(well.warnings).toEqual([])
    expect((await summaryOf({ orders: [order('a', pass)] })).agentErrors).toBeUndefined()
  })

  test('outcomes, faults and pending orders add up to the orders, whatever happened', async () => {
    const attempt = fc.oneof(
      fc.record({
        reward: fc.constantFrom(0, 1),
        outcome: fc.constantFrom('completed', 'wall_limit', 'truncated'),
      }),
      fc.record({ unscored: fc.constant('because'), outcome: fc.constant('refused') }),
      fc.record({ outcome: fc.constant('cancelled') }),
      fc.record({
        fault: fc.record({ owner: fc.constantFrom('provider', 'world') }),
        outcome: fc.constantFrom(null, 'completed'),
      }),
    ) as fc.Arbitrary<SampleAttempt>
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({ task: fc.constantFrom('a', 'b', 'c'), attempts: fc.array(attempt, { maxLength: 3 }) }),
          {
            maxLength: 12,
          },
        ),
        async (orders) => {
          const summary = await summaryOf({ orders })
          const total = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)
          const faults = summary.faults.reduce((sum, { count }) => sum + count, 0)
          expect(total(summary.status)).toBe(orders.length)
          expect(total(summary.outcomes) + faults + summary.status.pending).toBe(orders.length)
          expect(summary.reward.n).toBe(summary.status.scored)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('an attempt with a reward outranks a newer one without', async () => {
    const summary = await summaryOf({
      orders: [order('a', { reward: 0.5, final: false }, fault), order('b', pass)],
    })
    expect(summary.status.scored).toBe(2)
    expect(summary.reward.observed).toBe(0.75)
  })

  test('retries are counted and their faults told apart from those that stayed', async () => {
    const rateLimited = { fault: { code: 'rate_limited' }, final: false }
    const summary = await summaryOf({
      orders: [order('a', rateLimited, rateLimited, pass), order('b', rateLimited, fault)],
    })
    expect(summary.attempts).toEqual({ total: 5, retries: 3 })
    expect(summary.retriedFaults).toMatchObject([{ code: 'rate_limited', count: 3 }])
    expect(summary.faults).toMatchObject([{ code: 'http_500', count: 1 }])
  })
})

describe('headlines', () => {
  const broken = { orders: [order('a', pass), order('a', fault), order('b', fault), order('b', fault)] }

  test('a single survivor is no headline, and the bounds say what could have been', async () => {
    const { success, reward } = await summaryOf(broken)
    expect(success).toMatchObject({
      value: null,
      reason: 'below_coverage',
      observed: 1,
      bounds: [0.25, 1],
      interval: [0, 1],
    })
    expect(reward).toMatchObject({
      value: null,
      reason: 'below_coverage',
      observed: 1,
      interval: null,
      bounds: null,
    })
    expect(reward.tasks).toEqual({ scored: 1, planned: 2 })
  })

  test('a declared minimum gives one', async () => {
    const { success } = await summaryOf(broken, { minCoverage: 0.25 })
    expect(success.value).toBe(1)
  })

  test('a timeout that was graded counts as the failure it is', async () => {
    const { success, coverage } = await summaryOf({
      orders: [order('a', pass), order('b', { reward: 0, outcome: 'wall_limit' })],
    })
    expect(success.value).toBe(0.5)
    expect(coverage).toBe(1)
  })

  test('repeats do not count as new tasks', async () => {
    const tasks = Array.from({ length: 10 }, (_, i) => `t${i}`)
    const once = await summaryOf({ orders: tasks.map((task, i) => order(task, i < 5 ? pass : fail)) })
    const often = await summaryOf({
      orders: tasks.flatMap((task, i) => Array.from({ length: 8 }, () => order(task, i < 5 ? pass : fail))),
    })
    const width = ([low, high]: [number, number]) => high - low
    expect(width(often.success.interval)).toBeGreaterThan(width(once.success.interval) * 0.9)
    const luck = await summaryOf({
      orders: tasks.flatMap((task, i) =>
        Array.from({ length: 8 }, (_, n) => order(task, i < 5 === n < 7 ? pass : fail)),
      ),
    })
    expect(luck.again.success.method).toBe('t over repeats inside tasks')
    expect(width(luck.again.success.interval)).toBeLessThan(width(luck.success.interval) / 2)
  })

  test('repeats that agree give no interval of these tasks again, for the rate as for the reward', async () => {
    const whole = [order('a', pass), order('a', pass), order('b', fail), order('b', fail)]
    const { again } = await summaryOf({ orders: whole })
    const agreed = { value: 0.5, method: 'none', reason: 'repeats_agree' }
    expect(again.success).toMatchObject({ ...agreed, interval: [0, 1] })
    expect(again.reward).toMatchObject({ ...agreed, interval: null })
    const half = { reward: 0.5 }
    const partial = await summaryOf({ orders: [...whole, order('c', half), order('c', half)] })
    expect(partial.again.reward).toMatchObject({ ...agreed, interval: null })
  })

  test('a reward of zeros and ones is a rate, all alike or not', async () => {
    const tasks = Array.from({ length: 8 }, (_, i) => `t${i}`)
    for (const solved of [0, 3, 8]) {
      const { reward, success } = await summaryOf({
        orders: tasks.flatMap((task, i) => [order(task, i < solved ? pass : fail), order(task, fail)]),
      })
      expect(reward.interval).toEqual(success.interval)
      expect(reward.method).toBe(success.method)
    }
    const all = await summaryOf({ orders: tasks.map((task) => order(task, pass)) })
    expect(all.reward.interval?.[0]).toBeCloseTo(0.676, 3)
    const shaped = await summaryOf({
      orders: [order('a', pass), order('b', fail), order('c', { reward: 0.5 })],
    })
    expect(shaped.reward.method).toBe('t over tasks')
  })

  test('one task, all equal, nothing ordered: no interval, with the reason', async () => {
    const one = await summaryOf({ orders: [order('a', pass), order('a', fail)] })
    expect(one.reward).toMatchObject({ value: 0.5, interval: null, reason: 'single_task' })
    expect(one.success).toMatchObject({ value: 0.5, interval: [0, 1], method: 'none', reason: 'single_task' })
    const equal = await summaryOf({ orders: [order('a', { reward: 0.5 }), order('b', { reward: 0.5 })] })
    expect(equal.reward).toMatchObject({ value: 0.5, interval: null, reason: 'no_spread' })
    const none = await summaryOf({ orders: [] })
    expect(none.reward).toMatchObject({ value: null, reason: 'nothing_ordered' })
    expect(none.coverage).toBeNull()
  })

  test('all solved is not certainty', async () => {
    const { success } = await summaryOf({ orders: ['a', 'b', 'c', 'd'].map((task) => order(task, pass)) })
    expect(success.value).toBe(1)
    expect(success.interval[0]).toBeCloseTo(0.5101, 3)
  })

  test('an environment that does not say what success is has no success rate', async () => {
    const { success, reward } = await summaryOf({
      environment: { success: false },
      orders: [order('a', pass), order('b', fail)],
    })
    expect(success).toMatchObject({ value: null, reason: 'not_declared' })
    expect(reward.value).toBe(0.5)
  })
})

describe('money, tokens, time', () => {
  test('tries that were thrown away were paid for; ledgers stay apart; unknown is not zero', async () => {
    const usage = { fresh: 10, cacheRead: 5, cacheWrite: 0, output: 2 }
    const summary = await summaryOf({
      orders: [
        order(
          'a',
          { ...fault, usage: { agent: usage }, costUsd: { agent: 0.5 }, final: false },
          { ...pass, usage: { agent: usage, judge: usage }, costUsd: { agent: 0.25, judge: 0.1 } },
        ),
        order('b', { ...pass, usage: { agent: usage }, costUsd: { agent: 0.25, judge: null } }),
      ],
    })
    expect(summary.usage.agent).toEqual({ fresh: 30, cacheRead: 15, cacheWrite: 0, output: 6 })
    expect(summary.usage.judge).toEqual(usage)
    expect(summary.usage.simulator).toBeUndefined()
    expect(summary.cost.agent).toEqual({ usd: 1, knownUsd: 1, unknownAttempts: 0 })
    expect(summary.cost.judge).toEqual({ usd: null, knownUsd: 0.1, unknownAttempts: 1 })
    expect(summary.cost.total.usd).toBeNull()
    expect(summary.cost.total.knownUsd).toBeCloseTo(1.1)
  })

  test('percentiles of each clock', async () => {
    const summary = await summaryOf({
      orders: Array.from({ length: 101 }, (_, i) =>
        order(`t${i}`, { ...pass, timing: { wallMs: i, agentMs: i / 2, gradeMs: 3 } }),
      ),
    })
    expect(summary.time.rollout).toMatchObject({ p50: 50, p95: 95, p99: 99, max: 100 })
    expect(summary.time.agent.p50).toBe(25)
    expect(summary.time.grading).toMatchObject({ p50: 3, p99: 3, total: 303 })
  })

  test('a pause between two sittings is not run time', async () => {
    const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()
    const span = (from: number, to: number) => ({ ...pass, start: at(from), end: at(to) })
    const summary = await summaryOf({
      orders: [order('a', span(0, 10)), order('b', span(5, 12)), order('c', span(1000, 1003))],
    })
    expect(summary.activeMs).toBe(15_000)
    expect(summary.start).toBe(at(0))
    expect(summary.end).toBe(at(1003))
  })
})

describe('warnings', () => {
  test('a run in which every reply was cut off says so', async () => {
    const cut = { reward: 0, outcome: 'truncated' } as const
    const summary = await summaryOf({ orders: [order('a', cut), order('b', cut)] })
    expect(summary.warnings.map(({ code }) => code)).toEqual(['all_truncated'])
  })

  test('a run that is nothing but faults says so', async () => {
    const summary = await summaryOf({ orders: [order('a', fault)] })
    expect(summary.warnings.map(({ code }) => code)).toEqual(['all_faulted'])
  })
})

test('components and metrics are means over the orders that have them', async () => {
  const summary = await summaryOf({
    environment: {
      rewards: { exact: { kind: 'reward', weight: 1 }, style: { kind: 'reward', weight: 0.5 } },
      metrics: ['length'],
    },
    orders: [
      order('a', { reward: 1, rewards: { exact: 1, style: 0 }, metrics: { length: 10 } }),
      order('b', { unscored: 'no_answer', rewards: { exact: null, style: 1 }, metrics: { length: null } }),
    ],
  })
  expect(summary.rewards).toEqual({
    exact: { mean: 1, n: 1, planned: 2, kind: 'reward', weight: 1 },
    style: { mean: 0.5, n: 2, planned: 2, kind: 'reward', weight: 0.5 },
  })
  expect(summary.metrics).toEqual({ length: { mean: 10, n: 1, planned: 2 } })
})
