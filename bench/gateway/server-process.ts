import { type ChildProcess, fork } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Programs of this folder that serve something until their parent goes. */
export type ServerName = 'upstream-main' | 'proxy-main' | 'gateway-main'

/** What a served call is sent to. */
export interface Served {
  port: number
  path: string
  /** Credentials to take turns with; none where there are none. */
  keys: string[]
}

/** A server in a process of its own. */
export interface ServerProcess extends Served {
  readonly pid: number
  /** Milliseconds of processor time so far. */
  cpuMs(): Promise<number>
  close(): Promise<void>
}

export async function startServer(name: ServerName, args: readonly string[] = []): Promise<ServerProcess> {
  const path = fileURLToPath(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url))
  const child = fork(path, [...args])
  const served = await answer<Served>(child, 'served')
  return {
    ...served,
    pid: child.pid ?? Number.NaN,
    async cpuMs() {
      const told = answer<{ cpuMs: number }>(child, 'cpuMs')
      child.send('cpu')
      return (await told).cpuMs
    },
    close: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.disconnect()
      }),
  }
}

function answer<T>(child: ChildProcess, field: 'served' | 'cpuMs'): Promise<T> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      const told = message as Record<string, unknown>
      if (!(field in told)) return
      child.off('message', onMessage)
      child.off('exit', onExit)
      resolve((field === 'served' ? told['served'] : told) as T)
    }
    const onExit = (code: number | null): void =>
      reject(new Error(`a server of the bench ended with ${code}`))
    child.on('message', onMessage)
    child.once('exit', onExit)
  })
}

/** In the server: tells the parent where it serves, answers what it asks, and ends with it. */
export function serveParent(served: Served): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1000 })
  })
  process.on('disconnect', () => process.exit())
  process.send?.({ served })
}
