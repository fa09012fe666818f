import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { HeldModel, seatOf } from './__fixtures__/held-model.ts'
import { ask, type RawReply } from './__fixtures__/raw-client.ts'
import type { Gateway, GatewayOptions } from './gateway.ts'
import { openGateway } from './open-gateway.ts'

const opened: Gateway[] = []
afterEach(async () => {
  for (const gateway of opened.splice(0)) await gateway.close()
})

/** Long waits where nothing is to run out, so that a slow machine changes nothing. */
const patient: GatewayOptions = { graceMs: 600_000, keepMs: 600_000 }

async function leased(options: GatewayOptions = patient, limits = {}) {
  const gateway = await openGateway({ ...options, log: (text) => expect.fail(text) })
  opened.push(gateway)
  const model = new HeldModel()
  const held = seatOf(model, { limits })
  const lease = gateway.open({ seat: held.seat, signal: held.over.signal })
  const post = (body: object, headers = {}, signal?: AbortSignal): Promise<RawReply> =>
    ask({
      port: gateway.port,
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${lease.apiKey}`, ...headers },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
  /** Sends a request and leaves once the model was asked, or, of a stream, once something of the reply came. */
  const leave = async (body: object, until: 'asked' | 'told', headers = {}): Promise<void> => {
    const index = model.calls.length
    const sent = httpRequest({
      port: gateway.port,
      method: 'POST',
      path: '/v1/chat/completions',
      agent: false,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${lease.apiKey}`, ...headers },
    })
    sent.on('error', () => {})
    const reply = once(sent, 'response')
    sent.end(JSON.stringify(body))
    const call = await model.call(index)
    if (until === 'told') {
      void call.tell({ type: 'text', text: 'the first ' })
      const [response] = await reply
      response.on('error', () => {})
      await once(response, 'data')
    } else reply.catch(() => {})
    sent.destroy()
  }
  return { gateway, lease, model, post, leave, ...held }
}

