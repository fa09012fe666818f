import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { type Operations, openOperations } from './operations.ts'
import { prometheusText } from './prometheus.ts'

let open: Operations | undefined
afterEach(async () => {
  await open?.close()
  open = undefined
})

async function opened(core: SessionCore = fakeCore({ kind: 'game', most: 2 })) {
  open = await openOperations({ cores: [core], port: 0, log: () => {} })
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${open!.url}${path}`, init)
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  }
  return { core, get }
}

/** A reader of the text format as its document has it: lines of series under the family that was announced before. */
function read(text: string): Map<string, number> {
  const series = new Map<string, number>()
  const families = new Map<string, string>()
  let family = ''
  expect(text === '' || text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n').slice(0, -1)) {
    const [, help] = /^# HELP ([a-z_]+) (?:[^\\\n]|\\\\|\\n)*$/.exec(line) ?? []
    if (help !== undefined) continue
    const [, name, type] = /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (name !== undefined && type !== undefined) {
      expect(families.has(name), `${name} is announced once`).toBe(false)
      families.set(name, type)
      family = name
      continue
    }
    const sample = /^([a-z_]+)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*\})? (-?[0-9.e+-]+)$/.exec(line)
    expect(sample, line).not.toBeNull()
    const bare =
      families.get(family) === 'histogram' ? sample![1]!.replace(/_(bucket|sum|count)$/, '') : sample![1]
    expect(bare).toBe(family)
    const key = sample![1]! + (sample![2] ?? '')
    expect(series.has(key), `${key} is there once`).toBe(false)
    series.set(key, Number(sample![3]))
  }
  return series
}

describe('the address of operations', () => {
  test('says that the server lives, and that it takes sessions until it drains', async () => {
    const { core, get } = await opened()
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok\n' })
    expect(await get('/readyz')).toMatchObject({ status: 200, text: 'ready\n' })
    await core.drain(0)
    expect(await get('/healthz')).toMatchObject({ status: 200 })
    expect(await get('/readyz')).toMatchObject({ status: 503, text: 'draining\n' })
    expect(read((await get('/metrics')).text).get('quintain_draining{environment="fake"}')).toBe(1)
  })

  test('counts sessions, refusals and steps, and shows nothing of them', async () => {
    const { core, get } = await opened()
    const first = await core.create({ task: { id: 'train-0' }, key: 'canary-key' })
    await core.create({ task: { split: 'test', index: 1 } })
    await expect(core.create({ task: { id: 'train-1' } })).rejects.toMatchObject({ code: 'at_capacity' })
    await first.act({ content: 'canary-words' })
    await first.act({ content: 'right' })
    const { text, type } = await get('/metrics')
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8')
    const series = read(text)
    const of = (name: string) => series.get(`quintain_${name}`)
    expect(of('sessions_capacity{environment="fake"}')).toBe(2)
    expect(of('sessions_open{environment="fake"}')).toBe(1)
    expect(of('sessions_created_total{environment="fake"}')).toBe(2)
    expect(of('requests_refused_total{environment="fake",code="at_capacity"}')).toBe(1)
    expect(text).not.toMatch(/canary|train-0/)
    expect(text).not.toContain(first.handle)
  })

  test('tells faults by owner and code, and how long steps took', async () => {
    const core = fakeCore()
    const stats = {
      ...core.stats(),
      failed: { 'world/world_error': 3, 'platform/session_closed': 1 },
      steps: {
        count: 6,
        totalMs: 8_400,
        buckets: [
          { ms: 1, count: 2 },
          { ms: 50, count: 3 },
        ],
      },
    }
    const { get } = await opened({ ...core, stats: () => stats })
    const series = read((await get('/metrics')).text)
    const of = (name: string) => series.get(`quintain_${name}`)
    expect(of('episodes_failed_total{environment="fake",owner="world",code="world_error"}')).toBe(3)
    expect(of('step_seconds_bucket{environment="fake",le="0.001"}')).toBe(2)
    expect(of('step_seconds_bucket{environment="fake",le="0.05"}')).toBe(5)
    expect(of('step_seconds_bucket{environment="fake",le="+Inf"}')).toBe(6)
    expect(of('step_seconds_count{environment="fake"}')).toBe(6)
    expect(of('step_seconds_sum{environment="fake"}')).toBe(8.4)
  })

  test('answers nothing else: no other path, method or host', async () => {
    const { get } = await opened()
    expect(await get('/')).toMatchObject({ status: 404 })
    expect(await get('/metrics', { method: 'POST' })).toMatchObject({ status: 405 })
    expect(await get('/metrics', { headers: { origin: 'https://evil.example' } })).toMatchObject({
      status: 403,
    })
  })
})

describe('the text format', () => {
  test('is readable whatever labels hold', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: 'binary' }), { maxLength: 5 }),
        fc.array(fc.nat(1000), { minLength: 3, maxLength: 3 }),
        (values, counts) => {
          const series = read(
            prometheusText([
              {
                name: 'a',
                help: values.join(' '),
                type: 'gauge',
                samples: values.map((code) => ({ labels: { code }, value: 1 })),
              },
              { name: 'none', help: '', type: 'counter', samples: [] },
              {
                name: 'h',
                help: '',
                type: 'histogram',
                samples: [
                  {
                    labels: {},
                    buckets: counts.map((count, place) => ({ most: place + 1, count })),
                    count: 2_000,
                    sum: 7,
                  },
                ],
              },
            ]),
          )
          expect(series.size).toBe(values.length + 6)
          expect(series.get('h_count')).toBe(2_000)
          expect(series.get('h_bucket{le="+Inf"}')).toBe(2_000)
          expect(series.get('h_bucket{le="2"}')).toBe(counts[1]!)
        },
      ),
    )
  })
})
