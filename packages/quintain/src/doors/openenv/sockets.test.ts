import { randomBytes } from 'node:crypto'
import { connect as connectTcp } from 'node:net'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { openServed } from './__fixtures__/serve.ts'
import type { SocketClient } from './__fixtures__/socket-client.ts'
import { openEnvDoor } from './door.ts'

const serve = (...[given, times]: [Parameters<typeof openServed>[1]?, Parameters<typeof openServed>[2]?]) =>
  openServed(onTestFinished, given, times)

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** A counter whose sessions carry out calls in another way. */
function withCalls(change: (name: string, calls: number) => Promise<string> | string): SessionCore {
  const core = fakeCore({ kind: 'tools' })
  const { create } = core
  let calls = 0
  core.create = async (request) => {
    const session = await create(request)
    session.call = async ({ name }) => ({ content: await change(name, ++calls) })
    return session
  }
  return core
}

const key = '0123456789abcdef'.repeat(2)
const read = { type: 'step', data: { type: 'call_tool', tool_name: 'read', arguments: {} } }
const resultOf = (frame: Awaited<ReturnType<SocketClient['next']>>) =>
  (frame.data.observation['result'] as { data: string }).data

describe('frames that are not what they should be', () => {
  test.each([
    ['no JSON', '{"type":', 'INVALID_JSON'],
    ['empty', '', 'INVALID_JSON'],
    ['nested too deep', `${'['.repeat(600)}${']'.repeat(600)}`, 'INVALID_JSON'],
    ['no object', '[1]', 'VALIDATION_ERROR'],
    ['null', 'null', 'VALIDATION_ERROR'],
    ['of no type', '{}', 'UNKNOWN_TYPE'],
    ['of a type that is no text', '{"type":{"a":1}}', 'UNKNOWN_TYPE'],
    ['of an unknown type', '{"type":"__proto__"}', 'UNKNOWN_TYPE'],
    ['a step without an action', '{"type":"step"}', 'VALIDATION_ERROR'],
    ['a step that is a list', '{"type":"step","data":[]}', 'VALIDATION_ERROR'],
    ['a step before its reset', JSON.stringify(read), 'EXECUTION_ERROR'],
  ])('%s', async (_what, text, code) => {
    const client = (await serve({ kind: 'tools' })).connect()
    const answer = await client.ask(text)
    expect(answer).toMatchObject({ type: 'error', data: { code } })
    expect(answer.data.message).not.toBe('')
    expect((await client.reset()).type).toBe('observation')
  })

  test('binary ones are refused, and the socket goes on', async () => {
    const client = await (await serve()).connect().opened()
    client.socket.send(randomBytes(100))
    expect((await client.next()).data.code).toBe('INVALID_JSON')
    client.socket.send(Buffer.from('{"type":"reset"}'))
    expect((await client.next()).data.code).toBe('INVALID_JSON')
    expect((await client.reset()).type).toBe('observation')
  })

  test('one that is too long ends the socket with the code for that, and the server goes on', async () => {
    const { connect } = await serve({}, { mostFrameBytes: 10_000 })
    const client = await connect().opened()
    client.send('x'.repeat(10_001))
    expect(await client.closed).toBe(1009)
    expect((await connect().reset()).type).toBe('observation')
  })

  test('bytes that are no frames at all end the socket alone', async () => {
    const { connect } = await serve()
    const client = await connect().opened()
    ;(client.socket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(
      randomBytes(2_000),
    )
    await client.closed
    expect((await connect().reset()).type).toBe('observation')
  })

  test('whatever comes, each frame has one answer, in its place', async () => {
    const { connect } = await serve({ kind: 'tools' })
    const frame = fc.oneof(
      fc.string().filter((text) => !text.includes('close')),
      fc.json(),
      fc.record({
        type: fc.constantFrom('reset', 'step', 'mcp', 'state', 'x'),
        data: fc.jsonValue(),
      }),
      fc.constant(read),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 8 }), async (frames) => {
        const client = await connect().opened()
        for (const one of frames) client.send(one)
        client.send({ type: 'state' })
        for (const _one of frames) {
          const { type } = await client.next()
          expect(['observation', 'error', 'mcp', 'state']).toContain(type)
        }
        const { type, data } = await client.next()
        expect([type, typeof data['session_id']]).toEqual(['state', 'string'])
        client.socket.terminate()
      }),
      { numRuns: 40 },
    )
  })
})

describe('order', () => {
  test('answers come in the order of the frames, however long each takes', async () => {
    const client = (
      await serve(
        withCalls(async (_name, n) => {
          await sleep(n % 2 === 0 ? 0 : 20)
          return String(n)
        }),
      )
    ).connect()
    await client.reset()
    for (let n = 0; n < 20; n++) client.send(n % 5 === 4 ? { type: 'state' } : read)
    const got: string[] = []
    for (let n = 0; n < 20; n++) {
      const frame = await client.next()
      got.push(frame.type === 'state' ? `after ${String(frame.data['step_count'])}` : resultOf(frame))
    }
    expect(got.slice(0, 10)).toEqual(['1', '2', '3', '4', 'after 4', '5', '6', '7', '8', 'after 8'])
    expect(got.at(-2)).toBe('16')
  })

  test('what stands behind a close is not carried out', async () => {
    let calls = 0
    const client = (await serve(withCalls(() => String(++calls)))).connect()
    await client.reset()
    for (const frame of [read, { type: 'close' }, read, read]) client.send(frame)
    expect(resultOf(await client.next())).toBe('1')
    expect(await client.closed).toBe(1000)
    await sleep(30)
    expect(calls).toBe(1)
  })

  test('a world that hangs is a fault, and the answers after it are those of their questions', async () => {
    const core = withCalls((name) => (name === 'hang' ? new Promise(() => {}) : name))
    const client = (await serve(core, { replyMs: 500 })).connect()
    await client.reset()
    client.send({ type: 'step', data: { tool_name: 'hang' } })
    client.send({ type: 'state' })
    client.send(read)
    expect((await client.next()).data).toMatchObject({
      code: 'EXECUTION_ERROR',
      reason: 'infrastructure',
      fault: { owner: 'world', code: 'timeout' },
    })
    expect((await client.next()).type).toBe('state')
    expect((await client.next()).data).toMatchObject({ code: 'EXECUTION_ERROR', fault: { code: 'timeout' } })
    await client.reset()
    expect(resultOf(await client.ask(read))).toBe('read')
  })

  test('an opening that hangs is given up, and its world is closed when it comes', async () => {
    const core = fakeCore({ kind: 'tools' })
    const { create } = core
    let hangs = true
    core.create = async (request) => {
      const session = await create(request)
      if (hangs) session.opened = () => new Promise(() => {})
      return session
    }
    const client = (await serve(core, { replyMs: 500 })).connect()
    expect((await client.reset()).data).toMatchObject({ fault: { code: 'timeout' } })
    expect(core.stats().open).toBe(0)
    hangs = false
    expect((await client.reset()).type).toBe('observation')
  })
})

