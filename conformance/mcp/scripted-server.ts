// An MCP server of the legacy era whose answers to `tools/call` are a list: `404 session`, `200 result`, …
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

type Rpc = { id?: number; method: string; params?: Record<string, unknown> }

/** Starts it on a port of its own. What comes after the end of the list is answered as its last. */
export async function startScriptedServer(
  responses: readonly string[],
): Promise<{ url: string; count(method: string): number; close(): Promise<void> }> {
  const left = [...responses]
  const counts = new Map<string, number>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const { id, method, params } = JSON.parse(body) as Rpc
      counts.set(method, (counts.get(method) ?? 0) + 1)
      if (id === undefined) return void response.writeHead(202).end()
      const answer = (said: object) => {
        const headers = {
          'content-type': 'application/json',
          'mcp-session-id': `s${counts.get('initialize')}`,
        }
        response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
      }
      switch (method) {
        case 'initialize': {
          const { protocolVersion } = params ?? {}
          const serverInfo = { name: 'scripted', version: '1' }
          return answer({ result: { protocolVersion, capabilities: { tools: {} }, serverInfo } })
        }
        case 'tools/list':
          return answer({ result: { tools: [{ name: 'a', inputSchema: { type: 'object' } }] } })
        case 'tools/call': {
          const next = (left.length > 1 ? left.shift() : left[0]) ?? '200 result'
          const status = Number(next.slice(0, 3))
          if (status === 200) return answer({ result: { content: [{ type: 'text', text: 'done' }] } })
          return void response.writeHead(status).end(next.slice(4))
        }
        default:
          return answer({ error: { code: -32601, message: 'Method not found' } })
      }
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    count: (method) => counts.get(method) ?? 0,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()))
      server.closeAllConnections()
      await closed
    },
  }
}
