import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { HeldModel, providerFault, seatOf } from './__fixtures__/held-model.ts'
import { ask, type RawReply } from './__fixtures__/raw-client.ts'
import type { Gateway, GatewayOptions, Lease } from './gateway.ts'
import { openGateway } from './open-gateway.ts'

const opened: Gateway[] = []
afterEach(async () => {
  for (const gateway of opened.splice(0)) await gateway.close()
})

async function open(options: GatewayOptions = {}): Promise<Gateway> {
  const gateway = await openGateway({ ...options, log: (text) => expect.fail(text) })
  opened.push(gateway)
  return gateway
}

const bodies = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
  responses: { model: 'm', input: 'hello' },
  messages: { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] },
}
const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' }
const names = ['chat', 'responses', 'messages'] as const
const chat = JSON.stringify(bodies.chat)

function said(reply: RawReply) {
  return JSON.parse(reply.text)
}

const echo = (): HeldModel => new HeldModel((call) => call.answer('hi'))

/** A gateway with one lease, and how to ask it. */
async function leased(model = echo(), options: GatewayOptions & { limits?: object } = {}) {
  const { limits, ...rest } = options
  const gateway = await open(rest)
  const held = seatOf(model, { limits: limits ?? {} })
  const lease = gateway.open({ seat: held.seat, signal: held.over.signal })
  const post = (path: string, body: unknown, headers = {}): Promise<RawReply> =>
    ask({
      port: gateway.port,
      path,
      headers: { authorization: `Bearer ${lease.apiKey}`, ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
  return { gateway, lease, model, post, ...held }
}

test('a program is answered over loopback, the Unix socket and the in-process fetch, by any form of the address', async () => {
  const { gateway, lease, recorder } = await leased()
  const handle = lease.path.slice(0, -'/v1'.length)
  const bearer = { authorization: `Bearer ${lease.apiKey}` }
  const base = lease.baseURL.slice(`http://127.0.0.1:${gateway.port}`.length)
  expect(base).toBe(lease.path)
  const at = (path: string, headers: object) => ({ path, headers: { ...headers }, body: chat })
  const { port, socketPath } = gateway
  const replies = await Promise.all([
    ask({ port, ...at(`${lease.path}/chat/completions`, bearer) }),
    ask({ port, ...at(`${handle}/chat/completions`, bearer) }),
    ask({ port, ...at('/v1/chat/completions', { 'x-api-key': lease.apiKey }) }),
    ask({ port, ...at('/chat/completions?beta=true', { 'x-api-key': lease.apiKey }) }),
    ask({ port, ...at(`${lease.path}/v1//chat/completions/`, bearer) }),
    ask({ socketPath, ...at(`${lease.path}/chat/completions`, { ...bearer, host: 'anything' }) }),
  ])
  for (const reply of replies) {
    expect(reply.status).toBe(200)
    expect(said(reply).choices[0].message.content).toBe('hi')
  }
  const here = await lease.fetch(`${lease.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: chat,
  })
  expect(here.status).toBe(200)
  expect(await here.json()).toMatchObject({ choices: [{ message: { content: 'hi' } }] })
  expect(recorder.calls).toHaveLength(7)
})

test.each(names)('%s: whole and streamed', async (name) => {
  const model = new HeldModel((call) => {
    void call.tell({ type: 'text', text: 'h' })
    void call.tell({ type: 'text', text: 'i' })
    call.answer('hi')
  })
  const { post } = await leased(model)
  const whole = await post(paths[name], bodies[name])
  expect(whole.status).toBe(200)
  expect(whole.headers['content-type']).toBe('application/json')
  expect(whole.text).toContain('"hi"')
  const streamed = await post(paths[name], { ...bodies[name], stream: true })
  expect(streamed.headers['content-type']).toMatch(/^text\/event-stream/)
  expect(streamed.broken).toBe(false)
  const last = { chat: '[DONE]', responses: 'response.completed', messages: 'message_stop' }[name]
  expect(streamed.text).toContain(last)
  expect(streamed.text).toContain('"h"')
  expect(model.calls[0]?.context.onDelta).toBeUndefined()
})

test.each(names)('%s: a model that does not stream answers a stream all the same', async (name) => {
  const { post } = await leased(new HeldModel((call) => call.answer('hi')))
  const streamed = await post(paths[name], { ...bodies[name], stream: true })
  expect(streamed.text).toContain('hi')
  expect(streamed.text).toContain(
    { chat: '[DONE]', responses: 'response.completed', messages: 'message_stop' }[name],
  )
})

test('a script that has nothing more to do is an empty message, and no call', async () => {
  const { post, recorder } = await leased(new HeldModel((call) => call.answer('', { ended: true })))
  const reply = await post(paths.chat, bodies.chat)
  expect(said(reply).choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'stop' })
  expect(recorder.calls).toEqual([])
})

function errorIn(name: (typeof names)[number], reply: RawReply): { code: string; message: string } {
  const body = said(reply)
  if (name === 'messages') expect(body).toMatchObject({ type: 'error', error: { type: expect.any(String) } })
  return body.error
}

test.each(names)('%s: a credential that is none of this attempt is refused in its form', async (name) => {
  const { gateway, lease, model } = await leased()
  const other = gateway.open({ seat: seatOf(echo()).seat })
  const send = (path: string, headers: object) =>
    ask({ port: gateway.port, path, headers: { ...headers }, body: JSON.stringify(bodies[name]) })
  const path = `${lease.path.slice(0, -'/v1'.length)}${paths[name]}`
  const refused = await Promise.all([
    send(path, {}),
    send(path, { authorization: 'Bearer sk-anything' }),
    send(path, { authorization: lease.apiKey }),
    send(path, {
      authorization: `Bearer ${lease.apiKey.slice(0, -1)}${lease.apiKey.endsWith('A') ? 'B' : 'A'}`,
    }),
    send(path, { authorization: `Bearer ${lease.apiKey}x` }),
    // The proof of one attempt under the handle of another.
    send(path, { 'x-api-key': `${lease.apiKey.slice(0, 28)}${other.apiKey.slice(28)}` }),
    send(path, { authorization: `Bearer ${other.apiKey}` }),
    send(paths[name], { authorization: `Bearer ${other.apiKey}`, 'x-api-key': lease.apiKey }),
    send(`/r/nobody${paths[name]}`, { authorization: `Bearer ${lease.apiKey}` }),
  ])
  for (const reply of refused) {
    expect(reply.status).toBe(401)
    errorIn(name, reply)
    expect(reply.text).not.toContain(lease.apiKey.slice(-20))
  }
  expect(model.calls).toEqual([])
  // A key of elsewhere beside the right one does no harm.
  const both = await send(path, { authorization: 'Bearer sk-of-elsewhere', 'x-api-key': lease.apiKey })
  expect(both.status).toBe(200)
})

test.each(names)('%s: after the end every call is refused, and one in flight ends', async (name) => {
  const { post, lease, model, over, gateway } = await leased(new HeldModel())
  const inFlight = post(paths[name], bodies[name])
  await model.call(0)
  over.abort()
  const replies = [await inFlight, await post(paths[name], bodies[name])]
  const closed = gateway.open({ seat: seatOf(echo()).seat })
  closed.close()
  replies.push(await post(paths[name], bodies[name], { authorization: `Bearer ${closed.apiKey}` }))
  for (const reply of replies) {
    expect(reply.status).toBe(403)
    expect(reply.headers['x-should-retry']).toBe('false')
    if (name !== 'messages') expect(errorIn(name, reply).code).toBe('attempt_over')
    expect(errorIn(name, reply).message).toContain('over')
  }
  const here = await lease.fetch(`${lease.baseURL}/models`)
  expect(here.status).toBe(403)
})

test.each(names)('%s: a limit is an error that no SDK tries again', async (name) => {
  const { post, seat } = await leased(echo(), { limits: { turns: 1 } })
  await post(paths[name], bodies[name])
  const refused = await post(paths[name], { ...bodies[name], stream: true })
  expect(refused.status).toBe(403)
  expect(refused.headers['x-should-retry']).toBe('false')
  expect(refused.text).toContain('turn_limit')
  errorIn(name, refused)
  expect(seat.settle({ outcome: 'completed' }).result.outcome).toBe('turn_limit')
})

test.each(names)('%s: a history that does not fit is told in the words that agents know', async (name) => {
  const model = new HeldModel((call) => call.fail(providerFault('too_long', 'context_overflow')))
  const { post } = await leased(model)
  const reply = await post(paths[name], { ...bodies[name], stream: true })
  expect(reply.status).toBe(400)
  if (name === 'messages') expect(said(reply).error).toMatchObject({ type: 'invalid_request_error' })
  else expect(said(reply).error.code).toBe('context_length_exceeded')
  expect(said(reply).error.message).toMatch(
    name === 'messages' ? /prompt is too long/ : /maximum context length/,
  )
})

test.each(names)(
  '%s: a fault of the provider is told once, and is not the agent’s to try again',
  async (name) => {
    const key = 'sk-secret'
    const model = new HeldModel((call) =>
      call.fail(providerFault('http_500', undefined, `it is down ${key}`)),
    )
    const gateway = await open()
    const lease = gateway.open({ seat: seatOf(model).seat, redact: (text) => text.replaceAll(key, '[key]') })
    const reply = await ask({
      port: gateway.port,
      path: paths[name],
      headers: { authorization: `Bearer ${lease.apiKey}` },
      body: JSON.stringify(bodies[name]),
    })
    expect(reply.status).toBe(502)
    expect(reply.headers['x-should-retry']).toBe('false')
    expect(reply.text).toContain('it is down [key]')
  },
)

test('a call is recorded with the tools and the settings of its program', async () => {
  const { post, recorder } = await leased()
  const tool = { name: 'look', description: 'looks', parameters: { type: 'object', properties: {} } }
  const tools = [{ type: 'function', function: tool }]
  await post(paths.chat, { ...bodies.chat, tools, temperature: 0.5, top_k: 40, tool_choice: 'required' })
  await post(paths.chat, bodies.chat)
  expect(recorder.toolSets).toEqual([[expect.objectContaining(tool)], []])
  expect(recorder.calls.map(({ tools, sampling }) => ({ tools, sampling }))).toEqual([
    { tools: 0, sampling: { temperature: 0.5, topK: 40, toolChoice: 'required' } },
    { tools: 1, sampling: undefined },
  ])
})

test('what a dialect cannot read, and what it does not carry, is 400 with the field', async () => {
  const { post, model } = await leased()
  const twice = await post(paths.chat, { ...bodies.chat, n: 2 })
  expect(twice.status).toBe(400)
  expect(said(twice).error).toMatchObject({ code: 'unsupported', param: 'n' })
  const wrong = await post(paths.chat, { model: 'm', messages: 'hello' })
  expect(wrong.status).toBe(400)
  expect(model.calls).toEqual([])
})

test('a body that is no JSON, too long, or not what it says is refused', async () => {
  const { post, lease, gateway, model } = await leased(echo(), { maxBodyBytes: 10_000 })
  const statusOf = async (body: string | Uint8Array, headers = {}): Promise<number> => {
    const reply = await post(paths.chat, body, headers)
    expect(said(reply).error.message).toEqual(expect.any(String))
    return reply.status
  }
  expect(await statusOf('')).toBe(400)
  expect(await statusOf('{"model"')).toBe(400)
  expect(await statusOf('[]')).toBe(400)
  expect(await statusOf(Uint8Array.of(0x22, 0xff, 0x22))).toBe(400)
  expect(await statusOf('['.repeat(1_001) + ']'.repeat(1_001))).toBe(400)
  expect(await statusOf(chat, { 'content-type': 'text/plain' })).toBe(415)
  expect(await statusOf(chat, { 'content-encoding': 'compress' })).toBe(415)
  expect(await statusOf(chat, { 'content-encoding': 'gzip' })).toBe(400)
  expect(await statusOf('x'.repeat(10_001))).toBe(413)
  expect(await statusOf('x'.repeat(10_001), { 'transfer-encoding': 'chunked' })).toBe(413)
  expect(await statusOf(gzipSync('x'.repeat(1_000_000)), { 'content-encoding': 'gzip' })).toBe(413)
  const here = await lease.fetch(`${lease.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: 'x'.repeat(10_001),
  })
  expect(here.status).toBe(413)
  expect(model.calls).toEqual([])
  // The connection is of use after that.
  expect((await post(paths.chat, chat)).status).toBe(200)
  expect(gateway.port).toBeGreaterThan(0)
})

test('compressed bodies are read, and a body that waits to be asked for is asked for', async () => {
  const { post } = await leased()
  const { brotliCompressSync, deflateSync, zstdCompressSync } = await import('node:zlib')
  const forms = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync }
  for (const [name, compress] of Object.entries(forms)) {
    const reply = await post(paths.chat, compress(chat), { 'content-encoding': name })
    expect(reply.status, name).toBe(200)
  }
  const asked = await post(paths.chat, chat, { expect: '100-continue' })
  expect(asked.status).toBe(200)
})

test('a body that does not come to its end is given up', async () => {
  const { gateway, lease } = await leased(echo(), { bodyMs: 100 })
  const { connect } = await import('node:net')
  const text = await new Promise<string>((resolve) => {
    let got = ''
    const socket = connect(gateway.port, '127.0.0.1', () =>
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${lease.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
      ),
    )
    socket.setEncoding('utf8').on('data', (piece: string) => {
      got += piece
    })
    socket.on('close', () => resolve(got))
  })
  expect(text).toMatch(/^HTTP\/1\.1 408 /)
  expect(JSON.parse(text.slice(text.indexOf('{'))).error.message).toEqual(expect.any(String))
})

test('a body that breaks off is nobody’s defect, over a connection or in this process', async () => {
  const { gateway, lease, model, post } = await leased()
  const { connect } = await import('node:net')
  await new Promise<void>((resolve) => {
    const socket = connect(gateway.port, '127.0.0.1', () => {
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${lease.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
        () => socket.destroy(),
      )
    })
    socket.on('close', () => resolve())
  })
  const body = new ReadableStream({
    pull(controller) {
      controller.error(new Error('no more'))
    },
  })
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    duplex: 'half' as const,
  }
  const reply = await lease.fetch(`${lease.baseURL}/chat/completions`, init)
  expect(reply.status).toBe(400)
  expect(model.calls).toEqual([])
  expect((await post(paths.chat, bodies.chat)).status).toBe(200)
})

test('other paths and methods are refused, and what there is is said', async () => {
  const { gateway, lease } = await leased()
  const send = (method: string, path: string) =>
    ask({ port: gateway.port, method, path, headers: { authorization: `Bearer ${lease.apiKey}` } })
  const there = await send('POST', '/v1/embeddings')
  expect(there.status).toBe(404)
  expect(said(there).error.message).toContain('/v1/chat/completions')
  for (const [method, path] of [
    ['GET', paths.chat],
    ['OPTIONS', paths.messages],
    ['DELETE', '/v1/models'],
    ['PUT', paths.responses],
  ] as const) {
    const reply = await send(method, path)
    expect(reply.status).toBe(405)
    expect(reply.headers.allow).toMatch(/^(?:GET|POST)$/)
    expect(reply.headers['access-control-allow-origin']).toBeUndefined()
  }
  expect((await send('HEAD', '/v1/models')).status).toBe(405)
})

test('a page of another origin reaches nothing over the port', async () => {
  const { gateway, lease } = await leased()
  const send = (headers: object) =>
    ask({
      port: gateway.port,
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: `Bearer ${lease.apiKey}`, ...headers },
    })
  expect((await send({ host: 'evil.example' })).status).toBe(403)
  expect((await send({ host: `127.0.0.1.evil.example:${gateway.port}` })).status).toBe(403)
  expect((await send({ origin: 'https://evil.example' })).status).toBe(403)
  expect((await send({ origin: 'null' })).status).toBe(403)
  expect((await send({ host: `localhost:${gateway.port}`, origin: 'http://localhost:3000' })).status).toBe(
    200,
  )
})

