import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { costOf, ledgerOf, priceOf } from './prices.ts'
import { inputTokens, oddCounts, partitionTokens, readUsage } from './usage.ts'

describe('readUsage', () => {
  test.each<[string, object, object | undefined]>([
    [
      'OpenAI',
      {
        prompt_tokens: 1000,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 600 },
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      { fresh: 400, cacheRead: 600, cacheWrite: 0, output: 50, reasoning: 20 },
    ],
    [
      'OpenAI responses',
      { input_tokens: 100, output_tokens: 5, input_tokens_details: { cached_tokens: 40 } },
      { fresh: 60, cacheRead: 40, cacheWrite: 0, output: 5 },
    ],
    [
      'DeepSeek',
      { prompt_tokens: 100, prompt_cache_hit_tokens: 64, prompt_cache_miss_tokens: 36, completion_tokens: 5 },
      { fresh: 36, cacheRead: 64, cacheWrite: 0, output: 5 },
    ],
    [
      'Anthropic, where cached tokens stand beside the input',
      { input_tokens: 10, cache_read_input_tokens: 800, cache_creation_input_tokens: 100, output_tokens: 5 },
      { fresh: 10, cacheRead: 800, cacheWrite: 100, output: 5 },
    ],
    [
      'a proxy that shows both',
      {
        prompt_tokens: 910,
        cache_read_input_tokens: 800,
        cache_creation_input_tokens: 100,
        completion_tokens: 5,
      },
      { fresh: 10, cacheRead: 800, cacheWrite: 100, output: 5 },
    ],
    [
      'only totals',
      { total_tokens: 30, completion_tokens: 10 },
      { fresh: 20, cacheRead: 0, cacheWrite: 0, output: 10 },
    ],
    [
      'nulls',
      { prompt_tokens: 3, completion_tokens: 1, prompt_tokens_details: null },
      { fresh: 3, cacheRead: 0, cacheWrite: 0, output: 1 },
    ],
    ['nothing', {}, undefined],
    ['nonsense', { prompt_tokens: 'many', completion_tokens: -1 }, undefined],
  ])('%s', (_name, raw, expected) => {
    expect(readUsage(raw)).toEqual(expected)
  })
})

describe('counts that are none', () => {
  const absurd = fc.oneof(
    fc.constantFrom(1e308, -1, 0.5, 2 ** 53, Number.NaN, Infinity, '12', true, {}),
    fc.double().filter((number) => !Number.isSafeInteger(number) || number < 0),
  )

  test('are absent, and the others count', () => {
    fc.assert(
      fc.property(absurd, (value) => {
        const raw = {
          prompt_tokens: 10,
          completion_tokens: value,
          prompt_tokens_details: { cached_tokens: 4 },
        }
        expect(readUsage(raw)).toEqual({ fresh: 6, cacheRead: 4, cacheWrite: 0, output: 0 })
        expect(oddCounts(raw)).toEqual({ names: ['completion_tokens'], billed: true })
        expect(readUsage({ prompt_tokens: value, completion_tokens: value })).toBeUndefined()
      }),
    )
  })

  test('make a cost unknown only where they are billed', () => {
    const fine = { prompt_tokens: 10, completion_tokens: 5 }
    expect(oddCounts(fine)).toEqual({ names: [], billed: false })
    expect(oddCounts({ ...fine, total_tokens: -1 })).toEqual({ names: ['total_tokens'], billed: false })
    expect(oddCounts({ ...fine, prompt_tokens_details: { cached_tokens: 1e300 } }).billed).toBe(true)
    expect(oddCounts({ ...fine, prompt_tokens_details: null, total_tokens: null }).names).toEqual([])
    expect([oddCounts(null), oddCounts('x')]).toEqual(Array(2).fill({ names: [], billed: false }))
  })
})

test('facets are parts of the total and never more', () => {
  const count = fc.nat({ max: 1e6 })
  fc.assert(
    fc.property(count, count, count, (input, cacheRead, cacheWrite) => {
      const usage = partitionTokens({ style: 'inclusive', input, cacheRead, cacheWrite })
      expect(inputTokens(usage)).toBe(input)
      expect(Math.min(usage.fresh, usage.cacheRead, usage.cacheWrite)).toBeGreaterThanOrEqual(0)
    }),
  )
})

describe('prices', () => {
  const usage = { fresh: 200, cacheRead: 800, cacheWrite: 100, output: 100 }

  test('each token is paid once, at its own rate', () => {
    expect(costOf(usage, { input: 2, cacheRead: 0.2, cacheWrite: 2.5, output: 8 })).toBeCloseTo(0.00161, 12)
    expect(costOf(usage, { input: 2, output: 8 })).toBeCloseTo(0.003, 12)
  })

  test('unknown is null and not zero', () => {
    expect(costOf(usage, null)).toBeNull()
    expect(costOf(undefined, { input: 1, output: 1 })).toBeNull()
    expect(priceOf('my-own-model')).toBeNull()
    expect(priceOf('gpt-4o', { 'gpt-4o': null })).toBeNull()
    expect(priceOf('constructor')).toBeNull()
  })

  test('a sum that is none is unknown', () => {
    for (const input of [Number.NaN, -1, Infinity, 1e308])
      expect(costOf({ ...usage, fresh: 1e6 }, { input, output: 1 })).toBeNull()
  })

  test('are found with vendor and date, and overridden by ours', () => {
    expect(priceOf('openai/gpt-4.1-mini-2025-04-14')).toEqual(priceOf('gpt-4.1-mini'))
    expect(priceOf('gpt-4o-2024-05-13')).not.toEqual(priceOf('gpt-4o'))
    expect(priceOf('gpt-4o', { 'gpt-4o': { input: 0, output: 0 } })).toEqual({ input: 0, output: 0 })
    expect(costOf(usage, { input: 0, output: 0 })).toBe(0)
  })

  test('a reply from a response cache is used and not billed', () => {
    expect(ledgerOf({ tokens: 1200, usd: 0.5, fromResponseCache: true })).toEqual({
      logicalTokens: 1200,
      billedTokens: 0,
      usd: 0,
    })
    expect(ledgerOf({ tokens: 1200, usd: null, fromResponseCache: false })).toEqual({
      logicalTokens: 1200,
      billedTokens: 1200,
      usd: null,
    })
  })
})
