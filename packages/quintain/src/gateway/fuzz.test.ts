import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { HeldModel, seatOf } from './__fixtures__/held-model.ts'
import { ask } from './__fixtures__/raw-client.ts'
import type { Gateway, Lease } from './gateway.ts'
import { openGateway } from './open-gateway.ts'
import { readTarget } from './routes.ts'

let gateway: Gateway
let lease: Lease
const defects: string[] = []
beforeAll(async () => {
  gateway = await openGateway({ maxBodyBytes: 100_000, log: (text) => defects.push(text) })
  lease = gateway.open({ seat: seatOf(new HeldModel((call) => call.answer('hi'))).seat })
})
afterAll(() => gateway.close())

const dialectPath = fc.constantFrom('chat/completions', 'responses', 'messages', 'messages/count_tokens')
const path = fc.oneof(
  fc
    .tuple(fc.constantFrom('', '/v1', '/r/x', '/r/x/v1', '/r/../v1', '//v1'), dialectPath)
    .map(([a, b]) => `${a}/${b}`),
  fc.webPath().map((text) => (text.startsWith('/') ? text : `/${text}`)),
  fc
    .string({ unit: fc.constantFrom('/', 'v1', 'models', '%', '%2e', '..', '?', 'r', '~', ';') })
    .map((text) => `/${text}`),
)
const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS')
const word = fc.constantFrom(
  'model',
  'messages',
  'input',
  'role',
  'content',
  'user',
  'type',
  'text',
  'tools',
  '__proto__',
)
const json = fc.oneof(
  fc.json(),
  fc
    .dictionary(word, fc.oneof(fc.jsonValue(), fc.array(fc.dictionary(word, fc.jsonValue()))))
    .map((value) => JSON.stringify(value)),
)
/** Requests that are right but for some field. */
const nearly = fc
  .tuple(fc.dictionary(word, fc.jsonValue(), { maxKeys: 2 }), fc.boolean())
  .map(([wrong, stream]) =>
    JSON.stringify({
      model: 'm',
      max_tokens: 9,
      stream,
      input: 'hello',
      messages: [{ role: 'user', content: 'hello', ...wrong }],
      ...wrong,
    }),
  )
const body = fc.oneof(json, nearly, fc.string(), fc.uint8Array())
const header = fc.constantFrom(
  'authorization',
  'x-api-key',
  'content-type',
  'content-encoding',
  'idempotency-key',
  'x-stainless-retry-count',
  'anthropic-version',
)
const value = fc.oneof(
  fc.constantFrom(
    'Bearer ',
    'Bearer x',
    'gzip',
    'br',
    'identity',
    'application/json',
    'text/html',
    '-1',
    'NaN',
    '1e9',
  ),
  fc.string({ unit: 'grapheme-ascii' }),
)

test('whatever is sent without a credential is answered in JSON, with an error, and tells nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      method,
      path,
      fc.dictionary(header, value),
      body,
      async (method, path, headers, body) => {
        const reply = await ask({ port: gateway.port, method, path, headers, body })
        expect(reply.status).toBeGreaterThanOrEqual(400)
        expect(reply.status).toBeLessThan(500)
        expect(JSON.parse(reply.text)).toMatchObject({ error: { message: expect.any(String) } })
        expect(reply.text).not.toContain(lease.apiKey.slice(-40))
        expect(reply.text).not.toMatch(/at .*:\d+:\d+|node:|\.ts/)
      },
    ),
    { numRuns: 150 },
  )
})

test('whatever is sent with a credential is answered in JSON or as a stream, and is no defect', async () => {
  await fc.assert(
    fc.asyncProperty(
      method,
      path,
      fc.dictionary(header, value),
      body,
      async (method, path, headers, body) => {
        const credential = { authorization: `Bearer ${lease.apiKey}`, 'content-encoding': 'identity' }
        const reply = await ask({
          port: gateway.port,
          method,
          path,
          headers: { ...headers, ...credential },
          body,
        })
        if (!/event-stream/.test(reply.headers['content-type'] ?? ''))
          expect(JSON.parse(reply.text)).toBeTypeOf('object')
        expect(reply.status).toBeLessThan(500)
        expect(reply.text).not.toContain(lease.apiKey.slice(-40))
        expect(defects).toEqual([])
      },
    ),
    { numRuns: 200 },
  )
})

test('any target is read or is none', () => {
  fc.assert(
    fc.property(fc.oneof(path, fc.string({ unit: 'binary' })), (target) => {
      const address = readTarget(target)
      if (address?.handle !== undefined) expect(target).toContain(address.handle)
      if (address?.route.kind === 'model') expect(address.route.id.length).toBeGreaterThan(0)
    }),
  )
})

test('what is no HTTP is answered and hung up on', async () => {
  const { connect } = await import('node:net')
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
      const text = await new Promise<string>((resolve) => {
        let got = ''
        const socket = connect(gateway.port, '127.0.0.1', () => socket.end(bytes))
        socket.setEncoding('latin1').on('data', (piece: string) => {
          got += piece
        })
        socket.on('error', () => {})
        socket.on('close', () => resolve(got))
      })
      if (text !== '') {
        expect(text).toMatch(/^HTTP\/1\.1 4\d\d /)
        expect(JSON.parse(text.slice(text.indexOf('{'))).error.message).toEqual(expect.any(String))
      }
    }),
    { numRuns: 100 },
  )
})
