import { createHash } from 'node:crypto'
import type { Harness, HarnessContext, HarnessResult } from '../core/index.ts'
import { type AgentFunction, agentFunction } from '../harness/index.ts'
import { hideKeys } from './redact.ts'

/** An agent as a user brings it: a function that answers, or a harness. */
export type Agent = AgentFunction | Harness

/** The harness of an agent. A function runs where it was made, in the main process. */
export function harnessOf({ agent, name }: { agent: Agent; name?: string }): Harness {
  if (typeof agent !== 'function')
    return name === undefined
      ? agent
      : { ...facts(agent), name: `agent:${name}`, run: (context) => agent.run(context) }
  const made = agentFunction(agent, agentName({ agent, ...(name === undefined ? {} : { name }) }))
  return { ...facts(made), name: made.name, runs: 'outside', run: (context) => untilOver(made, context) }
}

/** A function cannot be ended, so nobody waits for one whose attempt is over. */
function untilOver(harness: Harness, context: HarnessContext): Promise<HarnessResult> {
  const { signal } = context
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const over = () => reject(signal.reason)
    signal.addEventListener('abort', over, { once: true })
    harness
      .run(context)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', over))
  })
}

/** What an agent is called in records where nothing else names its policy. */
export function agentName({ agent, name }: { agent: Agent; name?: string }): string {
  if (name !== undefined) return name
  return typeof agent === 'function' ? agent.name || 'agent' : agent.name.replace(/^agent:/, '')
}

/**
 * A digest of what an agent is made of, without the keys of this machine; undefined where nothing is known of it. What its
 * code imports is no part of it.
 */
export function agentDigest({ agent, digest }: { agent: Agent; digest?: string }): string | undefined {
  if (digest !== undefined) return digest
  const identity = typeof agent === 'function' ? agent.toString() : agent.identity
  return identity === undefined ? undefined : digestOf(identity)
}

/** `sha256:` and the digest of a text from which keys are taken. */
export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(hideKeys(text)).digest('hex')}`
}

/** What is known of a harness before it runs. */
function facts({ name, carries, runs, needsBox, identity }: Harness): Omit<Harness, 'run'> {
  return {
    name,
    carries,
    ...(runs === undefined ? {} : { runs }),
    ...(needsBox === undefined ? {} : { needsBox }),
    ...(identity === undefined ? {} : { identity }),
  }
}
