import { connect, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type HttpPort, type HttpPortOptions, HttpProblem, openHttp } from './http-port.ts'

let open: HttpPort | undefined
const sockets: Socket[] = []
const logged: string[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await open?.close()
  open = undefined
  logged.length = 0
})

async function opened(options: Partial<HttpPortOptions> = {}): Promise<HttpPort> {
  open = await openHttp({
    host: '127.0.0.1',
    port: 0,
    maxBodyBytes: 1_000,
    handle: async (call) => ({ json: { path: call.path, body: (await call.json()) ?? null } }),
    log: (line) => logged.push(line),
    ...options,
  })
  return open
}

/** A connection on which bytes are sent as they are, with all that came back. */
class Raw {
  text = ''
  ended = false
  error: string | undefined
  readonly socket: Socket

  constructor(port: number) {
    this.socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    sockets.push(this.socket)
    this.socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1')
    })
    this.socket.on('end', () => {
      this.ended = true
    })
    this.socket.on('close', () => {
      this.ended = true
    })
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error = error.code
    })
  }

  send(text: string): this {
    this.socket.write(text)
    return this
  }

  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
  }
}

const head = (line: string, ...headers: string[]) =>
  `${[`${line} HTTP/1.1`, 'host: 127.0.0.1', ...headers].join('\r\n')}\r\n\r\n`

test('a body that is too long is refused in words, whether its length was told or not, and the connection ended', async () => {
  const { port } = await opened()
  const told = new Raw(port).send(head('POST /a', 'content-length: 50000000') + 'x'.repeat(5_000))
  const untold = new Raw(port).send(
    `${head('POST /a', 'transfer-encoding: chunked')}ffff\r\n${'x'.repeat(0xffff)}\r\n`,
  )
  for (const one of [told, untold]) {
    await expect.poll(() => one.statuses).toEqual([413])
    expect(one.text).toContain('more than 1000 bytes')
    await expect.poll(() => one.ended, { timeout: 5_000 }).toBe(true)
  }
})

test('a client that reads only after it has sent everything is told that it was too much', async () => {
  const { port } = await opened()
  const body = 'x'.repeat(20_000_000)
  const told = new Raw(port).send(head('POST /a', `content-length: ${body.length}`))
  const untold = new Raw(port).send(head('POST /a', 'transfer-encoding: chunked'))
  const sent = (one: Raw, text: string) =>
    new Promise<void>((resolve) => one.socket.pause().write(text, () => resolve()))
  await Promise.all([sent(told, body), sent(untold, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)])
  for (const one of [told, untold]) {
    one.socket.resume()
    await expect.poll(() => one.statuses).toEqual([413])
    await expect.poll(() => one.ended, { timeout: 5_000 }).toBe(true)
    expect(one.error).toBeUndefined()
  }
  const response = await fetch(`http://127.0.0.1:${port}/a`, { method: 'POST', body })
  expect(response.status).toBe(413)
})

test('who is refused cannot send a body for ever', async () => {
  const { port } = await opened({ token: 'secret' })
  const one = new Raw(port).send(`${head('POST /a', 'transfer-encoding: chunked')}4\r\naaaa\r\n`)
  await expect.poll(() => one.statuses).toEqual([401])
  await expect.poll(() => one.ended, { timeout: 5_000 }).toBe(true)
})

test('a request that was refused leaves the connection to the next where nothing is left of it', async () => {
  const { port } = await opened({ token: 'secret' })
  const one = new Raw(port).send(head('GET /a')).send(head('GET /b', 'authorization: Bearer secret'))
  await expect.poll(() => one.statuses).toEqual([401, 200])
})

test('a client that breaks off within its body is no defect, and nothing is logged', async () => {
  const { port } = await opened()
  const one = new Raw(port).send(`${head('POST /a', 'content-length: 100')}{"a":`)
  await new Promise((resolve) => setTimeout(resolve, 50))
  one.socket.destroy()
  await new Promise((resolve) => setTimeout(resolve, 50))
  const half = new Raw(port).send(`${head('POST /a', 'content-length: 100')}{"a":`)
  half.socket.end()
  await expect.poll(() => half.ended).toBe(true)
  expect(logged).toEqual([])
  const next = new Raw(port).send(head('GET /b'))
  await expect.poll(() => next.statuses).toEqual([200])
})

