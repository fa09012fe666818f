import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The command before `serve …`. */
export const quintain = [
  process.execPath,
  fileURLToPath(new URL('../../packages/quintain/bin/quintain.js', import.meta.url)),
]

export interface Served {
  url: string
  /** Ends it at once, and all of its workers, as a machine that fails does. */
  kill(): void
  stop(): Promise<void>
}

/** A server of an environment by the native door, in a process group of its own. */
export async function serve(environment: string, run: string): Promise<Served> {
  const [command, ...words] = quintain as [string, ...string[]]
  const rest = ['serve', environment, '--door', 'native', '--port', '0', '--json', '--out', run]
  const child = spawn(command, [...words, ...rest], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const url = await address(child)
  const end = (signal: NodeJS.Signals) => {
    try {
      process.kill(-child.pid!, signal)
    } catch {
      // It is gone.
    }
  }
  return {
    url,
    kill: () => end('SIGKILL'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      end('SIGTERM')
      await ended
    },
  }
}

async function address(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    const told = JSON.parse(line) as { event: string; doors: { addresses: { url: string }[] }[] }
    if (told.event === 'ready') return told.doors[0]!.addresses[0]!.url
  }
  throw new Error('the server ended before it was ready')
}
