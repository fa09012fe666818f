// Cases of a server's sessions: clients that open one and are never heard of again.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSessionCore } from '../../packages/quintain/src/doors/session/index.ts'
import { environment } from '../../packages/quintain/src/index.ts'
import type { Ops } from './runner/case.ts'

const idleMs = 300
const patienceMs = 10_000

/** The time after which a session is given up is short here, however long a case waits. */
async function slotsAfterIdle(most: number, halfOpen: number): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), 'quintain-case-'))
  const env = environment({ tasks: [{ id: 'task', prompt: 'go' }], rewards: { any: () => 1 } })
  const core = await openSessionCore({ env, dir: join(root, 'run'), maxSessions: most, idleMs })
  const open = () =>
    core.create({ task: { id: 'task' } }).then(
      () => 1,
      () => 0,
    )
  try {
    for (let nth = 0; nth < halfOpen; nth++) await open()
    const began = performance.now()
    while (core.stats().open > 0 && performance.now() - began < patienceMs)
      await new Promise((resolve) => setTimeout(resolve, 20))
    const opened = await Promise.all(Array.from({ length: most }, open))
    return opened.reduce((sum: number, one) => sum + one, 0)
  } finally {
    await core.close()
    await rm(root, { recursive: true, force: true })
  }
}

export const ops: Ops = {
  'server.sessions': async ({ max, half_open }) => ({
    slots_free_after_idle: await slotsAfterIdle(Number(max), Number(half_open)),
  }),
}
