import assert from 'node:assert/strict'
import { createReplicas } from '../../packages/quintain/src/models/index.ts'
import type { Check } from './check.ts'
import { llamaModel } from './seat.ts'
import { type LlamaServer, startLlama } from './server.ts'

/** Replies that came from a server, as it counts the tokens that it made. */
async function madeBy({ address }: LlamaServer): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text()
  return Number(/^llamacpp:tokens_predicted_total (\d+)/m.exec(text)?.[1])
}

const messages = [{ role: 'user' as const, content: 'Say hello.' }]

export const replicaChecks: Check[] = [
  {
    name: 'an attempt stays with one of two servers, and moves when that is gone',
    async carryOut({ server, installed }) {
      const second = await startLlama(installed)
      const servers = [server, second]
      const model = createReplicas(servers.map((one) => llamaModel(one)))
      try {
        const { signal } = new AbortController()
        const makes = async (attempt: string) => {
          const before = await Promise.all(servers.map(madeBy))
          const reply = await model.generate({ messages, sampling: { maxTokens: 2 } }, { signal, attempt })
          const after = await Promise.all(servers.map(madeBy))
          return { by: after.findIndex((made, at) => made > before[at]!), flags: reply.flags ?? [] }
        }
        const places = new Map<string, number>()
        for (let attempt = 0; attempt < 8; attempt++)
          places.set(`a${attempt}`, (await makes(`a${attempt}`)).by)
        assert.deepEqual([...new Set(places.values())].sort(), [0, 1])
        for (const [attempt, place] of places) assert.equal((await makes(attempt)).by, place)

        await second.stop()
        servers.pop()
        const [moved] = [...places].find(([, place]) => place === 1)!
        assert.deepEqual(await makes(moved), { by: 0, flags: ['replica_moved'] })
        assert.deepEqual(await makes(moved), { by: 0, flags: [] })
      } finally {
        await model.close?.()
        await second.stop()
      }
    },
  },
]
