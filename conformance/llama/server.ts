import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Installed } from './install.ts'

/** A llama.cpp server in a process of its own, which ends with this one. */
export interface LlamaServer {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string
  /** Base URL for clients. */
  readonly baseUrl: string
  /** What an endpoint answers; throws where that is no success. */
  ask(path: string, body?: object): Promise<unknown>
  stop(): Promise<void>
}

export async function startLlama({ packages, model }: Installed): Promise<LlamaServer> {
  const here = import.meta.dirname
  const child = spawn('python3', [join(here, 'serve.py'), model, join(here, 'chat-template.jinja')], {
    env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (text) => {
    said = (said + text).slice(-2_000)
  })
  const closed = once(child, 'close')
  const address = await Promise.race([
    once(createInterface(child.stdout), 'line').then(([line]) => String(line)),
    closed.then(([code]) => {
      throw new Error(`the server ended with ${code}: ${said}`)
    }),
  ])
  return {
    address,
    baseUrl: `${address}/v1`,
    async ask(path, body) {
      const response = await fetch(`${address}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response.json()
    },
    async stop() {
      child.stdin.end()
      await closed
    },
  }
}
