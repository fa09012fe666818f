import { AsyncLocalStorage } from 'node:async_hooks'
import { QuintainError } from '../core/index.ts'
import type { AgentTurn } from './agent-turn.ts'
import { isRolloutAddress } from './model-fetch.ts'

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
      'currentRollout() works in an agent function of agent() and in what it calls; here no rollout is running.',
    )
  return turn
}

/**
 * A `fetch` for a client that all rollouts share. Requests to `rolloutBaseURL` go to the model of the rollout that makes
 * them; requests to any other host go where they always do. Which rollout that is follows the flow of `async` code: work
 * that a queue, a limiter, a timer or an event of another rollout starts belongs to that one, unless it was bound
 * (`AsyncResource.bind`). Outside of every rollout the answer is a 400 in the form of OpenAI's and Anthropic's SDKs.
 *
 * @example new OpenAI({ baseURL: rolloutBaseURL, apiKey: 'none', fetch: rolloutFetch })
 */
export const rolloutFetch: typeof globalThis.fetch = async (input, init) => {
  if (!isRolloutAddress(input)) return globalThis.fetch(input, init)
  const turn = turns.getStore()
  return turn === undefined ? noRollout() : turn.model.fetch(input, init)
}

/** SDKs show the text of an answer, and of what a `fetch` throws none. */
function noRollout(): Response {
  const message =
    'No rollout is running where this request was made, so that nobody knows whose model is asked: rolloutFetch works in an agent function of agent() and in what it awaits. Work that goes through a queue, a limiter, a timer or an event must be bound (AsyncResource.bind of node:async_hooks), or use a client made in the function with model.fetch.'
  const error = { type: 'invalid_request_error', code: 'no_rollout', message, param: null }
  return Response.json({ type: 'error', error }, { status: 400, headers: { 'x-should-retry': 'false' } })
}
