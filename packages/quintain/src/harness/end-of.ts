import type { HarnessResult, ModelResponse } from '../core/index.ts'

/** How a rollout ends whose policy has nothing more to do: completed, or as it was cut when it was recorded. */
export function endOf({ endedAs }: ModelResponse): HarnessResult {
  return endedAs === undefined ? { outcome: 'completed' } : { outcome: endedAs, stop: 'as_recorded' }
}