test('a name that the run declares may be used', async () => {
  const { gateway, lease } = await leased(echo(), { hosts: ['Host.Docker.internal'] })
  const reply = await ask({
    port: gateway.port,
    method: 'GET',
    path: '/v1/models',
    headers: { authorization: `Bearer ${lease.apiKey}`, host: `host.docker.internal:${gateway.port}` },
  })
  expect(reply.status).toBe(200)
})

test('models are listed in the form of who asks, and any name is there', async () => {
  const { gateway, lease } = await leased()
  const get = async (path: string, headers = {}) =>
    said(
      await ask({
        port: gateway.port,
        method: 'GET',
        path,
        headers: { authorization: `Bearer ${lease.apiKey}`, ...headers },
      }),
    )
  expect(lease.model).toBe('held')
  expect(await get('/v1/models')).toMatchObject({ object: 'list', data: [{ id: 'held', object: 'model' }] })
  expect(await get('/v1/models/gpt-x%2Fy')).toMatchObject({ id: 'gpt-x/y', object: 'model' })
  const anthropic = { 'anthropic-version': '2023-06-01' }
  expect(await get('/v1/models', anthropic)).toMatchObject({
    data: [{ type: 'model', id: 'held' }],
    has_more: false,
  })
  expect(await get('/v1/models/claude-x', anthropic)).toMatchObject({ type: 'model', id: 'claude-x' })
})

