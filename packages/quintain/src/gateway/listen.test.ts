import { once } from 'node:events'
import { Server } from 'node:http'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { HeldModel, seatOf } from './__fixtures__/held-model.ts'
import { ask } from './__fixtures__/raw-client.ts'
import type { Gateway } from './gateway.ts'
import { openGateway } from './open-gateway.ts'

let gateway: Gateway | undefined
afterEach(() => gateway?.close())

test('whoever connects and says nothing, or has no credential, is not kept', async () => {
  gateway = await openGateway({ bodyMs: 100 })
  const silent = connect(gateway.port, '127.0.0.1')
  silent.resume()
  await once(silent, 'close')
  const headers = { connection: 'keep-alive' }
  const reply = await ask({ port: gateway.port, path: '/v1/chat/completions', headers, body: '{}' })
  expect([reply.status, reply.headers.connection]).toEqual([401, 'close'])
})

test('a connection that cannot be taken ends no run', async () => {
  const log: string[] = []
  const listened = vi.spyOn(Server.prototype, 'listen')
  gateway = await openGateway({ log: (text) => log.push(text) })
  const servers = listened.mock.contexts
  listened.mockRestore()
  expect(servers).toHaveLength(2)
  for (const server of servers) if (server instanceof Server) server.emit('error', new Error('accept EMFILE'))
  expect(log).toEqual(Array(2).fill('gateway: a connection could not be taken: accept EMFILE'))
  const lease = gateway.open({ seat: seatOf(new HeldModel()).seat })
  const headers = { authorization: `Bearer ${lease.apiKey}` }
  expect(
    (await ask({ method: 'GET', port: gateway.port, path: '/v1/models', headers, body: '' })).status,
  ).toBe(200)
})
