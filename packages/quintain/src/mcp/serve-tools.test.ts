import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { createConnection } from 'node:net'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Turn } from '../core/environment.ts'
import { FaultError } from '../core/fault-error.ts'
import { type Tool, type ToolResult, tool, toolError } from '../core/tool.ts'
import { type Mount, type MountOptions, serveTools, type ToolServer } from './serve-tools.ts'

let server: ToolServer
const mounts = new Set<Mount>()
const clients = new Set<Client>()
beforeAll(async () => {
  server = await serveTools({ maxBodyBytes: 100_000 })
})
afterEach(async () => {
  await Promise.all([...clients].map((client) => client.close()))
  await Promise.all([...mounts].map((mount) => mount.close()))
  clients.clear()
  mounts.clear()
})
afterAll(() => server.close())

const made = (
  name: string,
  run: (input: { a?: number }, context: Parameters<Tool['run']>[1]) => unknown,
): Tool =>
  tool({
    name,
    description: `Does ${name}.`,
    input: z.object({ a: z.number().optional() }),
    run: (input, context) => run(input as { a?: number }, context) as ToolResult,
  })
function mount(tools: MountOptions['tools'], options: Omit<MountOptions, 'tools'> = {}): Mount {
  const opened = server.mount({ tools, ...options })
  mounts.add(opened)
  return opened
}
const eras = ['legacy', 'auto'] as const
async function connect(
  { url, headers }: Pick<Mount, 'url' | 'headers'>,
  era: (typeof eras)[number] = 'auto',
  options: ConstructorParameters<typeof Client>[1] = {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era }, ...options })
  clients.add(client)
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { ...headers } } }),
  )
  return client
}
const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)

/** A request by hand, since `fetch` does not let one say whom one asks. */
function ask(
  url: string,
  {
    method = 'POST',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers }, (response) => {
      let said = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        said += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: said }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by hand', version: '1' } },
})
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

test('a caller that asks for its connection to be closed reads its end with the reply, stream or not', async () => {
  const { host, hostname, port, pathname } = new URL(mount([made('wait', () => 'ok')]).url)
  const began = performance.now()
  const socket = createConnection({ host: hostname, port: Number(port) })
  const head = Object.entries({ host, connection: 'close', ...json, 'content-length': initialize.length })
  const lines = [
    `POST ${pathname} HTTP/1.1`,
    ...head.map(([name, value]) => `${name}: ${value}`),
    '',
    initialize,
  ]
  socket.write(lines.join('\r\n'))
  let said = ''
  for await (const chunk of socket) said += chunk
  expect(said).toContain('text/event-stream')
  expect(said).toContain('"serverInfo"')
  expect(said.match(/^connection: .*$/gim)).toEqual(['Connection: close'])
  // A server keeps an idle connection for five seconds and more.
  expect(performance.now() - began).toBeLessThan(4_000)
})