const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }
const streamed = { ...body, stream: true }
const textOf = (reply: RawReply): string => JSON.parse(reply.text).choices[0].message.content
const said = (reply: RawReply): string =>
  [...reply.text.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('')
const retry = { 'x-stainless-retry-count': '1' }

/** Waits for what happens soon after something else, such as a server's notice of a closed connection. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test.each([retry, {}])(
  'an SDK that gave up and asks again is joined to the call that runs (%o)',
  async (headers) => {
    const { model, post, leave, recorder, seat } = await leased()
    await leave(body, 'asked')
    // Without a word from the SDK, only a connection that is seen to be closed tells a retry from a second call.
    if (headers !== retry) await new Promise((resolve) => setTimeout(resolve, 200))
    const again = post(body, headers)
    await new Promise((resolve) => setTimeout(resolve, 100))
    model.calls[0]!.answer('hi')
    expect(textOf(await again)).toBe('hi')
    expect(model.calls).toHaveLength(1)
    expect(recorder.calls).toHaveLength(1)
    expect(seat.turns).toBe(1)
  },
)

test('a reply that came while nobody waited is given to the retry, once', async () => {
  const { model, post, leave, seat } = await leased()
  await leave(body, 'asked')
  await new Promise((resolve) => setTimeout(resolve, 200))
  model.calls[0]!.answer('hi')
  await until(() => seat.turns === 1)
  expect(textOf(await post(body))).toBe('hi')
  const second = post(body)
  ;(await model.call(1)).answer('something else')
  expect(textOf(await second)).toBe('something else')
})

test('a body of the same length that says something else is a call of its own, also where the first reply was lost', async () => {
  const { model, post, leave, seat } = await leased()
  await leave(body, 'asked')
  await new Promise((resolve) => setTimeout(resolve, 200))
  model.calls[0]!.answer('to hello')
  await until(() => seat.turns === 1)
  const other = post({ ...body, messages: [{ role: 'user', content: 'jello' }] }, retry)
  ;(await model.call(1)).answer('to jello')
  expect(textOf(await other)).toBe('to jello')
  expect(textOf(await post(body, retry))).toBe('to hello')
  expect(model.calls).toHaveLength(2)
})

test('a caller who does not come back cancels the call', async () => {
  const { model, leave, recorder, seat } = await leased({ graceMs: 20 })
  await leave(body, 'asked')
  await once(model.calls[0]!.context.signal, 'abort')
  await until(() => recorder.calls.length === 1)
  expect(recorder.calls[0]?.flags).toEqual(['client_left'])
  expect(seat.turns).toBe(0)
})

test('the same body again, and at the same time, is a call of its own', async () => {
  const { model, post } = await leased()
  const first = [post(body), post(body)]
  ;(await model.call(0)).answer('one')
  ;(await model.call(1)).answer('two')
  const replies = await Promise.all(first)
  expect(replies.map(textOf).sort()).toEqual(['one', 'two'])
  const later = post(body)
  ;(await model.call(2)).answer('three')
  expect(textOf(await later)).toBe('three')
})

test('a retry that comes before its first connection is seen to be closed takes its place', async () => {
  const { model, post, seat } = await leased()
  const first = post(body).catch((thrown: unknown) => thrown)
  await model.call(0)
  const second = post(body, retry)
  // The exchange that was given up is hung up on, without a reply.
  expect(await first).toBeInstanceOf(Error)
  model.calls[0]!.answer('hi')
  expect(textOf(await second)).toBe('hi')
  expect(seat.turns).toBe(1)
})

test('of two equal calls, the retry of one leaves the other alone when that was answered', async () => {
  const { model, post, leave } = await leased()
  const kept = post(body)
  const first = await model.call(0)
  await leave(body, 'asked')
  first.answer('one')
  expect(textOf(await kept)).toBe('one')
  const again = post(body, retry)
  model.calls[1]!.answer('two')
  expect(textOf(await again)).toBe('two')
  expect(model.calls).toHaveLength(2)
})

test('a reply that an SDK gave up on in the moment in which it was sent is sent again', async () => {
  const { model, post } = await leased()
  const first = post(body)
  ;(await model.call(0)).answer('hi')
  expect(textOf(await first)).toBe('hi')
  expect(textOf(await post(body, retry))).toBe('hi')
  expect(model.calls).toHaveLength(1)
})

test('a call is known by its idempotency key, and another key is another call', async () => {
  const { model, post } = await leased()
  const first = post(body, { 'idempotency-key': 'a' })
  ;(await model.call(0)).answer('hi')
  expect(textOf(await first)).toBe('hi')
  expect(textOf(await post(body, { 'idempotency-key': 'a' }))).toBe('hi')
  const other = post(body, { 'idempotency-key': 'b', ...retry })
  ;(await model.call(1)).answer('other')
  expect(textOf(await other)).toBe('other')
})

test('a stream of which nothing was told is joined, and told from its first piece', async () => {
  const { model, post, leave } = await leased()
  await leave(streamed, 'asked')
  const again = post(streamed, retry)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const call = model.calls[0]!
  void call.tell({ type: 'text', text: 'h' })
  void call.tell({ type: 'text', text: 'i' })
  call.answer('hi')
  const reply = await again
  expect(said(reply)).toBe('hi')
  expect(reply.text).toContain('[DONE]')
  expect(model.calls).toHaveLength(1)
})

test('a stream of which a piece went to who has gone is given whole at its end, and the model is asked once', async () => {
  const { model, post, leave, seat } = await leased()
  await leave(streamed, 'told')
  const again = post(streamed, retry)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const call = model.calls[0]!
  void call.tell({ type: 'text', text: 'and the rest' })
  call.answer('the first and the rest')
  const reply = await again
  expect(said(reply)).toBe('the first and the rest')
  expect(reply.text).toContain('[DONE]')
  expect(model.calls).toHaveLength(1)
  expect(seat.turns).toBe(1)
})

test('a refusal is given to the retry as well, and costs no call', async () => {
  const { model, post, leave } = await leased(patient, { turns: 1 })
  await leave(body, 'asked')
  await new Promise((resolve) => setTimeout(resolve, 200))
  model.calls[0]!.fail()
  await new Promise((resolve) => setTimeout(resolve, 20))
  const again = await post(body, retry)
  expect(again.status).toBe(502)
  expect(model.calls).toHaveLength(1)
})

test('the end of the attempt ends a call that nobody waits for', async () => {
  const { model, leave, lease } = await leased()
  await leave(body, 'asked')
  const ended = once(model.calls[0]!.context.signal, 'abort')
  lease.close()
  await ended
})

test.each([body, streamed])(
  'what the provider failed on is not asked of it again by an SDK that retries whatever it is told (%o)',
  async (asked) => {
    const { model, post, recorder } = await leased()
    const first = post(asked)
    ;(await model.call(0)).fail()
    const fault = await first
    expect(fault.status).toBe(502)
    for (let again = 0; again < 2; again++)
      expect(await post(asked)).toMatchObject({ status: 502, text: fault.text })
    expect(model.calls).toHaveLength(1)
    expect(recorder.calls).toHaveLength(1)

    const other = post({ ...asked, temperature: 0.5 })
    ;(await model.call(1)).answer('hi')
    expect((await other).status).toBe(200)
  },
)

test('a call of another idempotency key is asked for although the provider failed on the same body', async () => {
  const { model, post } = await leased()
  const first = post(body, { 'idempotency-key': 'a' })
  ;(await model.call(0)).fail()
  expect((await first).status).toBe(502)
  const other = post(body, { 'idempotency-key': 'b' })
  ;(await model.call(1)).answer('hi')
  expect(textOf(await other)).toBe('hi')
})

test('a while after its fault the provider is asked again', async () => {
  const { model, post } = await leased({ ...patient, faultMs: 1 })
  const first = post(body)
  ;(await model.call(0)).fail()
  expect((await first).status).toBe(502)
  await new Promise((resolve) => setTimeout(resolve, 20))
  const later = post(body)
  ;(await model.call(1)).answer('hi')
  expect(textOf(await later)).toBe('hi')
})
