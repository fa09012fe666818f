import { connect as connectTo } from 'node:net'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { type FakeOptions, fakeCore } from '../session/__fixtures__/fake-core.ts'
import { SessionError } from '../session/session-error.ts'
import { NemoClient, response, row, served } from './__fixtures__/client.ts'

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

async function open(options: FakeOptions = {}, extra: { token?: string; logged?: string[] } = {}) {
  const core = fakeCore(options)
  const { door, url } = await served(core, extra)
  opened.push(door, core)
  return { core, url, agent: new NemoClient(url) }
}

test.each([
  ['no JSON', '{"a":'],
  ['a list', '[]'],
  ['null', 'null'],
  ['nothing', ''],
  ['a row without a task', '{"responses_create_params":{"input":"?"}}'],
  ['a row with a task that is not there', JSON.stringify({ task_id: 'nope' })],
  ['a row of another environment', JSON.stringify({ quintain: { environment: 'x', task: 'train-0' } })],
  ['a row whose task is no text', JSON.stringify({ verifier_metadata: { quintain: { task: 7 } } })],
  ['a place below none', JSON.stringify({ quintain: { split: 'train', index: -1 } })],
  ['a split that is not there', JSON.stringify({ quintain: { split: 'nope', index: 0 } })],
  ['a body that nests too deep', '['.repeat(100_000)],
])('a seed of %s is refused in words', async (_, body) => {
  const { agent, core } = await open()
  const refused = await agent.post('/seed_session', body)
  expect([400, 422]).toContain(refused.status)
  expect(refused.json?.['detail']).toEqual(expect.any(String))
  expect(core.stats().created).toBe(0)
})

test('rows may name a task by its place, at the top level or under task_data', async () => {
  const { url } = await open()
  for (const named of [
    { quintain: { split: 'test', index: 1 } },
    { task_data: { quintain: { environment: 'fake', task: 'test-1' } } },
    { task_id: 'test-1' },
  ])
    expect((await new NemoClient(url).post('/seed_session', named)).status).toBe(200)
})

test.each([
  ['no response', {}],
  ['a response without output', { response: {} }],
  ['an output that is no list', { response: { output: 'right' } }],
  ['no parameters', { responses_create_params: null, response: response('right') }],
])('a verification with %s is refused and ends nothing', async (_, fields) => {
  const { agent } = await open()
  await agent.post('/seed_session', row())
  expect(await agent.post('/verify', { ...row(), ...fields })).toMatchObject({ status: 422 })
  expect((await agent.post('/verify', { ...row(), response: response('right') })).json).toMatchObject({
    reward: 1,
  })
})

test('whatever stands in an output, a verification is a number or a mask', async () => {
  const { url } = await open({ most: 1_000 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(
          fc.jsonValue({ maxDepth: 3 }),
          fc.record({
            type: fc.constantFrom('message', 'function_call', 'reasoning', 7),
            role: fc.constantFrom('assistant', 'user', null),
            content: fc.oneof(
              fc.string(),
              fc.jsonValue(),
              fc.array(fc.record({ type: fc.constant('output_text'), text: fc.jsonValue() })),
            ),
          }),
        ),
        { maxLength: 4 },
      ),
      async (output) => {
        const agent = new NemoClient(url)
        await agent.post('/seed_session', row())
        const { status, json } = await agent.post('/verify', { ...row(), response: { output } })
        expect(status).toBe(200)
        expect(json).toMatchObject({ reward: expect.any(Number), mask_sample: false })
      },
    ),
    { numRuns: 40 },
  )
})

test("a cookie of nobody's is lost: tools 404, verification masked, and it comes back unchanged", async () => {
  const { agent } = await open({ kind: 'tools' })
  const cookie = 'quintain_fake=bm9ib2R5cw'
  agent.cookie = cookie
  expect(await agent.post('/add', { by: 1 })).toMatchObject({ status: 404, cookie })
  expect(await agent.post('/verify', { ...row(), response: response('x') })).toMatchObject({
    cookie,
    json: { mask_sample: true, failure_kind: 'session_lost' },
  })
  expect(await agent.post('/step', { ...row(), response: response('x') })).toMatchObject({ status: 404 })
  expect(await agent.post('/close', {})).toMatchObject({ status: 200 })
})

test('a cookie that could break a header is not sent back', async () => {
  const { url, agent } = await open()
  agent.cookie = 'quintain_fake=a"b<c>'
  expect((await new NemoClient(url).post('/close', {})).cookie).toBeUndefined()
  expect((await agent.post('/close', {})).cookie).toBeUndefined()
})

