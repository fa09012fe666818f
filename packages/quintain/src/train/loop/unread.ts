import { type AttemptRecord, QuintainError } from '../../core/index.ts'

/** Why a policy has read nothing of what it was told, with a sentence. */
export interface Unread {
  code: 'prompt_invalid' | 'context_overflow'
  message: string
}

/** Whether the policy has no tokens for what the environment says, or no room for a first reply; undefined where it has read some of it. */
export function unreadOf({
  fault,
  outcome,
  counts,
}: Pick<AttemptRecord, 'fault' | 'outcome' | 'counts'>): Unread | undefined {
  if (fault?.code === 'prompt_invalid') return { code: fault.code, message: fault.message }
  if (outcome !== 'context_overflow' || counts.turns > 0) return undefined
  return {
    code: outcome,
    message: 'What the environment says first leaves no room for a reply in any of the rollouts.',
  }
}

/**
 * Throws `prompt_invalid` or `context_overflow` where the policy has read nothing in each of some rollouts: then no other will do
 * better, and nothing that is trained mends it.
 */
export function refuseUnread(rollouts: readonly (Unread | undefined)[]): void {
  const [first] = rollouts
  if (first === undefined || rollouts.includes(undefined)) return
  throw new QuintainError(first.code, first.message)
}
