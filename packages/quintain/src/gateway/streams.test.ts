import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { HeldModel, providerFault, seatOf } from './__fixtures__/held-model.ts'
import { ask } from './__fixtures__/raw-client.ts'
import type { Gateway, GatewayOptions } from './gateway.ts'
import { openGateway } from './open-gateway.ts'

const opened: Gateway[] = []
afterEach(async () => {
  for (const gateway of opened.splice(0)) await gateway.close()
})

async function leased(options: GatewayOptions = {}) {
  const gateway = await openGateway({ ...options, log: (text) => expect.fail(text) })
  opened.push(gateway)
  const model = new HeldModel()
  const held = seatOf(model)
  const lease = gateway.open({ seat: held.seat, signal: held.over.signal })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${lease.apiKey}` }
  const post = (dialect: keyof typeof bodies) =>
    ask({ port: gateway.port, path: paths[dialect], headers, body: JSON.stringify(bodies[dialect]) })
  /** Sends a request and gives its response, of which nothing is read. */
  const unread = async (): Promise<IncomingMessage> => {
    const sent = httpRequest({ port: gateway.port, method: 'POST', path: paths.chat, agent: false, headers })
    sent.on('error', () => {})
    const reply = once(sent, 'response')
    sent.end(JSON.stringify(bodies.chat))
    const call = await model.call(model.calls.length)
    void call.tell({ type: 'text', text: 'first' })
    const [response] = await reply
    response.on('error', () => {})
    return response
  }
  return { gateway, lease, model, post, unread, ...held }
}

const messages = [{ role: 'user', content: 'hello' }]
const bodies = {
  chat: { model: 'm', stream: true, messages },
  responses: { model: 'm', stream: true, input: 'hello' },
  messages: { model: 'm', stream: true, max_tokens: 100, messages },
}
const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' }
const names = ['chat', 'responses', 'messages'] as const
const last = { chat: '[DONE]', responses: 'response.completed', messages: 'message_stop' }
const piece = 'x'.repeat(10_000)

/** Waits for the end of a response, whatever it is. */
async function closed(response: IncomingMessage): Promise<void> {
  if (!response.closed) await new Promise((resolve) => response.once('close', resolve))
}

/** Tells pieces until the reader does not keep up. */
async function fill(model: HeldModel): Promise<{ pieces: number; open: Promise<void> }> {
  for (let pieces = 1; pieces < 100_000; pieces++) {
    const open = model.calls[0]!.tell({ type: 'text', text: piece })
    if (open instanceof Promise) {
      const first = await Promise.race([
        open.then(() => 'read' as const),
        new Promise((resolve) => setTimeout(resolve, 50)),
      ])
      if (first !== 'read') return { pieces, open }
    }
  }
  return expect.fail('a reader that reads nothing was never waited for')
}

test.each(names)('%s: a stream that breaks is never passed off as complete', async (name) => {
  const { model, post } = await leased()
  const reply = post(name)
  const call = await model.call(0)
  void call.tell({ type: 'text', text: 'half' })
  call.fail(providerFault('stream_incomplete'))
  const { status, text, broken } = await reply
  expect(status).toBe(200)
  expect(text).toContain('half')
  expect(text).toContain('it is down')
  expect(text).not.toContain(last[name])
  expect(broken).toBe(true)
})

test.each([
  ['1.1', true],
  ['1.0', false],
])('HTTP/%s: a stream is framed as its caller can read it, by bytes', async (version, chunked) => {
  const { gateway, lease, model } = await leased()
  const body = JSON.stringify(bodies.chat)
  const socket = connect(gateway.port, '127.0.0.1')
  let sent = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    sent = Buffer.concat([sent, data])
  })
  const asked = [
    `POST ${paths.chat} HTTP/${version}`,
    'host: localhost',
    'content-type: application/json',
    `content-length: ${body.length}`,
    `authorization: Bearer ${lease.apiKey}`,
  ]
  socket.write(`${asked.join('\r\n')}\r\n\r\n${body}`)
  const first = await model.call(0)
  void first.tell({ type: 'text', text: 'é東😀' })
  // A piece of its own, and then the rest.
  await once(socket, 'data')
  void first.tell({ type: 'text', text: ' plain' })
  await once(socket, 'data')
  first.answer('é東😀 plain')
  if (chunked) {
    // The same connection takes another request once the stream has ended.
    while (!sent.includes('\r\n0\r\n\r\n')) await once(socket, 'data')
    socket.write(
      `GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ${lease.apiKey}\r\n\r\n`,
    )
  }
  if (!socket.readableEnded) await once(socket, 'end')
  socket.end()
  const at = sent.indexOf('\r\n\r\n') + 4
  const head = sent.subarray(0, at).toString()
  expect(/^transfer-encoding: chunked\r$/im.test(head)).toBe(chunked)
  const { text, rest } = chunked ? unchunked(sent.subarray(at)) : { text: `${sent.subarray(at)}`, rest: '' }
  expect(text).toMatch(/^data: \{.*é東😀.*\n\ndata: \{.* plain.*\n\n(?:.*\n\n)*data: \[DONE\]\n\n$/)
  if (chunked) expect(rest).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*"object":"list"/)
})

/** Takes a chunked body (RFC 9112 §7.1) apart. Gives what follows it, too. */
function unchunked(body: Buffer): { text: string; rest: string } {
  const pieces: Buffer[] = []
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.subarray(at, end).toString(), 16)
    pieces.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
    expect(body.subarray(at - 2, at).toString()).toBe('\r\n')
    if (size === 0) return { text: `${Buffer.concat(pieces)}`, rest: body.subarray(at).toString() }
  }
}

test('the model is told to wait for a reader that does not keep up, and goes on when it reads', async () => {
  const { model, unread } = await leased()
  const response = await unread()
  const { pieces, open } = await fill(model)
  // What waits is in the buffers of two sockets and one writer.
  expect(pieces * piece.length).toBeLessThan(20_000_000)
  let bytes = 0
  response.on('data', (data: Buffer) => {
    bytes += data.length
  })
  await open
  model.calls[0]!.answer('all')
  await once(response, 'end')
  expect(bytes).toBeGreaterThan(pieces * piece.length)
})

test('a stream that is never read ends, and its call is given up', async () => {
  const { model, unread, recorder } = await leased({ stallMs: 100, graceMs: 10 })
  const response = await unread()
  const { open } = await fill(model)
  await open
  if (!model.calls[0]!.context.signal.aborted) await once(model.calls[0]!.context.signal, 'abort')
  while (recorder.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(recorder.calls[0]?.flags).toEqual(['client_left', 'usage_estimated'])
  response.resume()
  await closed(response)
  expect(response.complete).toBe(false)
})

test('the end of the attempt ends its streams at once, read or not', async () => {
  const { model, unread, post, over } = await leased()
  const response = await unread()
  const { open } = await fill(model)
  const reading = post('chat')
  void (await model.call(1)).tell({ type: 'text', text: 'half' })
  while (model.calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  over.abort()
  await open
  const read = await reading
  expect(read.broken || read.status === 403).toBe(true)
  expect(read.text).toContain('attempt_over')
  response.resume()
  await closed(response)
  expect(response.complete).toBe(false)
})

test('a stream that waits long begins with a comment; an error after that is told in it', async () => {
  const { model, post } = await leased({ keepAliveMs: 20 })
  const fine = post('chat')
  const broken = post('messages')
  const [first, second] = [await model.call(0), await model.call(1)]
  await new Promise((resolve) => setTimeout(resolve, 200))
  for (const call of [first, second]) {
    if (call.request.wire?.dialect === 'chat') call.answer('at last')
    else call.fail(providerFault('http_500'))
  }
  const whole = await fine
  expect(whole.text.match(/: keep-alive\n\n/g)?.length).toBeGreaterThan(1)
  expect(whole.text.replaceAll(': keep-alive\n\n', '')).toMatch(/^data: /)
  expect(whole.text).toContain('at last')
  expect(whole.text).toContain('[DONE]')
  const half = await broken
  expect(half.text).toContain('event: error')
  expect(half.broken).toBe(true)
})

test('in this process: a stream is read as it comes, waits for its reader, and breaks as one of the network does', async () => {
  const { model, lease, recorder } = await leased({ graceMs: 10 })
  let asked = 0
  // Each asks something else, so that none is taken for a repetition of one that was given up.
  const init = () => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...bodies.chat, seed: asked++ }),
  })
  const start = async (signal?: AbortSignal) => {
    const reply = lease.fetch(`${lease.baseURL}/chat/completions`, {
      ...init(),
      ...(signal === undefined ? {} : { signal }),
    })
    const call = await model.call(model.calls.length)
    void call.tell({ type: 'text', text: 'one ' })
    return { call, response: await reply }
  }

  const whole = await start()
  void whole.call.tell({ type: 'text', text: 'two' })
  whole.call.answer('one two')
  const text = await whole.response.text()
  expect(text).toContain('two')
  expect(text).toContain('[DONE]')

  const slow = await start()
  let open: void | Promise<void>
  let pieces = 0
  do {
    open = slow.call.tell({ type: 'text', text: piece })
    pieces++
  } while (open === undefined)
  expect(pieces * piece.length).toBeLessThan(1_000_000)
  const reader = slow.response.body!.getReader()
  const read = async (): Promise<void> => {
    while (!(await reader.read()).done);
  }
  const all = read()
  await open
  slow.call.answer('all')
  await all

  const half = await start()
  half.call.fail(providerFault('stream_incomplete'))
  await expect(half.response.text()).rejects.toThrow('terminated')

  const gone = new AbortController()
  const given = await start(gone.signal)
  gone.abort(new Error('enough'))
  await expect(given.response.text()).rejects.toThrow('enough')
  if (!given.call.context.signal.aborted) await once(given.call.context.signal, 'abort')
  expect(recorder.calls.at(-1)?.flags ?? ['client_left', 'usage_estimated']).toEqual([
    'client_left',
    'usage_estimated',
  ])

  const before = new AbortController()
  const unanswered = lease.fetch(lease.baseURL.concat('/chat/completions'), {
    ...init(),
    signal: before.signal,
  })
  await model.call(model.calls.length)
  before.abort(new Error('too slow'))
  await expect(unanswered).rejects.toThrow('too slow')

  const cancelled = await start()
  await cancelled.response.body?.cancel()
  if (!cancelled.call.context.signal.aborted) await once(cancelled.call.context.signal, 'abort')
})