describe.each(eras)('a client of the era %s', (era) => {
  test('sees the tools and calls them', async () => {
    const add = tool({
      name: 'add',
      description: 'Adds.',
      input: z.object({ a: z.number(), b: z.number() }),
      run: ({ a, b }) => String(a + b),
    })
    const client = await connect(mount([add], { instructions: 'Add up.' }), era)
    expect(client.getProtocolEra()).toBe(era === 'auto' ? 'modern' : 'legacy')
    expect(client.getInstructions()).toBe('Add up.')
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([{ name: 'add', description: 'Adds.', inputSchema: add.spec.parameters }])
    expect(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
      content: [{ type: 'text', text: '3' }],
    })
  })

  test('gets failures as results, and an unknown tool as an error of the protocol', async () => {
    let ran = 0
    const failed: string[] = []
    const client = await connect(
      mount(
        [
          made('div', () => {
            throw new Error('divide by zero, said secret-7')
          }),
          made('soft', () => toolError('none', 'No such order.')),
          made('typed', () => void ran++),
        ],
        {
          redact: (text) => text.replaceAll('secret-7', '[withheld]'),
          onFailure: (thrown, { name }) => failed.push(`${name}: ${thrown}`),
        },
      ),
      era,
    )
    expect(await client.callTool({ name: 'div' })).toMatchObject({
      isError: true,
      content: [{ text: 'divide by zero, said [withheld]' }],
    })
    expect(failed).toEqual(['div: Error: divide by zero, said secret-7'])
    expect(await client.callTool({ name: 'soft' })).toMatchObject({
      isError: true,
      content: [{ text: 'No such order.' }],
    })
    expect(await client.callTool({ name: 'typed', arguments: { a: 'one' } })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('do not fit "typed": a: ') }],
    })
    expect(ran).toBe(0)
    await expect(client.callTool({ name: 'dvi' })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('did you mean "div"'),
    })
  })

  test('hears nothing of a fault but that there is one', async () => {
    const failed: unknown[] = []
    const fault = new FaultError({
      owner: 'sandbox',
      code: 'lost',
      message: 'box 7 of host x',
      retryable: true,
    })
    const client = await connect(
      mount(
        [
          made('lost', () => {
            throw fault
          }),
          made('nothing', () => undefined),
        ],
        { onFailure: (thrown) => failed.push(thrown) },
      ),
      era,
    )
    for (const name of ['lost', 'nothing']) {
      await expect(client.callTool({ name })).rejects.toMatchObject({
        code: -32603,
        message: expect.stringMatching(/the world failed$/),
      })
    }
    expect(failed).toEqual([
      fault,
      expect.objectContaining({ message: expect.stringContaining('no tool result') }),
    ])
  })

  test('hears nothing of why a world cannot list its tools', async () => {
    const failed: string[] = []
    const client = await connect(
      mount(
        () => {
          throw new Error('the secret is 7')
        },
        { onFailure: (thrown, { name }) => failed.push(`${name}: ${thrown}`) },
      ),
      era,
    )
    for (const asked of [client.listTools(), client.callTool({ name: 'a' })])
      await expect(asked).rejects.toMatchObject({
        code: -32603,
        message: expect.not.stringContaining('secret'),
      })
    expect(failed).toEqual(['tools/list: Error: the secret is 7', 'a: Error: the secret is 7'])
  })

  test('gets parts and turns as content, and neither reward nor end', async () => {
    const turns: Turn[] = []
    const client = await connect(
      mount(
        [
          made('look', () => [
            { type: 'text', text: 'see' },
            { type: 'image', mediaType: 'image/png', data: 'aGk=' },
          ]),
          made('win', () => ({ content: 'You won.', done: 'won', reward: 1 })),
        ],
        { onTurn: (turn) => turns.push(turn) },
      ),
      era,
    )
    const seen = await client.callTool({ name: 'look' })
    expect(seen.content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    ])
    const won = await client.callTool({ name: 'win' })
    expect(won.content).toEqual([{ type: 'text', text: 'You won.' }])
    expect(JSON.stringify(won)).not.toMatch(/reward|done/)
    expect(turns).toEqual([{ content: 'You won.', done: 'won', reward: 1 }])
    expect([...mounts][0]?.over).toBe('won')
    expect(await client.callTool({ name: 'look' })).toMatchObject({ isError: true })
  })

  test('hears of progress, from the tool and in between', async () => {
    const client = await connect(
      mount(
        [
          made('slow', async (_input, { progress }) => {
            progress?.(1, 3, 'one')
            progress?.(1, 3, 'not less than before')
            await new Promise((done) => setTimeout(done, 120))
            return 'done'
          }),
        ],
        { progressMs: 25 },
      ),
      era,
    )
    const told: number[] = []
    await client.callTool({ name: 'slow' }, { onprogress: ({ progress }) => told.push(progress) })
    expect(told.length).toBeGreaterThan(3)
    expect(told[0]).toBe(1)
    expect(told).toEqual([...new Set(told)].sort((a, b) => a - b))
  })

  test('cancels a call: the tool is told', async () => {
    const given = new AbortController()
    const stopped = Promise.withResolvers<string>()
    const client = await connect(
      mount([
        made('slow', (_input, { signal }) => {
          signal.addEventListener('abort', () => stopped.resolve('told'))
          given.abort()
          return new Promise(() => {})
        }),
      ]),
      era,
    )
    await expect(client.callTool({ name: 'slow' }, { signal: given.signal })).rejects.toThrow()
    expect(await stopped.promise).toBe('told')
  })

  test('is told when the tools change', async () => {
    let tools = [made('a', () => 'a')]
    const opened = mount(() => tools)
    const changed = Promise.withResolvers<void>()
    const client = await connect(opened, era, {
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changed.resolve() } },
    })
    expect(await names(client)).toEqual(['a'])
    tools = [...tools, made('b', () => 'b')]
    const again = setInterval(() => opened.toolsChanged(), 20)
    await changed.promise
    clearInterval(again)
    expect(await names(client)).toEqual(['a', 'b'])
  })

  test('is given up at the limit, in band', async () => {
    const failed: unknown[] = []
    const opened = mount([made('hang', () => new Promise(() => {}))], {
      callMs: 50,
      onFailure: (thrown) => failed.push(thrown),
    })
    const client = await connect(opened, era)
    expect(await client.callTool({ name: 'hang' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('0.05 s') }],
    })
    expect(failed).toHaveLength(1)
    expect(opened.failure?.fault).toMatchObject({ owner: 'world', code: 'timeout', retryable: true })
  })
})

