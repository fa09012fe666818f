import type { TokenRow } from '../../rows/index.ts'
import { float32Digits } from './float32-digits.ts'
import type { Lineage } from './lineage.ts'

/** A tensor of one dimension as Tinker's API has it. */
interface TensorData<Type extends 'int64' | 'float32'> {
  data: number[]
  dtype: Type
  shape: [number]
}

/** `tinker.Datum` in JSON. */
export interface TinkerDatum {
  model_input: { chunks: [{ type: 'encoded_text'; tokens: number[] }] }
  loss_fn_inputs: { target_tokens: TensorData<'int64'> } & (
    | { logprobs: TensorData<'float32'>; advantages: TensorData<'float32'> }
    | { weights: TensorData<'float32'> }
  )
}

/** `rl`: for importance_sampling, ppo and cispo. `cross_entropy`: for fine-tuning on what was sampled. */
export type TinkerLoss = 'rl' | 'cross_entropy'

export interface TinkerRow {
  lineage: Lineage & {
    row: number
    weight: number
    exactness: TokenRow['exactness']
    truncated: boolean
    loss: TinkerLoss
    /** Of the scored attempts of the task by this policy, and how many they are; null for cross_entropy. */
    group: string
    baseline: number | null
    group_size: number
  }
  datum: TinkerDatum
}

export interface TinkerGroup {
  id: string
  /** Mean reward of the scored attempts, chosen or not. */
  baseline: number
  size: number
}

/**
 * A row as a datum. Inputs are all tokens but the last, and everything else is told of the next token: `target_tokens` are
 * all but the first. `logprobs` are the sampler's, and the advantage of every sampled token is the attempt's reward less
 * the group's mean, with no division by the deviation; where nothing was sampled all of them are 0. Tinker adds up over
 * tokens, so an attempt that broke into several rows counts no more for it.
 *
 * Undefined for a row of a single token: it has no next one.
 *
 * Source: Tinker, training API types and loss functions; tinker_cookbook/rl/data_processing.py (`trajectory_to_data`).
 */
export function tinkerRow(
  { ids, mask, logprobs, row, weight, exactness, truncated, reward }: TokenRow,
  lineage: Lineage,
  { loss, group }: { loss: TinkerLoss; group: TinkerGroup },
): TinkerRow | undefined {
  if (ids.length < 2) return undefined
  const tokens = Array.from(ids)
  const next = mask.subarray(1)
  const shape: [number] = [next.length]
  const target_tokens = { data: tokens.slice(1), dtype: 'int64' as const, shape }
  const tensor = (data: number[]) => ({ data, dtype: 'float32' as const, shape })
  const advantage = loss === 'rl' ? reward! - group.baseline : 0
  return {
    lineage: {
      ...lineage,
      row,
      weight,
      exactness,
      truncated,
      loss,
      group: group.id,
      baseline: loss === 'rl' ? group.baseline : null,
      group_size: group.size,
    },
    datum: {
      model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
      loss_fn_inputs:
        loss === 'rl'
          ? {
              target_tokens,
              logprobs: tensor(float32Digits(logprobs.subarray(1))),
              advantages: tensor(Array.from(next, (trained) => (trained ? advantage : 0))),
            }
          : { target_tokens, weights: tensor(Array.from(next)) },
    },
  }
}