test('tokens are counted by the model where it can, else guessed from the length, and count against nothing', async () => {
  const { post, model, seat } = await leased()
  const { max_tokens: _, ...body } = bodies.messages
  const guessed = said(await post('/v1/messages/count_tokens', body)).input_tokens
  expect(guessed).toBeGreaterThan(0)
  Object.assign(model, { countTokens: async () => 1234 })
  expect(said(await post('/v1/messages/count_tokens', body))).toEqual({ input_tokens: 1234 })
  expect(seat.turns).toBe(0)
  expect(model.calls).toEqual([])
})

test('a reply goes on from an earlier one by its id, which holds for its own attempt only', async () => {
  const { post, model, gateway } = await leased(
    new HeldModel((call) => call.answer(`reply ${call.request.messages.length}`)),
  )
  const first = said(await post(paths.responses, { ...bodies.responses, instructions: 'be kind' }))
  const second = said(
    await post(paths.responses, { model: 'm', input: 'go on', previous_response_id: first.id }),
  )
  await post(paths.responses, { model: 'm', input: 'and on', previous_response_id: second.id })
  const contents = model.calls.map(({ request }) => request.messages.map(({ content }) => content))
  expect(contents[0]).toEqual(['be kind', 'hello'])
  expect(contents[1]).toEqual(['hello', 'reply 2', 'go on'])
  expect(contents[2]).toEqual(['hello', 'reply 2', 'go on', 'reply 3', 'and on'])
  const other = gateway.open({ seat: seatOf(echo()).seat })
  const foreign = await post(
    paths.responses,
    { model: 'm', input: 'go on', previous_response_id: first.id },
    { authorization: `Bearer ${other.apiKey}` },
  )
  expect(foreign.status).toBe(400)
})

