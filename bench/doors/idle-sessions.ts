import { Agent } from 'node:http'
import { join } from 'node:path'
import { http } from '../../packages/quintain/src/doors/episodes/clients/http.ts'
import { serveOurs } from './servers.ts'

/** Openings at a time. */
const atOnce = 64
/** Milliseconds after which what was allocated on the way may have been collected. */
const restMs = 5_000

/** Memory of a server and its workers. */
export interface IdleMemory {
  /** What processes share counted for each of them. */
  residentMib: number
  /** What they share counted once. */
  ownMib: number
  processes: number
}

/** Opens sessions of the orders desk and leaves them; gives what the server and its workers hold in memory then. */
export async function idleSessions(
  count: number,
  { folder, more }: { folder: string; more: readonly string[] },
): Promise<IdleMemory> {
  const server = await serveOurs('orders', {
    door: 'native',
    out: join(folder, 'run'),
    more: ['--max-sessions', String(count), ...more],
  })
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  try {
    const { ids } = server.tasks
    const places = Array.from({ length: count }, (_, place) => place).values()
    const open = async () => {
      for (const place of places) {
        const task = { id: ids[place % ids.length] }
        const reply = await http(`${server.url}/v1/sessions`, { method: 'POST', body: { task }, agent })
        if (reply.status !== 200) throw new Error(`a session was not opened: ${reply.text}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, open))
    await new Promise((resolve) => setTimeout(resolve, restMs))
    const { bytes, proportionalBytes, processes } = server.memory()
    return { residentMib: bytes / 2 ** 20, ownMib: proportionalBytes / 2 ** 20, processes }
  } finally {
    agent.destroy()
    await server.close()
  }
}