test("an agent's token reaches tools and nothing else", async () => {
  const { url, agent } = await open({ kind: 'tools' })
  const seeded = await agent.post('/seed_session', row())
  const { headers } = seeded.json!['mcp'] as { headers: Record<string, string> }
  const token = Object.values(headers)[0]!
  expect(seeded.cookie).not.toContain(token)
  const thief = new NemoClient(url)
  thief.cookie = `quintain_fake=${token}`
  expect((await thief.post('/verify', { ...row(), response: response('x') })).json).toMatchObject({
    mask_sample: true,
  })
  thief.cookie = `quintain_fake=${token}`
  await thief.post('/close_session', {})
  expect(await agent.post('/add', { by: 1 })).toMatchObject({ status: 200 })
})

test("with a token of the server, everything but liveness and the agents' own path asks for it", async () => {
  const { url, agent } = await open({ kind: 'tools' }, { token: 'a-token-of-the-server' })
  expect(await agent.get('/')).toMatchObject({ status: 200 })
  for (const path of ['/seed_session', '/verify', '/add', '/reset', '/close_session', '/aggregate_metrics'])
    expect(await agent.post(path, row())).toMatchObject({ status: 401 })
  const trusted = new NemoClient(url, { authorization: 'Bearer a-token-of-the-server' })
  const { json } = await trusted.post('/seed_session', row())
  const { headers } = json!['mcp'] as { headers: Record<string, string> }
  const list = { jsonrpc: '2.0', id: 1, method: 'ping' }
  const accept = { accept: 'application/json, text/event-stream' }
  expect(await agent.post('/mcp', list, accept)).toMatchObject({ status: 401 })
  expect(await agent.post('/mcp', list, { ...accept, ...headers })).not.toMatchObject({ status: 401 })
})

test('a body that is too long is refused', async () => {
  const { url } = await open()
  const { hostname, port } = new URL(url)
  // A client that says how much it will send need not send it.
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connectTo(Number(port), hostname, () => {
      socket.write(
        `POST /verify HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-type: application/json\r\ncontent-length: ${2 ** 31}\r\n\r\n{`,
      )
    })
    socket.once('data', (data) => {
      resolve(data.toString())
      socket.destroy()
    })
    socket.once('error', reject)
  })
  expect(answer).toMatch(/^HTTP\/1\.1 413/)
})

test('paths that are none are not there, and other methods are not allowed', async () => {
  const { url, agent } = await open({ kind: 'tools' })
  await agent.post('/seed_session', row())
  expect((await fetch(`${url}/nothing`)).status).toBe(404)
  expect((await fetch(`${url}/verify`, { method: 'DELETE' })).status).toBe(405)
  for (const path of ['/add/more', '/add/', '//add', '/a%00b', `/${'a'.repeat(200)}`]) {
    const { status } = await agent.post(path, { by: 1 })
    expect([400, 404]).toContain(status)
  }
})

test('a client that vanishes leaves its session as it was', async () => {
  const { agent, url } = await open({ kind: 'tools', stepMs: 100 })
  await agent.post('/seed_session', row())
  const cookie = agent.cookie!
  const gone = new AbortController()
  const call = fetch(`${url}/add`, {
    method: 'POST',
    body: '{"by":2}',
    headers: { cookie },
    signal: gone.signal,
  })
  setTimeout(() => gone.abort(), 30)
  await expect(call).rejects.toThrow()
  expect((await agent.post('/read', {})).text).toBe('2')
})

test('a core that is full, drained or broken is refused in the way that clients try again or do not', async () => {
  const { core, url } = await open({ most: 1 })
  await new NemoClient(url).post('/seed_session', row())
  expect(await new NemoClient(url).post('/seed_session', row())).toMatchObject({ status: 503 })
  for (const [fault, status] of [
    [{ owner: 'world', stage: 'open', code: 'timeout', message: 'it hung', retryable: true }, 503],
    [{ owner: 'world', stage: 'open', code: 'threw', message: 'it broke', retryable: false }, 500],
  ] as const) {
    core.create = async () => {
      throw new SessionError('infrastructure', 'The world did not open.', { fault })
    }
    const refused = await new NemoClient(url).post('/seed_session', row())
    expect(refused).toMatchObject({ status, json: { detail: 'The world did not open.' } })
  }
})

test('an error that nobody foresaw tells clients nothing, and the log what it was', async () => {
  const logged: string[] = []
  const { core, url } = await open({}, { logged })
  core.create = async () => {
    throw new Error('private words')
  }
  const failed = await new NemoClient(url).post('/seed_session', row())
  expect(failed.status).toBe(500)
  expect(failed.text).not.toContain('private')
  expect(logged.join('\n')).toContain('private words')
})