test('a client that has sent everything and reads on is answered', async () => {
  const { port } = await opened()
  const one = new Raw(port).send(`${head('POST /a', 'content-length: 2')}{}`)
  one.socket.end()
  await expect.poll(() => one.statuses).toEqual([200])
})

test('requests that come at once are answered in their order', async () => {
  const { port } = await opened({
    handle: async ({ path }) => {
      // The first is the slowest.
      await new Promise((resolve) => setTimeout(resolve, 60 - 10 * Number(path.slice(1))))
      return { text: `answer ${path}` }
    },
  })
  const one = new Raw(port).send([1, 2, 3, 4, 5].map((place) => head(`GET /${place}`)).join(''))
  await expect.poll(() => one.statuses.length).toBe(5)
  expect([...one.text.matchAll(/answer (\/\d)/g)].map(([, path]) => path)).toEqual([
    '/1',
    '/2',
    '/3',
    '/4',
    '/5',
  ])
})

test('headers that are too many or too long, and what is no HTTP, are refused and hung up on', async () => {
  const { port } = await opened()
  const cases = [
    [head('GET /a', `x-long: ${'x'.repeat(40_000)}`), 431],
    [head('GET /a', ...Array.from({ length: 5_000 }, (_, at) => `x-${at}: ${at}`)), 431],
    ['hello\r\n\r\n', 400],
    [head('POST /a', 'content-length: 5', 'transfer-encoding: chunked'), 400],
    [head('POST /a', 'content-length: 5', 'content-length: 6'), 400],
    [head('POST /a', 'content-length: -1'), 400],
    ['GET /a HTTP/1.1\r\n\r\n', 400],
    ['GET /a HTTP/1.0\r\n\r\n', 421],
  ] as const
  for (const [bytes, status] of cases) {
    const one = new Raw(port).send(bytes)
    await expect.poll(() => [bytes.slice(0, 60), ...one.statuses]).toEqual([bytes.slice(0, 60), status])
    await expect.poll(() => one.ended).toBe(true)
  }
  expect(logged).toEqual([])
})

test('the host of a request is the one of its header, whatever its first line says', async () => {
  const { port } = await opened()
  const paths = ['http://evil.test/a', '//evil.test/a', '/../a', '/a%2f..', '*']
  for (const path of paths) {
    const one = new Raw(port).send(head(`GET ${path}`))
    await expect.poll(() => one.text).toContain(`"path":${JSON.stringify(path)}`)
  }
  const evil = new Raw(port).send('GET http://127.0.0.1/a HTTP/1.1\r\nhost: evil.test\r\n\r\n')
  await expect.poll(() => evil.statuses).toEqual([421])
})

test('an answer that cannot be sent ends the request and not the process', async () => {
  const { port } = await opened({
    handle: async ({ path }) => {
      if (path === '/headers') return { headers: { 'x-bad': 'a\nb' }, text: 'x' }
      if (path === '/json') return { json: { big: 1n } }
      throw new HttpProblem(400, 'no', { 'x-bad': 'a\nb' })
    },
  })
  for (const path of ['/headers', '/json']) {
    const one = new Raw(port).send(head(`GET ${path}`))
    await expect.poll(() => one.statuses).toEqual([500])
  }
  const one = new Raw(port).send(head('GET /problem'))
  await expect.poll(() => one.ended).toBe(true)
  expect(logged).toHaveLength(3)
})

test('a client that reads nothing keeps nobody else from being answered', async () => {
  const { port } = await opened({ handle: async () => ({ text: 'x'.repeat(10 * 2 ** 20) }) })
  const slow = new Raw(port)
  slow.socket.pause()
  slow.send(head('GET /a').repeat(3))
  const other = new Raw(port).send(head('GET /a'))
  await expect.poll(() => other.text.length, { timeout: 5_000 }).toBeGreaterThan(10 * 2 ** 20)
})
