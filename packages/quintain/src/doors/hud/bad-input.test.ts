import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { serveTools } from '../../mcp/index.ts'
import type { OpenDoor } from '../serve/door.ts'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { RawClient } from './__fixtures__/client.ts'
import { Channel } from './channel.ts'
import { serveConnection } from './connection.ts'
import { hudDoor } from './door.ts'
import { FrameRoom } from './frame-room.ts'

const doors: OpenDoor[] = []
const clients: RawClient[] = []
const logged: string[] = []

async function serve(core: SessionCore = fakeCore()): Promise<OpenDoor> {
  const door = await hudDoor.open([core], { host: '127.0.0.1', port: 0, log: (line) => logged.push(line) })
  doors.push(door)
  return door
}

async function client(door: OpenDoor): Promise<RawClient> {
  const made = await RawClient.to(door)
  clients.push(made)
  return made
}

const right = { answer: 'right' }
const first = { id: 'train', args: { index: 0 } }
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

afterEach(async () => {
  for (const one of clients.splice(0)) one.socket.destroy()
  for (const door of doors.splice(0)) await door.close()
  logged.length = 0
})

/** A core whose worlds open when they are told to. */
function slowToOpen(core: SessionCore): { core: SessionCore; open(): void } {
  const gate = Promise.withResolvers<void>()
  const create: SessionCore['create'] = async (request) => {
    const session = await core.create(request)
    const opened = session.opened.bind(session)
    return Object.assign(session, { opened: () => gate.promise.then(opened) })
  }
  return { core: Object.assign(Object.create(core), { create }), open: gate.resolve }
}

test('who begins with no frame, such as a browser that a page sent here, is hung up on', async () => {
  const core = fakeCore()
  const page = await client(await serve(core))
  const body = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks.start', params: first })}\n`
  page.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  expect((await page.next()).error?.code).toBe(-32700)
  await expect.poll(() => page.socket.readableEnded).toBe(true)
  expect(core.stats().created).toBe(0)
})

test('what is no frame is told, and the connection goes on', async () => {
  const one = await client(await serve())
  await one.ask('hello')
  one.write(
    'nonsense\n[]\n7\n{"id":1}\n\n  \r\n{"id":[1],"method":"hello"}\n{"id":2,"method":"hello","params":3}\n',
  )
  const codes = []
  for (let count = 0; count < 6; count++) codes.push((await one.next()).error?.code)
  expect(codes).toEqual([-32700, -32600, -32600, -32600, -32600, -32602])
  expect((await one.ask('tasks.dance')).error).toEqual({
    code: -32601,
    message: 'method not found: "tasks.dance"',
  })
  expect((await one.ask('tunnel.open', { capability: 'tools' })).error).toMatchObject({ code: -32600 })
  expect((await one.ask('hello')).result.session_id).toBeDefined()
})

test('a peer that goes on with something else is hung up on', async () => {
  const one = await client(await serve())
  await one.ask('hello')
  one.write('nonsense\n'.repeat(100))
  await one.gone()
  expect(one.replies.length).toBe(16)
})

test('requests without an id are carried out, and nothing is said', async () => {
  const one = await client(await serve())
  one.write(
    '{"method":"hello"}\n{"method":"tasks.start","params":{"id":"train","args":{"index":0}}}\n{"method":"nothing"}\n',
  )
  expect((await one.ask('tasks.grade', right)).result.score).toBe(1)
})

test('frames that come at once are answered in their order, and a frame twice is two requests', async () => {
  const one = await client(await serve(fakeCore({ stepMs: 20 })))
  const frame = (id: string, method: string, params: object = {}) =>
    `${JSON.stringify({ id, method, params })}\n`
  one.write(
    frame('a', 'hello') +
      frame('b', 'tasks.start', first) +
      frame('c', 'tasks.grade', right).repeat(2) +
      frame('d', 'tasks.list'),
  )
  const replies = []
  for (let count = 0; count < 5; count++) replies.push(await one.next())
  expect(replies.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'c', 'd'])
  expect(replies.map(({ result }) => result?.score)).toEqual([undefined, undefined, 1, 1, undefined])
})

test('a thousand frames at once are answered, and no more than some are held', async () => {
  const one = await client(await serve())
  for (let count = 0; count < 1_000; count++) one.send('tasks.list')
  for (let count = 1; count <= 1_000; count++) expect((await one.next()).id).toBe(count)
})

test('a client that has sent everything and reads on is answered', async () => {
  const one = await client(await serve(fakeCore({ stepMs: 50 })))
  one.send('tasks.start', first)
  one.send('tasks.grade', right)
  one.socket.end()
  await one.next()
  expect((await one.next()).result.score).toBe(1)
  await one.gone()
})

