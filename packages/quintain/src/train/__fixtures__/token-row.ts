import type { Span, TokenRow } from '../../rows/index.ts'

/** A turn of a row: what the environment put, then what a call sampled. */
export interface MadeUpTurn {
  put: readonly number[]
  sampled: readonly number[]
  /** -1 for each token when absent. */
  logprobs?: readonly number[]
  /** Place of the call in the trajectory; the number of the turn when absent. */
  call?: number
}

/** A row of an attempt as `trainingRows` would make it of these turns. */
export function tokenRow(turns: readonly MadeUpTurn[], { row = 0, order = 'task#0' } = {}): TokenRow {
  const ids: number[] = []
  const mask: number[] = []
  const logprobs: number[] = []
  const spans: Span[] = []
  for (const [at, { put, sampled, logprobs: given = sampled.map(() => -1), call = at }] of turns.entries()) {
    const start = ids.length
    ids.push(...put, ...sampled)
    mask.push(...put.map(() => 0), ...sampled.map(() => 1))
    logprobs.push(...put.map(() => 0), ...given)
    const middle = start + put.length
    if (put.length > 0) spans.push({ start, end: middle, source: at === 0 ? 'prompt' : 'environment' })
    if (sampled.length > 0)
      spans.push({ start: middle, end: ids.length, source: 'sampled', call, version: '0' })
  }
  return {
    exactness: turns.length === 1 ? 'sampled' : 'prefix-merged',
    attempt: `${order}/1`,
    order,
    task: 'task',
    seat: 'agent',
    row,
    branch: 0,
    reward: null,
    weight: 1,
    ids: Int32Array.from(ids),
    mask: Uint8Array.from(mask),
    logprobs: Float32Array.from(logprobs),
    spans,
    truncated: false,
  }
}
