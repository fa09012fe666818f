import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const quintain = join(import.meta.dirname, '../../packages/quintain/bin/quintain.js')

/** `quintain serve-model` as people start it. */
export interface ServedModel {
  url: string
  weightsUrl: string
  key: string
  /** Exchanges the weights; gives the status and the body. */
  swap(path: string, version: string): Promise<{ status: number; body: unknown }>
  stop(): Promise<number | null>
}

/** Starts the command on a checkpoint and waits until it serves. */
export async function startServer(checkpoint: string): Promise<ServedModel> {
  const key = 'a-key-of-agents-that-is-long'
  const control = 'another-key-for-the-operator'
  const argv = ['serve-model', checkpoint, '--model-name', 'policy', '--port', '0', '--json']
  const tokens = ['--token-env', 'KEY', '--control-port', '0', '--control-token-env', 'CONTROL']
  const child: ChildProcess = spawn(process.execPath, [quintain, ...argv, ...tokens], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, KEY: key, CONTROL: control },
  })
  const lines = createInterface({ input: child.stdout! })
  const exit = once(child, 'exit')
  const [line] = (await Promise.race([
    once(lines, 'line'),
    exit.then(([code]) => {
      throw new Error(`serve-model ended with ${code} before it served`)
    }),
  ])) as [string]
  const ready = JSON.parse(line) as { url: string; control_url: string }
  const weightsUrl = `${ready.control_url}/v1/weights`
  return {
    url: ready.url,
    weightsUrl,
    key,
    async swap(path, version) {
      const response = await fetch(weightsUrl, {
        method: 'POST',
        headers: { authorization: `Bearer ${control}`, 'content-type': 'application/json' },
        body: JSON.stringify({ path, version }),
      })
      return { status: response.status, body: await response.json() }
    },
    async stop() {
      child.kill('SIGTERM')
      const [code] = (await exit) as [number | null]
      return code
    },
  }
}
