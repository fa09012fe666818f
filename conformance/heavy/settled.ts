import type { Exchange } from './exchange.ts'

/** What a server told of an episode's end over the wire. */
export interface Settled {
  reward: number | null
  finished: boolean
  /** Calls that ended in an `error` event. */
  errors: number
}

interface Told {
  ok?: boolean
  output?: { reward?: number | null; finished?: boolean; metadata?: { error?: string } | null }
}

/** What the reply to a call says of reward and end; undefined where it is no result. */
export function resultOf({ path, reply }: Exchange): Told['output'] | undefined {
  if (!path.endsWith('/call') || reply.form !== 'events') return undefined
  const result = reply.events.find(({ event }) => event === 'result')?.data as Told | undefined
  return result?.output
}

/** Every session's end, by handle. */
export function settledOf(exchanges: readonly Exchange[]): Map<string, Settled> {
  const settled = new Map<string, Settled>()
  for (const exchange of exchanges) {
    const { session, path, reply } = exchange
    if (session === undefined || !path.endsWith('/call')) continue
    const known = settled.get(session) ?? { reward: null, finished: false, errors: 0 }
    settled.set(session, known)
    const result = resultOf(exchange)
    known.reward = result?.reward ?? known.reward
    known.finished ||= result?.finished === true
    if (reply.form === 'events' && reply.events.some(({ event }) => event === 'error')) known.errors++
  }
  return settled
}
