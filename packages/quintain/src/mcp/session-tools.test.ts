import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, expect, test } from 'vitest'
import { FaultError } from '../core/fault-error.ts'
import { type ToolResult, toolError } from '../core/tool.ts'
import { type SessionTools, sessionTools } from './session-tools.ts'

const open: { server: Server; tools: SessionTools }[] = []
const clients = new Set<Client>()
afterEach(async () => {
  await Promise.all([...clients].map((client) => client.close()))
  for (const { server, tools } of open) {
    await tools.close()
    server.closeAllConnections()
    server.close()
  }
  open.length = 0
  clients.clear()
})

const spec = { name: 'add', description: 'Adds.', parameters: { type: 'object', properties: {} } }

/** An endpoint on a server of the test's own. */
async function served(run: (name: string, given: unknown) => Promise<ToolResult>) {
  const tools = sessionTools({ tools: [spec], run })
  const server = createServer((request, response) => void tools.handle(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  open.push({ server, tools })
  return { tools, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
}

async function connect(url: string, mode: 'legacy' | 'auto') {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  clients.add(client)
  return client
}

test.each(['legacy', 'auto'] as const)(
  'a %s client lists and calls; arguments go on as they came',
  async (mode) => {
    const seen: unknown[] = []
    const { url } = await served(async (name, given) => {
      seen.push([name, given])
      return 'three'
    })
    const client = await connect(url, mode)
    expect((await client.listTools()).tools).toMatchObject([{ name: 'add', description: 'Adds.' }])
    const given = { by: 'not a number', note: null }
    expect(await client.callTool({ name: 'add', arguments: given })).toMatchObject({
      content: [{ type: 'text', text: 'three' }],
    })
    expect(seen).toEqual([['add', given]])
  },
)

test('what the agent got wrong is a result, what is broken an error of the protocol', async () => {
  let broken = false
  const { url } = await served(async () => {
    if (!broken) return toolError('invalid_arguments', 'by: missing')
    throw new FaultError({ owner: 'world', code: 'timeout', message: 'private', retryable: true })
  })
  const client = await connect(url, 'auto')
  expect(await client.callTool({ name: 'add', arguments: {} })).toMatchObject({
    isError: true,
    content: [{ text: 'by: missing' }],
  })
  broken = true
  await expect(client.callTool({ name: 'add', arguments: {} })).rejects.toThrow(/the world failed/)
})

test('refuses a body that is too long, and everything once it is closed', async () => {
  const { url, tools } = await served(async () => 'never')
  const long = await fetch(url, { method: 'POST', body: 'x'.repeat(5 * 2 ** 20) })
  expect(long.status).toBe(413)
  await tools.close()
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(404)
})
