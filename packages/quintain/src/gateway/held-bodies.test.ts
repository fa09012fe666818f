import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { HeldModel, seatOf } from './__fixtures__/held-model.ts'
import { ask, type RawReply } from './__fixtures__/raw-client.ts'
import type { Gateway, GatewayOptions } from './gateway.ts'
import { HeldBodies } from './held-bodies.ts'
import { countValues } from './json-size.ts'
import { openGateway } from './open-gateway.ts'

const opened: Gateway[] = []
afterEach(async () => {
  for (const gateway of opened.splice(0)) await gateway.close()
})

async function leased(model: HeldModel, options: GatewayOptions = {}) {
  const gateway = await openGateway(options)
  opened.push(gateway)
  const lease = gateway.open({ seat: seatOf(model).seat })
  const headers = { authorization: `Bearer ${lease.apiKey}` }
  const post = (body: string | Uint8Array, more = {}, path = '/v1/chat/completions'): Promise<RawReply> =>
    ask({ port: gateway.port, path, headers: { ...headers, ...more }, body })
  return { lease, post }
}

const chat = (more: string) => `{"model":"x",${more}"messages":[{"role":"user","content":"a"}]}`
const gzip = { 'content-encoding': 'gzip' }
const codeOf = ({ text }: RawReply): unknown => (JSON.parse(text) as { error: { code: unknown } }).error.code

test('a body that is made of too many values is refused before they are made, in each form', async () => {
  const model = new HeldModel()
  const { post } = await leased(model)
  const body = chat(`"x":[${'{},'.repeat(1_000_000)}{}],`)
  const reply = await post(body)
  expect([reply.status, codeOf(reply)]).toEqual([413, 'request_too_large'])
  const other = await post(body, {}, '/v1/messages')
  expect([other.status, (JSON.parse(other.text) as { type: string }).type]).toEqual([413, 'error'])
  expect(model.calls).toEqual([])
})

test('a body that becomes a hundred times what was sent is refused beyond what any may become', async () => {
  const { post } = await leased(new HeldModel((call) => call.answer('hi')))
  const spaces = (count: number) => gzipSync(chat(' '.repeat(count)))
  expect((await post(spaces(3_000_000), gzip)).status).toBe(200)
  const reply = await post(spaces(5_000_000), gzip)
  expect([reply.status, codeOf(reply)]).toEqual([413, 'request_too_large'])
})

test('bodies count as long as their calls wait, and no longer', async () => {
  const model = new HeldModel()
  const { post } = await leased(model, { maxBodyBytes: 100_000 })
  // Each counts as 2.97 MB; an attempt may hold twice the heaviest body, which are 128.2 MB.
  const body = (name: number) => chat(`"user":"${name}","x":[${'1,'.repeat(45_000)}1],`)
  const many = (name: number) => gzipSync(body(name))
  const waiting = Array.from({ length: 43 }, (_, name) => post(many(name), gzip))
  for (let index = 0; index < 43; index++) await model.call(index)
  const refused = await post(many(43), gzip)
  expect([refused.status, codeOf(refused), refused.headers['x-should-retry']]).toEqual([
    429,
    'too_many_bytes',
    'true',
  ])
  for (const call of model.calls) call.answer('hi')
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(43).fill(200))
  const next = post(many(44), gzip)
  ;(await model.call(43)).answer('hi')
  expect((await next).status).toBe(200)
})

test('what all hold together is bounded, too', () => {
  const all = new HeldBodies(10)
  const [one, other] = [new HeldBodies(8, all), new HeldBodies(8, all)]
  expect(one.add(7)).toBe(true)
  expect(other.add(7)).toBe(false)
  other.add(-7)
  expect(other.add(3)).toBe(true)
  expect(one.add(2)).toBe(false)
})

test('no fewer values are counted than there are, and none in strings', () => {
  const valuesIn = (value: unknown): number =>
    typeof value === 'object' && value !== null
      ? 1 + Object.values(value).reduce<number>((sum, held) => sum + valuesIn(held), 0)
      : 1
  fc.assert(
    fc.property(fc.json(), (json) => {
      const counted = countValues(Buffer.from(json), Number.POSITIVE_INFINITY)
      expect(counted).toBeGreaterThanOrEqual(valuesIn(JSON.parse(json)))
    }),
  )
  expect(countValues(Buffer.from(JSON.stringify('[,{\\",["[')), 100)).toBe(1)
})
