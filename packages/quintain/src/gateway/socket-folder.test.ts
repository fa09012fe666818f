import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, utimes } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { sweep } from './socket-folder.ts'

let base = ''
afterEach(() => rm(base, { recursive: true, force: true }))

test.skipIf(process.platform === 'win32')(
  'removes folders of killed processes, and none in which somebody listens or that are just being made',
  async () => {
    base = await mkdtemp(join(tmpdir(), 'sweep-'))
    const folder = async (name: string): Promise<string> => {
      const path = join(base, name)
      await mkdir(path)
      return path
    }
    const killed = await folder('quintain-gateway-killed')
    const source = `require('node:net').createServer().listen(process.argv[1], () => console.log('ready'))`
    const child = spawn(process.execPath, ['-e', source, join(killed, 'gateway.sock')])
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    expect(existsSync(join(killed, 'gateway.sock'))).toBe(true)
    const old = await folder('quintain-gateway-old')
    await utimes(old, 1, 1)
    const fresh = await folder('quintain-gateway-fresh')
    const other = await folder('other')
    await utimes(other, 1, 1)
    const live = await folder('quintain-gateway-live')
    const server = createServer().listen(join(live, 'gateway.sock'))
    await once(server, 'listening')
    await utimes(live, 1, 1)

    await sweep(base)
    expect([killed, old, fresh, other, live].map((path) => existsSync(path))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ])
    server.close()
    await once(server, 'close')
    await sweep(join(base, 'nowhere'))
  },
)
