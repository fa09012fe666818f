import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { plainDoor } from './__fixtures__/plain-door.ts'
import { openServer, type Server, type ServerOptions } from './open-server.ts'

let server: Server | undefined
const logged: string[] = []
afterEach(async () => {
  await server?.drain({ graceMs: 0 })
  server = undefined
  logged.length = 0
})

/** A core whose drain waits as the real one does, and which remembers that it was closed. */
function core(slug = 'fake', { kind = 'game' as const } = {}): SessionCore & { closed(): boolean } {
  const inner = fakeCore({ slug, kind })
  let closed = false
  return {
    ...inner,
    closed: () => closed,
    async drain(deadlineMs) {
      await inner.drain(deadlineMs)
      const end = performance.now() + deadlineMs
      while (inner.stats().open > 0 && performance.now() < end && !closed) await sleep(5)
    },
    async close() {
      closed = true
      await inner.close()
    },
  }
}

async function opened(options: Partial<ServerOptions> = {}): Promise<Server> {
  server = await openServer({
    cores: [core()],
    doors: [plainDoor()],
    host: '127.0.0.1',
    port: 0,
    lossy: false,
    operationsPort: 0,
    log: (line) => logged.push(line),
    ...options,
  })
  return server
}

async function post(url: string, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body), headers })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

/** So many ports in a row that nobody has, as far as can be known. */
async function freePorts(count: number): Promise<number> {
  for (;;) {
    const servers = [createServer()]
    await new Promise<void>((resolve) => servers[0]!.listen(0, '127.0.0.1', resolve))
    const first = (servers[0]!.address() as AddressInfo).port
    let free = first + count < 65_536
    for (let port = first + 1; free && port < first + count; port++) {
      const next = createServer()
      servers.push(next)
      free = await new Promise((resolve) => {
        next.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
      })
    }
    for (const one of servers) one.close()
    if (free) return first
  }
}

describe('doors side by side', () => {
  test('have ports in a row, and say what is where and what is lost', async () => {
    const port = await freePorts(4)
    const token = 'a-token-of-32-characters-exactly'
    const { facts } = await opened({
      cores: [core('one'), core('two')],
      doors: [
        plainDoor({ name: 'ors', losses: ['Hats are lost.'] }),
        plainDoor({ name: 'native', origin: 'many', lacks: ['turns'] }),
        plainDoor({ name: 'openenv', origin: 'many' }),
      ],
      port,
      lossy: true,
      token,
    })
    expect(facts.doors.map(({ addresses }) => addresses.map(({ url }) => url))).toEqual([
      [`http://127.0.0.1:${port}`, `http://127.0.0.1:${port + 1}`],
      [`http://127.0.0.1:${port + 2}`],
      [`http://127.0.0.1:${port + 3}`],
    ])
    expect(facts.doors.map(({ losses }) => losses)).toEqual([
      { one: ['Hats are lost.'], two: ['Hats are lost.'] },
      {
        one: ['What the environment answers does not reach the agent.'],
        two: ['What the environment answers does not reach the agent.'],
      },
      {},
    ])
    expect(facts.environments.map(({ slug, splits }) => [slug, splits.length])).toEqual([
      ['one', 2],
      ['two', 2],
    ])
    expect(JSON.stringify(facts)).not.toContain(token)
    const url = facts.doors[2]!.addresses[0]!.url
    expect((await post(url, '/create', {})).status).toBe(401)
    expect((await post(url, '/create', {}, { authorization: `Bearer ${token}` })).status).toBe(200)
  })

  test.each<[string, Partial<ServerOptions>, string]>([
    ['a need that is not carried', { doors: [plainDoor(), plainDoor({ lacks: ['turns'] })] }, 'needs_unmet'],
    ['an address beyond loopback without a token', { host: '0.0.0.0' }, 'usage'],
    ['two environments of one name', { cores: [core('same'), core('same')] }, 'usage'],
  ])('are refused as a whole before anything listens, for %s', async (_, options, code) => {
    let listened = 0
    const cores = (options.cores ?? [core()]) as ReturnType<typeof core>[]
    const doors = (options.doors ?? [plainDoor()]).map((door) => ({
      ...door,
      open: async (...given: Parameters<typeof door.open>) => {
        listened += 1
        return door.open(...given)
      },
    }))
    await expect(opened({ ...options, cores, doors })).rejects.toMatchObject({ code })
    expect(listened).toBe(0)
    expect(cores.every((one) => one.closed())).toBe(true)
  })

  test('leave nothing behind when one of them finds its port taken', async () => {
    const port = await freePorts(2)
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(port + 1, '127.0.0.1', resolve))
    const cores = [core('one'), core('two')]
    await expect(opened({ cores, port })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(String(port + 1)),
    })
    taken.close()
    expect(cores.every((one) => one.closed())).toBe(true)
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
  })
})

describe('a server that drains', () => {
  async function withSession() {
    const { facts, drain, open } = await openedBound()
    const url = facts.doors[0]!.addresses[0]!.url
    const { json } = await post(url, '/create', { split: 'train', index: 0 })
    return { facts, drain, open, url, handle: json['handle'] }
  }
  async function openedBound() {
    const made = await opened()
    return { facts: made.facts, drain: made.drain.bind(made), open: made.open.bind(made) }
  }

  test('takes no more sessions, lets open ones end, and then ends itself', async () => {
    const { facts, drain, open, url, handle } = await withSession()
    expect(open()).toBe(1)
    const drained = drain({ graceMs: 60_000 })
    expect(await post(url, '/create', {})).toMatchObject({ status: 409, json: { detail: 'draining' } })
    expect((await fetch(`${facts.operations.url}/readyz`)).status).toBe(503)
    const graded = await post(url, '/grade', { handle, answer: 'right' })
    expect(graded.json).toMatchObject({ kind: 'scored', reward: 1 })
    expect(await drained).toEqual({ cut: 0 })
    await expect(fetch(url)).rejects.toThrow()
    await expect(fetch(facts.operations.url)).rejects.toThrow()
    expect(await drain({ graceMs: 0 })).toEqual({ cut: 0 })
  })

  test('waits no longer than its grace, and says how many were cut off', async () => {
    const { drain, url } = await withSession()
    expect(await drain({ graceMs: 50 })).toEqual({ cut: 1 })
    await expect(fetch(url)).rejects.toThrow()
  })

  test('waits not at all once it is told so', async () => {
    const { drain } = await withSession()
    const hard = new AbortController()
    const drained = drain({ graceMs: 3_600_000, hardSignal: hard.signal })
    hard.abort()
    expect(await drained).toEqual({ cut: 1 })
  })

  test('throws what its cores throw at the end, and closes everything all the same', async () => {
    const failing = { ...core('one'), close: () => Promise.reject(new Error('the disk is full')) }
    const second = core('two')
    const made = await opened({ cores: [failing, second] })
    server = undefined
    await expect(made.drain({ graceMs: 0 })).rejects.toThrow('the disk is full')
    expect(second.closed()).toBe(true)
    await expect(fetch(made.facts.operations.url)).rejects.toThrow()
  })
})