test('a frame that is too long is refused and the connection closed; one just short of it is read', async () => {
  const door = await serve()
  const long = await client(door)
  const most = 16 * 2 ** 20
  const text = JSON.stringify({ id: 1, method: 'tasks.grade', params: { answer: '' } })
  long.write(`${text.replace('""', `"${'x'.repeat(most - text.length)}"`)}\n`)
  expect((await long.next()).error).toMatchObject({ code: -32600, message: 'no task in progress' })
  long.write('x'.repeat(most + 1))
  expect(await long.next()).toMatchObject({
    id: null,
    error: { code: -32000, message: expect.stringContaining(`${most} bytes`) },
  })
  await long.gone()
  expect((await (await client(door)).ask('hello')).result).toBeDefined()
})

test('a prompt that only newer clients can read is sent and logged; one that none can read is refused', async () => {
  const core = fakeCore()
  const withPrompt = (length: number): SessionCore => {
    const create: SessionCore['create'] = async (request) => {
      const session = await core.create(request)
      const opening = await session.opened()
      return Object.assign(session, {
        opened: async () => ({ ...opening, messages: [{ role: 'user', content: 'x'.repeat(length) }] }),
      })
    }
    return Object.assign(Object.create(core), { create })
  }
  const one = await client(await serve(withPrompt(100_000)))
  expect((await one.ask('tasks.start', first)).result.prompt).toHaveLength(100_000)
  expect(logged).toEqual([expect.stringContaining('hud 0.6.16')])
  const other = await client(await serve(withPrompt(17 * 2 ** 20)))
  expect((await other.ask('tasks.start', first)).error).toMatchObject({
    code: -32000,
    data: { reason: 'too_long' },
  })
  expect((await other.ask('tasks.grade', right)).error).toMatchObject({ message: 'no task in progress' })
})

test('a world that hangs is given up by a cancel, by a goodbye, and by another start', async () => {
  const slow = slowToOpen(fakeCore())
  const door = await serve(slow.core)
  for (const method of ['tasks.cancel', 'bye']) {
    const one = await client(door)
    const start = one.send('tasks.start', first)
    await sleep(20)
    const end = one.send(method)
    expect(await one.next()).toMatchObject({
      id: start,
      error: { code: -32000, message: `${method} interrupted the task` },
    })
    expect(await one.next()).toMatchObject({ id: end, result: {} })
  }
  await expect.poll(() => slow.core.stats().open).toBe(0)
  const one = await client(door)
  one.send('tasks.start', first)
  one.send('tasks.cancel')
  const again = one.send('tasks.start', first)
  await one.next()
  await one.next()
  slow.open()
  expect(await one.next()).toMatchObject({ id: again, result: { prompt: expect.anything() } })
  expect(slow.core.stats().open).toBe(1)
})

test('a client that vanishes while its world opens finds its task when it comes back', async () => {
  const slow = slowToOpen(fakeCore())
  const door = await serve(slow.core)
  const one = await client(door)
  const { session_id: id } = (await one.ask('hello')).result
  one.send('tasks.start', first)
  await expect.poll(() => slow.core.stats().open).toBe(1)
  await one.vanish()
  const other = await client(door)
  await expect.poll(async () => (await other.ask('hello', { session_id: id })).result?.session_id).toBe(id)
  const grade = other.send('tasks.grade', right)
  slow.open()
  expect(await other.next()).toMatchObject({ id: grade, result: { score: 1 } })
})

test('a grade is interrupted by a cancel, and nobody gets its number', async () => {
  const one = await client(await serve(fakeCore({ stepMs: 200 })))
  await one.ask('tasks.start', first)
  const grade = one.send('tasks.grade', right)
  await sleep(20)
  const cancel = one.send('tasks.cancel')
  expect(await one.next()).toMatchObject({ id: grade, error: { code: -32000 } })
  expect(await one.next()).toMatchObject({ id: cancel, result: { cancelled: true } })
  expect((await one.ask('tasks.grade', right)).error).toMatchObject({ code: -32600 })
})

test('starts wait for room in their order, and those whose client has gone take none', async () => {
  const core = fakeCore({ most: 1 })
  const door = await serve(core)
  const [a, b, c] = await Promise.all([client(door), client(door), client(door)])
  await a.ask('tasks.start', first)
  b.send('tasks.start', first)
  await sleep(20)
  c.send('tasks.start', { id: 'train', args: { index: 1 } })
  await sleep(100)
  expect([b.replies, c.replies]).toEqual([[], []])
  await b.vanish()
  expect((await a.ask('tasks.grade', right)).result.score).toBe(1)
  expect((await c.next()).result.prompt[1].content).toBe('Question train-1?')
  expect(core.stats()).toMatchObject({ created: 2, refused: {} })
})