describe('clients that are slow, dead or gone', () => {
  test('who sends a thousand frames and reads nothing holds up himself alone', async () => {
    const text = 'x'.repeat(100_000)
    let calls = 0
    const { connect } = await serve(
      withCalls((_name, n) => {
        calls = n
        return text
      }),
    )
    const client = connect()
    await client.reset()
    client.socket.pause()
    const filler = { ...read, filler: 'y'.repeat(1_000) }
    for (let n = 0; n < 1_000; n++) client.send(filler)
    const before = await steady(() => calls)
    expect(before).toBeLessThan(200)
    const other = connect()
    await other.reset()
    expect(resultOf(await other.ask(read))).toBe(text)
    client.socket.resume()
    for (let n = 0; n < 250; n++) expect((await client.next()).type).toBe('observation')
    expect(calls).toBeGreaterThan(before)
  })

  test('the server asks for signs of life, and ends sockets without any', async () => {
    const { connect, core } = await serve({ kind: 'game' }, { pingMs: 50, deadMs: 1_000, graceMs: 60 })
    const alive = connect()
    let pings = 0
    alive.socket.on('ping', () => pings++)
    await alive.reset()
    const dead = connect()
    await dead.reset()
    dead.socket.pause()
    await until(() => core.stats().open === 1)
    expect(pings).toBeGreaterThan(2)
    expect((await alive.step({ message: 'right' })).data.reward).toBe(1)
  })

  test('pings of clients are answered while a step takes its time', async () => {
    const client = (await serve({ kind: 'tools', stepMs: 300 })).connect()
    await client.reset()
    client.send(read)
    const pong = new Promise((resolve) => client.socket.once('pong', () => resolve('pong')))
    client.socket.ping()
    expect(await Promise.race([pong, client.next()])).toBe('pong')
  })

  test('one that broke somewhere on the way gives way to its client that comes back', async () => {
    const { connect } = await serve({ kind: 'tools' }, { pingMs: 600 })
    const silent = connect()
    await silent.reset({ episode_id: 'mine', resume_key: key })
    await silent.call('add', { by: 1 })
    const back = connect()
    expect((await back.reset({ resume_key: key, resume: true })).type).toBe('error')
    silent.socket.pause()
    for (let answer = 'error'; answer === 'error'; ) {
      await sleep(100)
      answer = (await back.reset({ resume_key: key, resume: true })).type
    }
    expect(resultOf(await back.ask(read))).toBe('1')
  })

  test('sessions are touched by pongs', async () => {
    const core = fakeCore({ kind: 'game' })
    const { create } = core
    let touched = 0
    core.create = async (request) => {
      const session = await create(request)
      session.touch = () => void touched++
      return session
    }
    const client = (await serve(core, { pingMs: 10 })).connect()
    await client.reset()
    await until(() => touched > 3)
  })
})

describe('who may connect', () => {
  test('with a token, those who show it', async () => {
    const { connect, url } = await serve({}, { token: 'secret' })
    const client = connect('/ws', { authorization: 'Bearer secret' })
    expect((await client.reset()).type).toBe('observation')
    const refused = connect('/ws')
    expect(await refused.closed).toBe(1006)
    expect((await fetch(`${url}/health`)).status).toBe(200)
    expect((await fetch(`${url}/schema`)).status).toBe(401)
  })

  test('nobody from afar without one', async () => {
    const core = fakeCore()
    await expect(openEnvDoor.open([core], { host: '0.0.0.0', port: 0, log: () => {} })).rejects.toMatchObject(
      { code: 'usage' },
    )
  })

  test('not pages of other origins, and not for other paths', async () => {
    const { connect } = await serve()
    expect(await connect('/ws', { origin: 'https://evil.example' }).closed).toBe(1006)
    expect(await connect('/other').closed).toBe(1006)
  })

  test('who hangs up in the middle of the handshake ends nothing', async () => {
    const { connect, url } = await serve()
    const { port } = new URL(url)
    for (let n = 0; n < 20; n++) {
      const socket = connectTcp(Number(port), '127.0.0.1', () => {
        socket.write(
          'GET /nothing HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
        )
        socket.resetAndDestroy()
      })
      socket.on('error', () => {})
    }
    await sleep(50)
    expect((await connect().reset()).type).toBe('observation')
  })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10)
}

/** A count, once it has stopped growing. */
async function steady(count: () => number): Promise<number> {
  for (let before = -1; ; ) {
    await sleep(150)
    if (count() === before) return before
    before = count()
  }
}
