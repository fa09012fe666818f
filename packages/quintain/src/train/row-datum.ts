import type { TokenRow } from '../rows/index.ts'
import type { Datum } from './engine.ts'

/** A row as a sequence to train on, before anything is divided: weight 1 and one advantage for every trained token. */
export interface RowDatum {
  input: Int32Array
  target: Int32Array
  weights: Float32Array
  advantages: Float32Array
  logprobs: Float32Array
}

/** The ids of a row as engines take them: each target is the id after its input. */
export function alignedIds(ids: Int32Array): Pick<Datum, 'input' | 'target'> {
  return { input: ids.subarray(0, -1), target: ids.subarray(1) }
}

/** A row aligned to its targets. `advantageOf` is asked once for each call that sampled some of it. */
export function rowDatum(
  { ids, mask, logprobs, spans }: Pick<TokenRow, 'ids' | 'mask' | 'logprobs' | 'spans'>,
  advantageOf: (call: number | undefined) => number,
): RowDatum {
  const advantages = new Float32Array(ids.length - 1)
  for (const { start, end, source, call } of spans) {
    if (source === 'sampled') advantages.fill(advantageOf(call), Math.max(0, start - 1), end - 1)
  }
  const weights = Float32Array.from(mask.subarray(1))
  for (const [t, weight] of weights.entries()) if (weight === 0) advantages[t] = 0
  return { ...alignedIds(ids), weights, advantages, logprobs: logprobs.slice(1) }
}