test('a server that takes no more sessions says so, and grades those that it has', async () => {
  const core = fakeCore()
  const door = await serve(core)
  const [one, other] = await Promise.all([client(door), client(door)])
  await one.ask('tasks.start', first)
  await core.drain(0)
  expect((await other.ask('tasks.start', first)).error).toMatchObject({
    code: -32000,
    data: { reason: 'draining' },
  })
  expect((await one.ask('tasks.grade', right)).result.score).toBe(1)
})

test('a task that the server has ended is no score, for who holds it and for who comes for it later', async () => {
  const core = fakeCore()
  const door = await serve(core)
  const [one, other] = await Promise.all([client(door), client(door)])
  await one.ask('tasks.start', first)
  await other.ask('tasks.start', first)
  await core.close()
  expect((await one.ask('tasks.grade', right)).error).toMatchObject({
    code: -32000,
    data: { reason: 'session_gone' },
  })
  await one.vanish()
  await other.vanish()
  const late = await client(door)
  // Told once, so that nobody takes it for leave to grade a world in which nothing was done.
  await expect.poll(async () => (await late.ask('tasks.grade', right)).error?.message).toMatch(/has expired/)
  expect((await late.ask('tasks.grade', right)).error).toMatchObject({
    code: -32600,
    message: 'no task in progress',
  })
})

/** A channel of its own, with other bounds than a door has. */
async function serveWithin({ frameMs = 60_000, roomBytes = 2 ** 20 }) {
  const tools = await serveTools()
  const channel = new Channel({ core: fakeCore(), tools })
  const room = new FrameRoom(roomBytes)
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    serveConnection(socket, { channel, log: () => {}, frameMs, room }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const door: OpenDoor = {
    addresses: [{ environments: [], url: `tcp://127.0.0.1:${port}`, plane: 'control' as const }],
    close: async () => {
      channel.close()
      await tools.close()
      server.close()
    },
  }
  doors.push(door)
  return { door, channel }
}

test('frames of all connections together are bounded, and small requests are answered all the same', async () => {
  const { door } = await serveWithin({ roomBytes: 2 ** 20 })
  const part = `{"id":1,"method":"hello","params":{"odd":"${'x'.repeat(600_000)}`
  const [one, small] = await Promise.all([client(door), client(door)])
  one.write(part)
  await expect.poll(() => one.socket.bytesWritten).toBeGreaterThan(600_000)
  await small.ask('hello')
  const other = await client(door)
  other.write(part)
  expect((await other.next()).error).toMatchObject({ data: { reason: 'busy' } })
  await other.gone()
  expect((await small.ask('hello')).result.session_id).toBeDefined()
  one.write('"}}\n')
  expect((await one.next()).result.session_id).toBeDefined()
  // What was answered takes no room any more.
  const late = await client(door)
  late.write(`${part}"}}\n`)
  expect((await late.next()).result.session_id).toBeDefined()
})

test('a connection that sends large frames faster than they are answered is read no further meanwhile', async () => {
  const { door } = await serveWithin({ roomBytes: 64 * 2 ** 20 })
  const one = await client(door)
  const frame = `{"id":1,"method":"hello","params":{"odd":"${'x'.repeat(9 * 2 ** 20)}"}}\n`
  for (let count = 0; count < 12; count++) one.write(frame)
  for (let count = 0; count < 12; count++) expect((await one.next()).result.session_id).toBeDefined()
})

test('who connects and says nothing, or begins a frame and never ends it, is hung up on', async () => {
  const { door, channel } = await serveWithin({ frameMs: 80 })
  const [silent, slow, good] = await Promise.all([client(door), client(door), client(door)])
  await good.ask('hello')
  const trickle = setInterval(() => slow.write('{'), 20)
  await Promise.all([silent.gone(), slow.gone()])
  clearInterval(trickle)
  // Whoever has spoken may be silent for as long as its agent thinks.
  expect((await good.ask('hello')).result).toBeDefined()
  await good.vanish()
  await expect.poll(() => channel.size).toBe(0)
})

test('a client that reads nothing does not keep the door from closing', async () => {
  const core = fakeCore()
  const create: SessionCore['create'] = async (request) => {
    const session = await core.create(request)
    const opening = await session.opened()
    const messages = [{ role: 'user' as const, content: 'x'.repeat(15 * 2 ** 20) }]
    return Object.assign(session, { opened: async () => ({ ...opening, messages }) })
  }
  const door = await serve(Object.assign(Object.create(core), { create }))
  const one = await client(door)
  one.socket.pause()
  one.send('tasks.start', first)
  await sleep(200)
  const began = performance.now()
  await doors.pop()!.close()
  expect(performance.now() - began).toBeLessThan(3_000)
})

test('closing the door ends its connections', async () => {
  const door = await serve(fakeCore({ stepMs: 10_000 }))
  const one = await client(door)
  await one.ask('tasks.start', first)
  one.send('tasks.grade', right)
  await sleep(20)
  await door.close()
  await one.gone()
})