describe('a failure of the world', () => {
  const fault = new FaultError({
    owner: 'sandbox',
    code: 'lost',
    message: 'the box is gone',
    retryable: true,
  })

  test.each<[string, () => unknown, object]>([
    [
      'what a tool threw',
      () => {
        throw new Error('no table orders, said secret-7')
      },
      { owner: 'world', code: 'threw', message: expect.stringContaining('no table orders, said [withheld]') },
    ],
    [
      'a fault that a tool named itself',
      () => {
        throw fault
      },
      fault.fault,
    ],
    ['no tool result', () => undefined, { owner: 'world', code: 'bad_result', retryable: false }],
  ])('%s: the first one is there for finish() to throw', async (_what, run, told) => {
    const opened = mount([made('fails', run), made('fails-too', () => 5), made('works', () => 'ok')], {
      redact: (text) => text.replaceAll('secret-7', '[withheld]'),
    })
    const client = await connect(opened)
    await client.callTool({ name: 'works' })
    expect(() => opened.check()).not.toThrow()
    for (const name of ['fails', 'fails-too']) await client.callTool({ name }).catch(() => {})
    expect(opened.failure?.fault).toMatchObject(told)
    expect(() => opened.check()).toThrow(opened.failure)
    expect(opened.calls).toBe(3)
  })

  test('is none of what an agent gets wrong, nor of what it gives up', async () => {
    const given = new AbortController()
    const opened = mount([
      made('soft', () => toolError('none', 'No such order.')),
      made('typed', () => 'ok'),
      made('slow', async (_input, { signal }) => {
        given.abort()
        await new Promise((done) => signal.addEventListener('abort', done))
        throw new Error('it was given up')
      }),
    ])
    const client = await connect(opened)
    await client.callTool({ name: 'soft' })
    await client.callTool({ name: 'typed', arguments: { a: 'one' } })
    await client.callTool({ name: 'none' }).catch(() => {})
    await client.callTool({ name: 'slow' }, { signal: given.signal }).catch(() => {})
    await opened.close()
    expect(opened.failure).toBeUndefined()
  })

  test('is none where calls only waited behind another for too long', async () => {
    const release = Promise.withResolvers<string>()
    const began = Promise.withResolvers<void>()
    const opened = mount(
      [
        made('slow', () => {
          began.resolve()
          return release.promise
        }),
        made('quick', () => 'ok'),
      ],
      { callMs: 300 },
    )
    const client = await connect(opened)
    const slow = client.callTool({ name: 'slow' })
    await began.promise
    const waited = await client.callTool({ name: 'quick' })
    expect(waited).toMatchObject({ isError: true })
    release.resolve('done')
    await slow
    // The slow one has failed; that the quick one never ran is no failure of its own.
    expect(opened.failure?.fault.message).toContain('"slow"')
    expect(opened.calls).toBe(1)
  })
})

