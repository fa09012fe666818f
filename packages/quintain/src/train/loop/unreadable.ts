import { type Fault, QuintainError } from '../../core/index.ts'

/**
 * Throws `prompt_invalid` where each of some rollouts failed because the policy has no tokens for what the environment says:
 * then no other will do better, and nothing that is trained mends it.
 */
export function refuseUnreadable(faults: readonly (Pick<Fault, 'code' | 'message'> | undefined)[]): void {
  const [first] = faults
  if (first === undefined || !faults.every((fault) => fault?.code === 'prompt_invalid')) return
  throw new QuintainError('prompt_invalid', first.message)
}