test('a hundred parallel calls of one attempt, and calls of hundreds of attempts at once, find their own replies', async () => {
  const gateway = await open()
  const model = () =>
    new HeldModel((call) => setImmediate(() => call.answer(String(call.request.messages[0]?.content))))
  const lease = gateway.open({ seat: seatOf(model()).seat })
  const others = Array.from({ length: 300 }, (): Lease => gateway.open({ seat: seatOf(model()).seat }))
  const send = async ({ apiKey }: Lease, text: string): Promise<string> => {
    const reply = await ask({
      port: gateway.port,
      path: paths.chat,
      headers: { authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: text }] }),
    })
    return said(reply).choices[0].message.content
  }
  const asked = [
    ...Array.from({ length: 100 }, (_, index) => ({ lease, text: `one ${index}` })),
    ...others.map((each, index) => ({ lease: each, text: `other ${index}` })),
  ]
  const got = await Promise.all(asked.map((each) => send(each.lease, each.text)))
  expect(got).toEqual(asked.map(({ text }) => text))
})

test('an attempt may make thousands of calls one after the other, and a thousand at once, but not more', async () => {
  const quick = await leased()
  for (let index = 0; index < 1_200; index++) {
    const reply = await quick.lease.fetch(`${quick.lease.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: chat,
    })
    expect(reply.status).toBe(200)
    await reply.text()
  }
  const held = await leased(new HeldModel())
  const asked = Array.from({ length: 1_001 }, () =>
    held.lease.fetch(`${held.lease.baseURL}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: chat,
    }),
  )
  const refused = await Promise.race(asked)
  expect(refused.status).toBe(429)
  held.over.abort()
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 403)).toHaveLength(1_000)
})

test('close leaves nothing behind', async () => {
  const { existsSync } = await import('node:fs')
  const { dirname } = await import('node:path')
  const gateway = await openGateway()
  expect(existsSync(gateway.socketPath)).toBe(true)
  await gateway.close()
  expect(existsSync(dirname(gateway.socketPath))).toBe(false)
  await expect(ask({ port: gateway.port, method: 'GET', path: '/v1/models' })).rejects.toThrow()
})

test('a port that is taken is an error that says so', async () => {
  const gateway = await open()
  await expect(openGateway({ port: gateway.port })).rejects.toMatchObject({ code: 'usage' })
})
