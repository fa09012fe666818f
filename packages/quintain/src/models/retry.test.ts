import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ModelFault } from '../core/model.ts'
import { retryDelay, statedWaitMs, withRetry } from './retry.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

describe('statedWaitMs', () => {
  test.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '2' }, 2000],
    [{ 'Retry-After': '1.5' }, 1500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' }, 7000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-3' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{ 'retry-after-ms': '250', 'retry-after': '5' }, 250],
    [{ 'retry-after-ms': 'x', 'retry-after': '5' }, 5000],
    [{ 'retry-after': '1', 'x-ratelimit-reset-requests': '9s' }, 1000],
    [{ 'x-ratelimit-reset-requests': '6m0s' }, 360_000],
    [{ 'x-ratelimit-reset-tokens': '20ms' }, 20],
    [{ 'x-ratelimit-reset-tokens': '1h2m3.5s' }, 3_723_500],
    [{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '4s' }, 4000],
    [
      {
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-tokens': '60s',
        'x-ratelimit-remaining-tokens': '900',
      },
      1000,
    ],
    [{ 'x-ratelimit-reset': String(now + 3000) }, 3000],
    [{ 'x-ratelimit-reset': String(now / 1000 + 3) }, 3000],
    [
      {
        'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:05Z',
        'anthropic-ratelimit-requests-remaining': '0',
      },
      5000,
    ],
    [{}, undefined],
  ])('%j is %s', (headers, expected) => {
    expect(statedWaitMs(headers, now)).toBe(expected)
  })

  test('never throws and is never negative', () => {
    const names = fc.constantFrom(
      'retry-after',
      'retry-after-ms',
      'x-ratelimit-reset',
      'x-ratelimit-reset-tokens',
    )
    fc.assert(
      fc.property(fc.dictionary(names, fc.oneof(fc.string(), fc.double().map(String))), (headers) => {
        expect(statedWaitMs(headers, now) ?? 0).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe('retryDelay', () => {
  test('backs off exponentially, with jitter below, up to a bound', () => {
    for (const random of [() => 0, () => 0.999]) {
      const delays = [0, 1, 2, 30].map((attempt) => retryDelay({ attempt, baseMs: 500, random }).delayMs)
      for (const [index, most] of [500, 1000, 2000, 20_000].entries()) {
        expect(delays[index]).toBeLessThanOrEqual(most)
        expect(delays[index]).toBeGreaterThan(most * 0.74)
      }
    }
  })

  test('a stated wait goes before back-off, is never cut short, and has a cap', () => {
    const stated = retryDelay({ attempt: 5, headers: { 'retry-after': '2' } })
    expect(stated.delayMs).toBeGreaterThanOrEqual(2000)
    expect(stated.delayMs).toBeLessThanOrEqual(2200)
    expect(retryDelay({ attempt: 0, headers: { 'retry-after': '61' } })).toMatchObject({ aboveCap: true })
  })
})

describe('withRetry', () => {
  const fault = (status: number, retryable: boolean, retryAfterMs?: number): ModelFault =>
    new ModelFault(
      { owner: 'provider', stage: 'model', code: `http_${status}`, message: 'm', retryable },
      { status, retryAfterMs },
    )
  const sleep = async (): Promise<void> => {}

  test.each([0, 1, 4])('%i retries are one more attempt', async (maxRetries) => {
    let attempts = 0
    const failing = withRetry(
      async () => {
        attempts++
        throw fault(500, true)
      },
      { maxRetries, sleep },
    )
    const thrown = (await failing.catch((error: unknown) => error)) as ModelFault
    expect(attempts).toBe(maxRetries + 1)
    expect(thrown.retries).toHaveLength(maxRetries + 1)
    expect(thrown.retries.at(-1)!.waitedMs).toBe(0)
  })

  test('a fault that will not change is not tried again, a success carries its ledger', async () => {
    let attempts = 0
    const script = [fault(429, true, 10), fault(503, true), 'done']
    const { value, retries, waitedMs } = await withRetry(
      async () => {
        const step = script[attempts++]
        if (step instanceof ModelFault) throw step
        return step
      },
      { sleep },
    )
    expect(value).toBe('done')
    expect(retries.map(({ status }) => status)).toEqual([429, 503])
    expect(retries[0]!.waitedMs).toBeGreaterThanOrEqual(10)
    expect(waitedMs).toBe(retries[0]!.waitedMs + retries[1]!.waitedMs)
    attempts = 0
    const refusing = withRetry(
      async () => {
        attempts++
        throw fault(400, false)
      },
      { sleep },
    )
    await expect(refusing).rejects.toMatchObject({ status: 400 })
    expect(attempts).toBe(1)
  })

  test('what is no fault of a model passes', async () => {
    const bug = new TypeError('bug')
    const failing = withRetry(async () => {
      throw bug
    })
    await expect(failing).rejects.toBe(bug)
  })
})
