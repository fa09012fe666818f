import { AsyncLocalStorage } from 'node:async_hooks'
import { QuintainError } from '../core/index.ts'
import type { AgentTurn } from './agent-turn.ts'
import { isRolloutAddress, rolloutBaseURL } from './model-fetch.ts'

const turns = new AsyncLocalStorage<AgentTurn>()

/** Runs a function so that `currentRollout` finds the turn in it and in all that it starts. */
export function withRollout<T>(turn: AgentTurn, run: () => T): T {
  return turns.run(turn, run)
}

/**
 * The turn that the code runs in: for clients and tools that an agent shares between rollouts. Throws `usage` outside
 * of an agent function.
 */
export function currentRollout(): AgentTurn {
  const turn = turns.getStore()
  if (turn === undefined)
    throw new QuintainError(
      'usage',
      'currentRollout() and rolloutFetch work in an agent function of agent() and in what it calls; here no rollout is running.',
    )
  return turn
}

/**
 * A `fetch` for a client that all rollouts share. Requests to `rolloutBaseURL` go to the model of the rollout that makes
 * them; requests to any other host go where they always do. Throws `usage` outside of a rollout.
 *
 * @example new OpenAI({ baseURL: rolloutBaseURL, apiKey: 'none', fetch: rolloutFetch })
 */
export const rolloutFetch: typeof globalThis.fetch = async (input, init) =>
  isRolloutAddress(input) ? currentRollout().model.fetch(input, init) : globalThis.fetch(input, init)

export { rolloutBaseURL }
