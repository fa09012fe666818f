import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { type HttpCall, type HttpPort, type HttpPortOptions, HttpProblem, openHttp } from './http-port.ts'

const token = 'a-token-of-32-characters-exactly'
let open: HttpPort | undefined
const logged: string[] = []

afterEach(async () => {
  await open?.close()
  open = undefined
  logged.length = 0
})

async function opened(options: Partial<HttpPortOptions> = {}): Promise<HttpPort> {
  open = await openHttp({
    host: '127.0.0.1',
    port: 0,
    async handle(call) {
      if (call.path === '/problem') throw new HttpProblem(418, 'short and stout', { 'x-why': 'tea' })
      if (call.path === '/defect') throw new Error('canary of the inside')
      if (call.path === '/text') return { status: 201, text: 'ok', headers: { 'x-more': '1' } }
      return {
        json: {
          method: call.method,
          path: call.path,
          query: [...call.query],
          cookie: call.cookie('sid'),
          again: await sameTwice(call),
          body: await call.json(),
        },
      }
    },
    log: (line) => logged.push(line),
    ...options,
  })
  return open
}

/** A body can be asked for by two parts of a handler. */
async function sameTwice(call: HttpCall): Promise<boolean> {
  const first = await call.json()
  return first === (await call.json())
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** As `fetch`, but with headers that it sets itself. */
function ask(
  port: number,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers, agent: false },
      (response) => {
        text(response).then(
          (whole) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: whole }),
          reject,
        )
      },
    )
    request.on('error', reject)
    request.end(body)
  })
}

describe('requests', () => {
  test('reach the handler as they were sent, and are answered as JSON or text', async () => {
    const { port, url } = await opened()
    expect(url).toBe(`http://127.0.0.1:${port}`)
    const { status, body } = await ask(port, '/a%2Fb/../c?x=1&x=2', {
      method: 'POST',
      headers: { cookie: 'other=1; sid=abc ; more=' },
      body: '{"n":[1]}',
    })
    expect(status).toBe(200)
    expect(JSON.parse(body)).toEqual({
      method: 'POST',
      path: '/a%2Fb/../c',
      query: [
        ['x', '1'],
        ['x', '2'],
      ],
      cookie: 'abc',
      again: true,
      body: { n: [1] },
    })
    expect(await ask(port, '/text')).toMatchObject({
      status: 201,
      body: 'ok',
      headers: { 'x-more': '1', 'content-type': 'text/plain; charset=utf-8' },
    })
  })

  test('that a handler refuses are told why; a defect is told only to the log', async () => {
    const { port } = await opened()
    expect(await ask(port, '/problem')).toMatchObject({
      status: 418,
      headers: { 'x-why': 'tea' },
      body: '{"detail":"short and stout"}',
    })
    const defect = await ask(port, '/defect')
    expect(defect.status).toBe(500)
    expect(defect.body).not.toContain('canary')
    expect(logged.join()).toContain('canary of the inside')
  })

  test('may have refusals of another form', async () => {
    const { port } = await opened({ problem: (status, message) => ({ error: { status, message } }) })
    expect((await ask(port, '/problem')).body).toBe('{"error":{"status":418,"message":"short and stout"}}')
  })

  test.each([
    ['no JSON', '{"a":', 400],
    ['a nesting of 100,000', '['.repeat(100_000), 400],
    ['more than may be', `"${'x'.repeat(2_000)}"`, 413],
  ])('with a body of %s are refused', async (_, body, status) => {
    const { port } = await opened({ maxBodyBytes: status === 413 ? 1_000 : 1 << 20 })
    expect((await ask(port, '/', { method: 'POST', body })).status).toBe(status)
    const chunked = { 'transfer-encoding': 'chunked' }
    expect((await ask(port, '/', { method: 'POST', body, headers: chunked })).status).toBe(status)
  })

  test('without a body have none', async () => {
    const { port } = await opened()
    for (const body of ['', ' \n'])
      expect(JSON.parse((await ask(port, '/', { method: 'POST', body })).body)).not.toHaveProperty('body')
  })
})

