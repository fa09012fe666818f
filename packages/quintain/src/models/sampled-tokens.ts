import type { RawCompletion, RawMessage } from './completion.ts'

/** What a choice, or a streamed piece of one, tells of the tokens that were sampled. */
export interface SampledTokens {
  ids?: number[]
  /** A missing one is NaN. */
  logprobs?: number[]
  /** Texts of the tokens, beside `logprobs`. */
  tokens?: string[]
}

/**
 * Reads ids and log-probabilities in every server's way: vLLM's `token_ids`, SGLang's `meta_info.output_token_logprobs`
 * (log-probability, id, text), llama.cpp's `id` beside each log-probability.
 */
export function sampledTokens(choice: RawMessage): SampledTokens {
  const pairs = fieldOf(choice['meta_info'], 'output_token_logprobs')
  if (Array.isArray(pairs)) return ofPairs(pairs)
  const found: SampledTokens = {}
  const given = choice['token_ids'] ?? choice['response_token_ids']
  if (Array.isArray(given)) found.ids = given.map(Number)
  const content = fieldOf(choice['logprobs'], 'content')
  if (!Array.isArray(content)) return found
  found.logprobs = []
  found.tokens = []
  const ids: number[] = []
  for (const entry of content as unknown[]) {
    const logprob = fieldOf(entry, 'logprob')
    const token = fieldOf(entry, 'token')
    const id = fieldOf(entry, 'id')
    found.logprobs.push(typeof logprob === 'number' ? logprob : Number.NaN)
    found.tokens.push(typeof token === 'string' ? token : '')
    if (typeof id === 'number') ids.push(id)
  }
  if (found.ids === undefined && ids.length > 0 && ids.length === content.length) found.ids = ids
  return found
}

function ofPairs(pairs: readonly unknown[]): SampledTokens {
  const ids: number[] = []
  const logprobs: number[] = []
  for (const pair of pairs) {
    const [logprob, id] = Array.isArray(pair) ? (pair as unknown[]) : []
    ids.push(typeof id === 'number' ? id : Number.NaN)
    logprobs.push(typeof logprob === 'number' ? logprob : Number.NaN)
  }
  return { ids, logprobs }
}

/** Ids of the prompt, from a body or from its choice. */
export function promptIdsOf(body: RawMessage, choice: RawMessage | undefined): number[] | undefined {
  const ids = body['prompt_token_ids'] ?? choice?.['prompt_token_ids']
  return Array.isArray(ids) ? (ids as number[]) : undefined
}

/** Version of the weights: vLLM-like servers write it into the body, SGLang into `metadata` or the choice's `meta_info`. */
export function weightVersionOf(body: RawMessage, choice: RawMessage | undefined): unknown {
  return (
    body['weight_version'] ??
    fieldOf(body['metadata'], 'weight_version') ??
    fieldOf(choice?.['meta_info'], 'weight_version')
  )
}

/** Follows the version of the weights through a streamed reply: they may be exchanged while it is sampled. */
export function createWeightLog(): {
  /** The version that sampled what follows the first `sampled` tokens. */
  note(version: unknown, sampled: number): void
  /** Versions by token, when there was more than one. */
  spans(sampled: number): RawCompletion['weightSpans']
} {
  const changes: { start: number; version: string }[] = []
  return {
    note(version, sampled) {
      if (version === undefined || version === null) return
      const text = String(version)
      const last = changes.at(-1)
      if (last?.version === text) return
      if (last !== undefined && last.start === sampled) last.version = text
      // What came before the first word of a version was sampled by it too.
      else changes.push({ start: last === undefined ? 0 : sampled, version: text })
    },
    spans(sampled) {
      if (changes.length < 2) return undefined
      return changes
        .map(({ start, version }, at) => ({ start, end: changes[at + 1]?.start ?? sampled, version }))
        .filter(({ start, end }) => end > start)
    },
  }
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
