import type { TrajectoryRecord } from '../../core/index.ts'
import type { TokenRow } from '../../rows/index.ts'
import { type WireMessage, wireMessage } from './chat-wire.ts'
import { float32Digits } from './float32-digits.ts'
import type { Lineage } from './lineage.ts'

/** One rollout as `rollout_func` of TRL's GRPO trainer gives it back; `prompt` and `reward` are for who looks it up. */
export interface TrlRow {
  lineage: Lineage & { exactness: TokenRow['exactness']; truncated: boolean; group: string }
  /** The messages of the first prompt. */
  prompt: WireMessage[]
  prompt_ids: number[]
  completion_ids: number[]
  /** One for each id of the completion: the sampler's, and 0 where the environment wrote. */
  logprobs: number[]
  /** 1 where the model wrote, 0 where the environment did. */
  env_mask: number[]
  reward: number
}

/**
 * An attempt as one flat completion: all that follows the first prompt, with a mask of what the model wrote. Only an
 * attempt that is one row can be told so.
 *
 * Source: TRL, trl/trainer/grpo_trainer.py (`rollout_func`, `env_mask`).
 */
export function trlRow(
  { ids, mask, logprobs, spans, exactness, truncated, reward }: TokenRow,
  trajectory: TrajectoryRecord,
  lineage: Lineage,
  group: string,
): TrlRow {
  const first = spans.find(({ source }) => source === 'sampled')!
  const from = first.start
  const prompt: WireMessage[] = []
  for (let node = trajectory.calls[first.call!]!.prompt; node >= 0; node = trajectory.nodes[node]!.parent)
    prompt.push(wireMessage(trajectory.nodes[node]!.message))
  return {
    lineage: { ...lineage, exactness, truncated, group },
    prompt: prompt.reverse(),
    prompt_ids: Array.from(ids.subarray(0, from)),
    completion_ids: Array.from(ids.subarray(from)),
    logprobs: float32Digits(logprobs.subarray(from)),
    env_mask: Array.from(mask.subarray(from)),
    reward: reward!,
  }
}