describe('who may ask', () => {
  test.each([
    [{ authorization: `Bearer ${token}` }, 200],
    [{ authorization: `bearer  ${token}` }, 200],
    [{ 'x-api-key': token }, 200],
    [{}, 401],
    [{ authorization: token }, 401],
    [{ authorization: 'Bearer ' }, 401],
    [{ authorization: `Bearer ${token}x` }, 401],
    [{ authorization: `Bearer ${token.toUpperCase()}` }, 401],
    [{ 'x-api-key': '' }, 401],
  ])('with a token, %j gives %i', async (headers, status) => {
    const { port } = await opened({ token, open: new Set(['/health']) })
    const answer = await ask(port, '/x', { headers: headers as Record<string, string> })
    expect(answer.status).toBe(status)
    expect(answer.body).not.toContain(token)
    expect((await ask(port, '/health?x=/y', {})).status).toBe(200)
    expect((await ask(port, '/health/', {})).status).toBe(401)
    expect(logged.join()).not.toContain(token)
  })

  test.each([
    [{ host: 'evil.example' }, 421],
    [{ host: 'localhost.evil.example' }, 421],
    [{ host: '127.0.0.1.evil.example:80' }, 421],
    [{ host: 'localhost:1' }, 200],
    [{ host: 'LOCALHOST' }, 200],
    [{ host: '[::1]:99' }, 200],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://localhost:3000' }, 200],
  ])('%j gives %i: pages of other origins reach nothing', async (headers, status) => {
    const { port } = await opened()
    expect((await ask(port, '/', { headers: headers as Record<string, string> })).status).toBe(status)
  })

  test('names of this machine that were given are taken', async () => {
    const { port } = await opened({ names: new Set(['train.example']) })
    expect((await ask(port, '/', { headers: { host: 'train.example:8000' } })).status).toBe(200)
    expect((await ask(port, '/', { headers: { host: 'other.example:8000' } })).status).toBe(421)
  })

  test('upgrades pass the same checks', async () => {
    const { port } = await opened({
      token,
      upgrade: (_, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'),
    })
    const upgraded = (headers: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1')
        socket.end(`GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n${headers}\r\n\r\n`)
        void text(socket).then((all) => resolve(all.split('\r\n', 1)[0]!))
      })
    expect(await upgraded('Host: localhost')).toBe('HTTP/1.1 401 Refused')
    expect(await upgraded(`Host: evil.example\r\nX-API-Key: ${token}`)).toBe('HTTP/1.1 421 Refused')
    expect(await upgraded(`Host: localhost\r\nX-API-Key: ${token}`)).toBe('HTTP/1.1 101 Switching Protocols')
  })
})

describe('an address', () => {
  test('that is in use is refused by its number', async () => {
    const { port } = await opened()
    await expect(
      openHttp({ host: '127.0.0.1', port, handle: async () => undefined, log: () => {} }),
    ).rejects.toMatchObject({ code: 'usage', facts: { host: '127.0.0.1', port } })
  })

  test('that closes lets the answer that is under way out, and nothing more in', async () => {
    const began = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    const { port, close } = await opened({
      async handle() {
        began.resolve()
        await goOn.promise
        return { text: 'the last words' }
      },
    })
    const answer = ask(port, '/')
    await began.promise
    const closed = close()
    await expect(ask(port, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    goOn.resolve()
    expect(await answer).toMatchObject({ status: 200, body: 'the last words' })
    await closed
  })

  test('that closes waits for no call that hangs', async () => {
    const began = Promise.withResolvers<void>()
    const { port, close } = await opened({
      handle() {
        began.resolve()
        return new Promise(() => {})
      },
    })
    const answer = ask(port, '/').catch((error: NodeJS.ErrnoException) => error.code)
    await began.promise
    const before = performance.now()
    await close()
    expect(performance.now() - before).toBeLessThan(5_000)
    expect(await answer).toBe('ECONNRESET')
  })
})

test.each(['0.0.0.0', '::', 'example.org'])('nothing listens on %s without a token', async (host) => {
  await expect(opened({ host })).rejects.toMatchObject({ code: 'usage', facts: { host } })
})
