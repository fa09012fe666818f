import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { FaultError } from '../core/fault-error.ts'
import type { ToolResult } from '../core/tool.ts'
import { type McpOptions, type McpTools, mcpTools } from './mcp-tools.ts'

type Rpc = { id?: number; method: string; params?: Record<string, unknown> }
type Answer = (message: Rpc, request: IncomingMessage, response: ServerResponse) => void
const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

const reply = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) =>
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body))
const result = ({ id }: Rpc, said: object) => ({ jsonrpc: '2.0', id, result: said })
const text = (said: string) => ({ content: [{ type: 'text', text: said }] })

/** A server by hand, legacy, over HTTP; `call` answers `tools/call`. Counts the handshakes and the calls. */
async function serverThat(
  call: Answer,
): Promise<{ url: string; server: Server; count: Record<string, number> }> {
  const count: Record<string, number> = {}
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void reply(response, '', request.method === 'DELETE' ? 200 : 405)
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const message = JSON.parse(body) as Rpc
      count[message.method] = (count[message.method] ?? 0) + 1
      if (message.method === 'initialize') {
        const { protocolVersion } = message.params ?? {}
        const said = {
          protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'by hand', version: '1' },
        }
        return void reply(response, result(message, said), 200, {
          'mcp-session-id': `s${count['initialize']}`,
        })
      }
      if (message.method === 'ping') return void reply(response, result(message, {}))
      if (message.method === 'tools/list')
        return void reply(
          response,
          result(message, { tools: [{ name: 'a', inputSchema: { type: 'object' } }] }),
        )
      if (message.method === 'tools/call') return call(message, request, response)
      if (message.id === undefined) return void response.writeHead(202).end()
      return void reply(response, { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no' } })
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  open.push({
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp?key=canary-key`,
    server,
    count,
  }
}

async function connect(url: string, options: McpOptions = {}): Promise<McpTools> {
  const mcp = await mcpTools({ url, headers: { authorization: 'Bearer canary-token' }, ...options })
  open.push(mcp)
  return mcp
}
async function call(mcp: McpTools): Promise<ToolResult> {
  const [tool] = await mcp.tools()
  return await (tool ?? expect.fail('no tool')).run({} as never, {
    signal: new AbortController().signal,
    callId: 'c',
  })
}
async function faultOf(promise: Promise<unknown>): Promise<FaultError['fault']> {
  const thrown = await promise.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(FaultError)
  const { fault } = thrown as FaultError
  // Neither what an address ends with nor what a header holds is anybody's to read.
  expect(JSON.stringify(fault)).not.toContain('canary')
  return fault
}

/** Calls answered by a list of what comes: `404` or an answer. */
const inTurn = (...answers: (number | 'result')[]): Answer => {
  const left = [...answers]
  return (message, _request, response) => {
    const next = left.shift()
    if (next === 'result') reply(response, result(message, text('done')))
    else reply(response, { error: 'Session not found' }, next ?? 404)
  }
}

describe('a session that the server has forgotten', () => {
  test('is opened anew once for stateless tools', async () => {
    const { url, count } = await serverThat(inTurn(404, 'result'))
    const mcp = await connect(url, { stateful: false })
    expect(await call(mcp)).toBe('done')
    expect(count).toMatchObject({ initialize: 2, 'tools/call': 2 })
    expect(mcp.recoveries).toBe(1)
  })

  test('and is forgotten again, is a fault and no loop', async () => {
    const { url, count } = await serverThat(inTurn(404, 404, 404, 404))
    expect(await faultOf(call(await connect(url, { stateful: false })))).toMatchObject({
      code: 'mcp_session_lost',
      owner: 'world',
      retryable: true,
    })
    expect(count).toMatchObject({ initialize: 2, 'tools/call': 2 })
  })

  test('is the end of a stateful world', async () => {
    const { url, count } = await serverThat(inTurn(404, 'result'))
    const mcp = await connect(url)
    expect(await faultOf(call(mcp))).toMatchObject({ code: 'env_lost', owner: 'world', retryable: true })
    expect(await faultOf(call(mcp))).toMatchObject({ code: 'env_lost' })
    expect(count).toMatchObject({ initialize: 1, 'tools/call': 1 })
  })

  test('by several calls at once, is opened anew for all of them together', async () => {
    let handshakes = () => 0
    const { url, count } = await serverThat((message, request, response) => {
      if (request.headers['mcp-session-id'] === 's1') reply(response, 'Session not found', 404)
      else reply(response, result(message, text(`${handshakes()}`)))
    })
    handshakes = () => count['initialize'] ?? 0
    const mcp = await connect(url, { stateful: false })
    expect(await Promise.all([call(mcp), call(mcp), call(mcp)])).toEqual(['2', '2', '2'])
    expect(mcp.recoveries).toBe(1)
  })
})

test('a server that has gone is the end of the world, or of stateless tools', async () => {
  const { url, server } = await serverThat(inTurn('result', 'result'))
  const [stateful, stateless] = [await connect(url), await connect(url, { stateful: false })]
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  expect(await faultOf(call(stateful))).toMatchObject({ code: 'env_lost' })
  expect(await faultOf(call(stateless))).toMatchObject({ code: 'mcp_session_lost' })
})

test('an event stream that ends without the answer does not wait for the limit', async () => {
  const { url } = await serverThat((_message, _request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(': nothing\n\n')
  })
  expect(await faultOf(call(await connect(url)))).toMatchObject({
    code: 'env_lost',
    message: expect.stringContaining('ended before it was whole'),
  })
})

test.each(['application/json', 'text/event-stream'])(
  'an answer of %s that is too large is an error in band',
  async (type) => {
    const { url } = await serverThat((message, _request, response) => {
      response.writeHead(200, { 'content-type': type })
      if (type !== 'application/json') response.write('data: ')
      response.write(`{"jsonrpc":"2.0","id":${message.id},"result":{"content":[{"type":"text","text":"`)
      const timer = setInterval(() => response.write('x'.repeat(100_000)), 1)
      response.on('close', () => clearInterval(timer))
    })
    const mcp = await connect(url, { maxMessageBytes: 1_000_000 })
    expect(await call(mcp)).toMatchObject({ toolError: 'result_too_large' })
    expect(() => mcp.check()).not.toThrow()
  },
)

test('many small events on one stream are not one large answer', async () => {
  const { url } = await serverThat((message, _request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const log = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 'x'.repeat(900) },
    }
    for (let at = 0; at < 50; at++) response.write(`data: ${JSON.stringify(log)}\n\n`)
    response.end(`data: ${JSON.stringify(result(message, text('done')))}\n\n`)
  })
  expect(await call(await connect(url, { maxMessageBytes: 10_000 }))).toBe('done')
})

test.each([
  ['500', 500, true],
  ['403', 403, false],
])('HTTP %s is a fault of the world, and the session is not lost', async (_what, status, retryable) => {
  const { url } = await serverThat((_message, _request, response) => reply(response, 'canary-body', status))
  const mcp = await connect(url)
  expect(await faultOf(call(mcp))).toMatchObject({ code: 'mcp_protocol_error', retryable })
  expect(() => mcp.check()).not.toThrow()
})

test.each([
  ['a page', 'text/html', '<html>'],
  ['a content type that lies', 'application/json', '<html>'],
])('%s in the place of an answer is a fault, not a wait', async (_what, type, body) => {
  const { url } = await serverThat((_message, _request, response) =>
    reply(response, body, 200, { 'content-type': type }),
  )
  expect((await faultOf(call(await connect(url)))).owner).toBe('world')
})

test('credentials are not carried to where a server redirects', async () => {
  let reached = 0
  const other = await serverThat(() => reached++)
  const { url } = await serverThat((_message, _request, response) => {
    response.writeHead(307, { location: other.url }).end()
  })
  await faultOf(call(await connect(url)))
  expect(reached).toBe(0)
  expect(other.count).toEqual({})
})

test('progress is asked for always, and resets the idle limit but not the other', async () => {
  let token: unknown
  const { url } = await serverThat((message, _request, response) => {
    token = (message.params?.['_meta'] as { progressToken?: unknown } | undefined)?.progressToken
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let progress = 0
    const timer = setInterval(() => {
      const params = { progressToken: token, progress: ++progress }
      response.write(
        `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n\n`,
      )
    }, 50)
    response.on('close', () => clearInterval(timer))
  })
  const mcp = await connect(url, { callMs: 700, idleMs: 350 })
  const start = performance.now()
  expect(await call(mcp)).toMatchObject({ toolError: 'timeout', message: expect.stringContaining('0.7 s') })
  expect(performance.now() - start).toBeGreaterThanOrEqual(690)
  expect(token).toBeDefined()
})

/** A server of revision 2026-07-28 by hand, whose every call is answered with `answer`. */
async function modernServerThat(answer: object): Promise<string> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id, method } = JSON.parse(body) as Rpc
    const known: Record<string, object> = {
      'server/discover': {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'modern', version: '1' } },
        ttlMs: 0,
        cacheScope: 'private',
      },
      'tools/list': {
        resultType: 'complete',
        tools: [{ name: 'a', inputSchema: { type: 'object' } }],
        ttlMs: 0,
        cacheScope: 'private',
      },
    }
    const result = known[method]
    reply(response, { jsonrpc: '2.0', id, ...(result === undefined ? answer : { result }) })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  open.push({ close: () => server.close() })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test.each([
  [
    'an elicitation',
    {
      result: {
        resultType: 'input_required',
        inputRequests: {
          q: {
            method: 'elicitation/create',
            params: {
              mode: 'form',
              message: 'Your name?',
              requestedSchema: { type: 'object', properties: {} },
            },
          },
        },
      },
    },
  ],
  [
    'a capability',
    { error: { code: -32021, message: 'elicitation', data: { requiredCapabilities: { elicitation: {} } } } },
  ],
])('a server of 2026 that demands %s gives a tool error, and no fault', async (_what, answer) => {
  const mcp = await connect(await modernServerThat(answer))
  expect(mcp.protocolVersion).toBe('2026-07-28')
  expect(await call(mcp)).toMatchObject({ toolError: 'needs_input' })
})

test('a signal that aborts while the server starts ends the start', async () => {
  const { url } = await serverThat(inTurn('result'))
  await expect(mcpTools({ url, signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over')
  const silent = createServer(() => {})
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done))
  open.push({
    close: () => {
      silent.closeAllConnections()
      silent.close()
    },
  })
  const given = new AbortController()
  setTimeout(() => given.abort(new Error('over')), 50)
  const { port } = silent.address() as AddressInfo
  await expect(mcpTools({ url: `http://127.0.0.1:${port}/`, signal: given.signal })).rejects.toThrow('over')
})

test('an address where nobody listens: the fault says so, without the keys in it', async () => {
  const { url, server } = await serverThat(() => {})
  await new Promise((done) => server.close(done))
  const thrown = await connect(url).then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(FaultError)
  const { message } = (thrown as FaultError).fault
  expect(message).toContain('ECONNREFUSED')
  expect(message).not.toContain('canary')
})

test('an address that is none is refused at once', async () => {
  for (const url of ['ftp://localhost/', 'no address', ''])
    await expect(mcpTools({ url })).rejects.toMatchObject({ code: 'usage' })
})
