import type { JsonObject } from '../json.ts'

/*
 * MCP by hand, as far as the tests of this door speak it: with the SDK's own client it is tested where the endpoint is
 * made (`mcp/session-tools.test.ts`).
 */

export interface McpClient {
  request(method: string, params?: JsonObject): Promise<JsonObject>
}

const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Of the revision 2026-07-28: each request stands for itself. */
export function modernClient(url: string, headers: Record<string, string>): McpClient {
  return {
    async request(method, params = {}) {
      const name = typeof params['name'] === 'string' ? { 'mcp-name': params['name'] } : {}
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          ...accept,
          ...headers,
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': method,
          ...name,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method,
          params: {
            ...params,
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
              'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            },
          },
        }),
      })
      return resultOf(await answer.text())
    },
  }
}

/** Of the revisions before: a session is opened by `initialize`. */
export async function legacyClient(url: string, headers: Record<string, string>): Promise<McpClient> {
  const post = (body: JsonObject, more: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...accept, ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    })
  const opened = await post({
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  })
  await opened.text()
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  await (await post({ method: 'notifications/initialized' }, session)).text()
  return {
    async request(method, params = {}) {
      return resultOf(await (await post({ id: 1, method, params }, session)).text())
    },
  }
}

function resultOf(text: string): JsonObject {
  const data = /^data: ?(.*"id":1.*)$/m.exec(text)?.[1] ?? text
  const { result, error } = JSON.parse(data) as { result?: JsonObject; error?: unknown }
  if (result === undefined) throw new Error(JSON.stringify(error))
  return result
}
