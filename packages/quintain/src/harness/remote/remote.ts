import { randomUUID } from 'node:crypto'
import type { Harness } from '../../core/index.ts'
import { converse } from '../conversation.ts'
import { planRemote, type RemoteOptions } from './options.ts'

/**
 * The harness of an agent that is a service: a rollout is started by a request and followed by its status, in the
 * contract of Fireworks' remote rollouts (see docs/agents.md). The agent asks its model at the address that it is given.
 *
 * A service that cannot be reached, is lost, or does not take the request is a fault; one that says that it failed is an
 * agent that failed. Throws `usage` for an address that is none, and for one elsewhere without `publicUrl`.
 *
 * @example remote('http://127.0.0.1:3000')
 */
export function remote(url: string, options: RemoteOptions = {}): Harness {
  const plan = planRemote(url, options)
  const runId = randomUUID()
  return {
    name: plan.name === '' ? 'remote@1' : `remote:${plan.name}@1`,
    carries: { turns: true, tools: true, images: false },
    runs: 'outside',
    async run(context) {
      const { RemoteSession } = await import('./remote-session.ts')
      const session = new RemoteSession(plan, runId, context)
      try {
        return await converse(context, (question) => session.ask(question))
      } finally {
        await session.close()
      }
    },
  }
}
