import type { Usage } from '../core/records.ts'

/** How a provider counts cached input: as a part of its input tokens, or beside them. */
export type CacheStyle = 'inclusive' | 'cache_exclusive'

/**
 * Token counts as a provider states them, each token counted once. `inclusive`: `input` contains the cached tokens
 * (OpenAI and most compatible servers). `cache_exclusive`: they stand beside it (Anthropic).
 */
export function partitionTokens(counts: {
  style: CacheStyle
  input: number
  cacheRead?: number
  cacheWrite?: number
  output?: number
  reasoning?: number
}): Usage {
  const total = count(counts.input) ?? 0
  const read = count(counts.cacheRead) ?? 0
  const write = count(counts.cacheWrite) ?? 0
  const reasoning = count(counts.reasoning)
  const output = count(counts.output) ?? 0
  if (counts.style === 'cache_exclusive') {
    return {
      fresh: total,
      cacheRead: read,
      cacheWrite: write,
      output,
      ...(reasoning === undefined ? {} : { reasoning }),
    }
  }
  // Facets never exceed the total that they are parts of.
  const cacheRead = Math.min(read, total)
  const cacheWrite = Math.min(write, total - cacheRead)
  return {
    fresh: total - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite,
    output,
    ...(reasoning === undefined ? {} : { reasoning }),
  }
}

/** All input tokens of a usage. */
export function inputTokens(usage: Usage): number {
  return usage.fresh + usage.cacheRead + usage.cacheWrite
}

/**
 * A `usage` object of any common shape: OpenAI chat and responses, DeepSeek's cache counts, Anthropic's, and proxies
 * that mix them. Undefined when there are no counts in it: unknown is not zero. What is no count is taken for absent.
 */
export function readUsage(raw: unknown): Usage | undefined {
  const top = record(raw)
  if (top === undefined) return undefined
  const details = record(top['prompt_tokens_details']) ?? record(top['input_tokens_details']) ?? {}
  const outputDetails = record(top['completion_tokens_details']) ?? record(top['output_tokens_details']) ?? {}
  const output = count(top['completion_tokens']) ?? count(top['output_tokens'])
  const reasoning = count(outputDetails['reasoning_tokens']) ?? count(top['reasoning_tokens'])
  const anthropicRead = count(top['cache_read_input_tokens'])
  const anthropicWrite = count(top['cache_creation_input_tokens'])
  const read = count(details['cached_tokens']) ?? count(top['prompt_cache_hit_tokens']) ?? anthropicRead
  const write =
    count(details['cache_write_tokens']) ?? count(details['cache_creation_tokens']) ?? anthropicWrite

  const total = count(top['total_tokens'])
  let prompt = count(top['prompt_tokens'])
  if (prompt === undefined && count(top['input_tokens']) === undefined && total !== undefined)
    prompt = Math.max(0, total - (output ?? 0))
  const input = prompt ?? count(top['input_tokens'])
  if (input === undefined && output === undefined) return undefined
  const exclusive = prompt === undefined && (anthropicRead !== undefined || anthropicWrite !== undefined)
  return partitionTokens({
    style: exclusive ? 'cache_exclusive' : 'inclusive',
    input: input ?? 0,
    ...(read === undefined ? {} : { cacheRead: read }),
    ...(write === undefined ? {} : { cacheWrite: write }),
    ...(output === undefined ? {} : { output }),
    ...(reasoning === undefined ? {} : { reasoning }),
  })
}

/** Counts of a `usage` object and of its details that say what is billed. Others (totals, reasoning) are parts or sums of them. */
const billedCounts = [
  'prompt_tokens',
  'input_tokens',
  'completion_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'prompt_cache_hit_tokens',
  'cached_tokens',
  'cache_write_tokens',
  'cache_creation_tokens',
]

/**
 * Counts of a `usage` object that are no counts: negative, broken, or beyond what a number holds exactly. `readUsage`
 * takes them for absent. `billed` when a cost would be wrong for it.
 */
export function oddCounts(raw: unknown): { names: string[]; billed: boolean } {
  const top = record(raw)
  const names: string[] = []
  if (top === undefined) return { names, billed: false }
  collectOdd(top, names)
  for (const key of detailKeys) {
    const details = record(top[key])
    if (details !== undefined) collectOdd(details, names)
  }
  return { names, billed: names.some((name) => billedCounts.includes(name)) }
}

const counted = new Set([...billedCounts, 'total_tokens', 'reasoning_tokens'])
const detailKeys = [
  'prompt_tokens_details',
  'input_tokens_details',
  'completion_tokens_details',
  'output_tokens_details',
]

function collectOdd(part: Record<string, unknown>, names: string[]): void {
  for (const name of Object.keys(part)) {
    const value = part[name]
    if (value === undefined || value === null || count(value) !== undefined) continue
    if (counted.has(name)) names.push(name)
  }
}

/** A count of tokens: a whole number from 0 that is held exactly. */
function count(value: unknown): number | undefined {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}
