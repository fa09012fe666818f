import type { Usage } from '../core/records.ts'

/** US dollars per million tokens. */
export interface Price {
  input: number
  output: number
  /** Input that came from the provider's cache; `input` when absent. */
  cacheRead?: number
  /** Input that was written to the cache; `input` when absent. */
  cacheWrite?: number
}

/** Prices by model name. `null` says that a model's price is not known, whatever the built-in table says. */
export type PriceTable = Readonly<Record<string, Price | null>>

/** The month that `listPrices` were noted. Prices change: check yours and pass a table of your own. */
export const listPricesDate = '2025-09'

/** List prices of well-known models, without batch, priority or long-context rates. */
export const listPrices: PriceTable = {
  'gpt-5': { input: 1.25, cacheRead: 0.125, output: 10 },
  'gpt-5-mini': { input: 0.25, cacheRead: 0.025, output: 2 },
  'gpt-5-nano': { input: 0.05, cacheRead: 0.005, output: 0.4 },
  'gpt-4.1': { input: 2, cacheRead: 0.5, output: 8 },
  'gpt-4.1-mini': { input: 0.4, cacheRead: 0.1, output: 1.6 },
  'gpt-4o': { input: 2.5, cacheRead: 1.25, output: 10 },
  'gpt-4o-2024-05-13': { input: 5, output: 15 },
  'gpt-4o-mini': { input: 0.15, cacheRead: 0.075, output: 0.6 },
  'o4-mini': { input: 1.1, cacheRead: 0.275, output: 4.4 },
  'claude-sonnet-4': { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 },
  'claude-opus-4': { input: 15, cacheRead: 1.5, cacheWrite: 18.75, output: 75 },
}

/**
 * The price of a model, or null when it is not known: by its exact name, without a vendor before a slash, without a
 * date behind. `table` goes before the built-in prices.
 */
export function priceOf(model: string, table: PriceTable = {}): Price | null {
  const bare = model.slice(model.lastIndexOf('/') + 1)
  const names = [model, bare, bare.replace(/-(?:\d{4}-\d{2}-\d{2}|20\d{6})$/, '')]
  for (const prices of [table, listPrices]) {
    for (const name of names) {
      if (Object.hasOwn(prices, name)) return prices[name] ?? null
    }
  }
  return null
}

/** US dollars of a usage; null when the price or the usage is not known, never 0, and when they come to no sum of money. */
export function costOf(usage: Usage | undefined, price: Price | null): number | null {
  if (usage === undefined || price === null) return null
  const read = usage.cacheRead * (price.cacheRead ?? price.input)
  const write = usage.cacheWrite * (price.cacheWrite ?? price.input)
  const usd = (usage.fresh * price.input + read + write + usage.output * price.output) / 1e6
  return Number.isFinite(usd) && usd >= 0 ? usd : null
}

/**
 * What a call of `tokens` counts for in the two ledgers: tokens that the agent used (`logical`) and those that somebody
 * is billed for. A reply from a response cache is used but not billed.
 */
export function ledgerOf(call: { tokens: number; usd: number | null; fromResponseCache: boolean }): {
  logicalTokens: number
  billedTokens: number
  usd: number | null
} {
  const { tokens, usd, fromResponseCache } = call
  return fromResponseCache
    ? { logicalTokens: tokens, billedTokens: 0, usd: 0 }
    : { logicalTokens: tokens, billedTokens: tokens, usd }
}
