import type { LossName } from '../serve/loss.ts'

/** What no session has, whatever door it is behind: how a client is cut off is its own affair. */
export const sharedLosses: Readonly<Partial<Record<LossName, string>>> = {
  'how the agent was cut':
    'A client that ran out of tokens or money, or refused, ends its episode as any other does; its replies that were cut are its own affair.',
}