test('a server without an open mount keeps no process alive', async () => {
  const source = `
    import { serveTools } from ${JSON.stringify(new URL('index.ts', import.meta.url).href)}
    const server = await serveTools()
    const mount = server.mount({ tools: [] })
    setTimeout(async () => {
      const { status } = await fetch(mount.url)
      await mount.close()
      process.stdout.write(String(status))
    }, 50).unref()
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  // It ends by itself, and not before the mount was closed: the timer alone would not have kept it.
  expect(await once(child, 'close')).toEqual([0, null])
  expect(said).toMatch(/^\d{3}$/)
})

describe('attempts', () => {
  test('have addresses and tools of their own', async () => {
    const [a, b] = [mount([made('a', () => 'of a')]), mount([made('b', () => 'of b')])]
    const [one, other] = [await connect(a), await connect(b, 'legacy')]
    expect([await names(one), await names(other)]).toEqual([['a'], ['b']])
    await a.close()
    await expect(names(one)).rejects.toThrow()
    expect(await names(other)).toEqual(['b'])
    await expect(connect(a)).rejects.toThrow()
  })

  test('give each client its own answer though all use the same ids', async () => {
    const opened = Array.from({ length: 8 }, (_, index) => mount([made('who', () => `${index}`)]))
    // Every client counts its requests from 0.
    const all = await Promise.all(
      opened.map((one, index) => connect(one, index % 2 === 0 ? 'auto' : 'legacy')),
    )
    const said = await Promise.all(all.map((client) => client.callTool({ name: 'who' })))
    expect(said.map(({ content }) => (content[0] as { text: string }).text)).toEqual([...'01234567'])
  })

  test('give clients of one attempt their own answers, one call after the other', async () => {
    let running = 0
    const opened = mount([
      made('echo', async ({ a }) => {
        expect(++running).toBe(1)
        await new Promise((done) => setTimeout(done, 2))
        running--
        return `${a}`
      }),
    ])
    const all = await Promise.all([
      connect(opened),
      connect(opened),
      connect(opened, 'legacy'),
      connect(opened, 'legacy'),
    ])
    const said = await Promise.all(
      all.map((client, a) => client.callTool({ name: 'echo', arguments: { a } })),
    )
    expect(said.map(({ content }) => (content[0] as { text: string }).text)).toEqual(['0', '1', '2', '3'])
  })

  test('end with their signal, and what runs then ends too', async () => {
    const given = new AbortController()
    const opened = mount([made('hang', () => new Promise(() => {}))], { signal: given.signal })
    const client = await connect(opened)
    const call = client.callTool({ name: 'hang' })
    setTimeout(() => given.abort(), 30)
    await expect(call).rejects.toThrow()
    expect((await ask(opened.url, { headers: json, body: initialize })).status).toBe(404)
  })

  test('carry out so many waiting calls and no more', async () => {
    const free = Promise.withResolvers<void>()
    const opened = mount(
      [
        made('wait', async () => {
          await free.promise
          return 'done'
        }),
      ],
      { maxWaiting: 2 },
    )
    const client = await connect(opened)
    const calls = [1, 2, 3].map(() => client.callTool({ name: 'wait' }))
    // Which of them came last to the server is not ours to say.
    expect(await Promise.race(calls)).toMatchObject({ isError: true })
    free.resolve()
    const failed = (await Promise.all(calls)).filter(({ isError }) => isError === true)
    expect(failed).toHaveLength(1)
  })
})

describe('the address', () => {
  const plain = [made('a', () => 'a')]

  test.each([
    ['a foreign host', { host: 'rebound.example' }, 403],
    ['a foreign origin', { origin: 'https://rebound.example' }, 403],
    ['an origin that only begins like ours', { origin: 'http://localhost.example' }, 403],
    ['an opaque origin', { origin: 'null' }, 403],
    ['an origin of this machine', { origin: 'http://localhost:5173' }, 200],
  ])('with %s', async (_what, headers, status) => {
    const { url } = mount(plain)
    expect((await ask(url, { headers: { ...json, ...headers }, body: initialize })).status).toBe(status)
  })

  test('is known by its handle only', async () => {
    const { url } = mount(plain)
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/m\/[\w-]{32}\/mcp$/)
    for (const other of [
      '/',
      '/mcp',
      '/m/x/mcp',
      `/m/${'A'.repeat(32)}/mcp`,
      '/m/../m/mcp',
      `${new URL(url).pathname}/x`,
    ])
      expect(await ask(new URL(other, url).href)).toEqual({ status: 404, body: '{"error":"not found"}' })
  })

  test('may ask for a token as well', async () => {
    const opened = mount(plain, { bearer: true })
    expect((await ask(opened.url, { headers: json, body: initialize })).status).toBe(401)
    const wrong = { ...json, authorization: 'Bearer x' }
    expect((await ask(opened.url, { headers: wrong, body: initialize })).status).toBe(401)
    expect(await names(await connect(opened))).toEqual(['a'])
  })

  test('takes bodies of a size, declared or not', async () => {
    const { url } = mount(plain)
    const body = ' '.repeat(200_000)
    expect((await ask(url, { headers: { ...json, 'content-length': '200000' }, body })).status).toBe(413)
    expect((await ask(url, { headers: { ...json, 'transfer-encoding': 'chunked' }, body })).status).toBe(413)
  })

  test.each(['GET', 'POST', 'DELETE'])(
    'answers %s for an unknown session with 404 and opens no stream',
    async (method) => {
      const { url } = mount(plain)
      const headers = { ...json, accept: 'text/event-stream, application/json', 'mcp-session-id': 'unknown' }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      const answer = await ask(url, { method, headers, ...(method === 'POST' ? { body } : {}) })
      expect(answer.status).toBe(404)
      expect(JSON.parse(answer.body)).toMatchObject({ error: { code: -32001 } })
    },
  )

  test.each([
    ['no JSON', '{"jsonrpc"'],
    ['no request', '{"hello":1}'],
    ['a number', '5'],
    ['nothing', ''],
  ])('answers %s with an error and goes on', async (_what, body) => {
    const { url } = mount(plain)
    expect((await ask(url, { headers: json, body })).status).toBe(400)
    expect((await ask(url, { headers: json, body: initialize })).status).toBe(200)
  })

  test('keeps so many sessions of legacy clients and no more; one that was put out begins anew', async () => {
    const opened = mount(plain, { maxSessions: 2 })
    const all = [
      await connect(opened, 'legacy'),
      await connect(opened, 'legacy'),
      await connect(opened, 'legacy'),
    ]
    await expect(names(all[0] as Client)).rejects.toThrow(/404|not found/i)
    expect(await names(all[2] as Client)).toEqual(['a'])
    expect(await names(await connect(opened, 'legacy'))).toEqual(['a'])
  })
})

test('only loopback is listened on, and closing ends everything', async () => {
  await expect(serveTools({ host: '0.0.0.0' as '::1' })).rejects.toMatchObject({ code: 'usage' })
  const other = await serveTools()
  await expect(serveTools({ port: other.port })).rejects.toMatchObject({ code: 'usage' })
  const opened = other.mount({ tools: [made('hang', () => new Promise(() => {}))] })
  const client = await connect(opened, 'legacy')
  const call = client.callTool({ name: 'hang' })
  call.catch(() => {})
  await new Promise((done) => setTimeout(done, 30))
  await other.close()
  await expect(call).rejects.toThrow()
  await expect(ask(opened.url)).rejects.toThrow(/ECONNREFUSED/)
})
