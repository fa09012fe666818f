import type { Outcome } from '../../core/index.ts'

const outcomesOfStops: [RegExp, Outcome][] = [
  [/turn|message/, 'turn_limit'],
  [/timeout|time|working|wall/, 'wall_limit'],
  [/context|prompt_too_long/, 'context_overflow'],
  [/token/, 'token_limit'],
  [/cost/, 'cost_limit'],
  [/length|truncat/, 'truncated'],
  [/^$|agent_completed|completed|no_tools_called|done$|^stop$/, 'completed'],
]

/** How an agent ended, from another platform's word for it; a word that nobody knows is the environment's. */
export function outcomeOfStop(stop: unknown): { outcome: Outcome; stop?: string } {
  const word = typeof stop === 'string' ? stop.slice(0, 80) : ''
  const outcome = outcomesOfStops.find(([pattern]) => pattern.test(word))?.[1] ?? 'env_done'
  return { outcome, ...(word === '' ? {} : { stop: word }) }
}
