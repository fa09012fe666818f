import { addCost } from '../../packages/quintain/src/core/index.ts'
import {
  type CacheStyle,
  costOf,
  inputTokens,
  ledgerOf,
  type Price,
  partitionTokens,
} from '../../packages/quintain/src/models/index.ts'
import { matchExact, matchNumber, readNumber } from '../../packages/quintain/src/scoring/index.ts'

type Input = Record<string, unknown>
type Counts = Record<string, number | undefined>

/** Names that cases use for how a provider counts cached input. */
function styleOf(provider: unknown): CacheStyle {
  return /exclusive|anthropic|claude|bedrock/i.test(String(provider)) ? 'cache_exclusive' : 'inclusive'
}

function usageOf(counts: Counts, style: CacheStyle) {
  return partitionTokens({
    style,
    input: counts['input_total'] ?? counts['input'] ?? 0,
    cacheRead: counts['cache_read'] ?? counts['cached'] ?? 0,
    cacheWrite: counts['cache_write'] ?? 0,
    output: counts['output'] ?? 0,
  })
}

function priceFrom(raw: unknown): Price | null {
  if (typeof raw !== 'object' || raw === null) return null
  const { input = 0, output = 0, cached, cache_read, cache_write } = raw as Counts
  const cacheRead = cache_read ?? cached
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cache_write === undefined ? {} : { cacheWrite: cache_write }),
  }
}

export const ops: Record<string, (input: Input) => unknown> = {
  'cost.estimate': ({ provider, usage, usd_per_m }) => ({
    usd: costOf(usageOf(usage as Counts, styleOf(provider)), priceFrom(usd_per_m)),
  }),
  'cost.partition': ({ usage, provider }) => {
    const { fresh, cacheRead, cacheWrite, ...rest } = usageOf(usage as Counts, styleOf(provider))
    const sum = inputTokens({ fresh, cacheRead, cacheWrite, ...rest })
    return { fresh, cache_read: cacheRead, cache_write: cacheWrite, sum }
  },
  'cost.cache_hit': ({ tokens, response_cache }) => {
    const ledger = ledgerOf({ tokens: Number(tokens), usd: null, fromResponseCache: response_cache === true })
    return { usd: ledger.usd, billed_tokens: ledger.billedTokens, logical_tokens: ledger.logicalTokens }
  },
  'cost.rollup': ({ agent_usd, judge_usd }) => {
    const [agent, judge] = [agent_usd ?? null, judge_usd ?? null] as (number | null)[]
    return { agent_usd: agent, judge_usd: judge, total_usd: addCost(agent!, judge!) }
  },
  /** What an optimiser maximises is what grades: a number as a number, a text as a whole, and never containment. */
  'optimizer.metric': ({ gold, answer }) => {
    const question = { target: String(gold), output: String(answer) }
    const isNumber = readNumber(question.target) !== null
    return { score: Number((isNumber ? matchNumber(question) : matchExact(question)).correct) }
  },
}
