import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type McpTools, mcpTools } from '../../mcp/index.ts'
import type { OpenDoor } from '../serve/door.ts'
import { fakeCore } from '../session/__fixtures__/fake-core.ts'
import type { SessionCore } from '../session/session.ts'
import { RawClient } from './__fixtures__/client.ts'
import { hudDoor } from './door.ts'
import { exportHud } from './export-hud.ts'
import { hudRows } from './rows.ts'

const doors: OpenDoor[] = []
const clients: RawClient[] = []
const tools: McpTools[] = []

async function serve(core: SessionCore): Promise<OpenDoor> {
  const door = await hudDoor.open([core], { host: '127.0.0.1', port: 0, log: () => {} })
  doors.push(door)
  return door
}

async function client(door: OpenDoor): Promise<RawClient> {
  const made = await RawClient.to(door)
  clients.push(made)
  return made
}

async function toolsAt(url: string): Promise<McpTools> {
  const made = await mcpTools({ url })
  tools.push(made)
  return made
}

const namesOf = async (mcp: McpTools) => (await mcp.tools()).map(({ name }) => name)
const first = { id: 'train', args: { index: 0 } }

afterEach(async () => {
  for (const one of tools.splice(0)) await one.close().catch(() => {})
  for (const one of clients.splice(0)) one.socket.destroy()
  for (const door of doors.splice(0)) await door.close()
})

test('the tools of a session are at an address of its own, before its task begins and after', async () => {
  const door = await serve(fakeCore({ kind: 'tools' }))
  const [one, other] = await Promise.all([client(door), client(door)])
  const bindings = await Promise.all(
    [one, other].map(async (peer) => (await peer.ask('hello')).result.bindings),
  )
  const [[binding], [second]] = bindings
  expect(binding).toEqual({
    name: 'tools',
    protocol: 'mcp/2025-11-25',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/m\/[\w-]{32}\/mcp$/),
    params: { transport: 'streamable-http' },
  })
  expect(second.url).not.toBe(binding.url)
  const mcp = await toolsAt(binding.url)
  expect(await namesOf(mcp)).toEqual([])
  await one.ask('tasks.start', first)
  await expect.poll(() => namesOf(mcp)).toEqual(['add', 'read'])
  // No reward, no reset and no end are among them, and nobody else's task.
  expect(await namesOf(await toolsAt(second.url))).toEqual([])
  const call = (name: string, args: Record<string, unknown> = {}) => mcp.call(name, args)
  expect(await call('add', { by: 3 })).toMatchObject({ content: [{ type: 'text', text: 'now 3' }] })
  expect(await call('add', { by: 'x' })).toMatchObject({ isError: true })
  await one.vanish()
  // What was begun goes on without the channel.
  expect(await call('read')).toMatchObject({ content: [{ type: 'text', text: '3' }] })
  expect((await other.ask('tasks.grade', { answer: null })).result.score).toBe(1)
  expect(await call('add', { by: 1 })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('over') }],
  })
})

test('another task in the same session has tools of its own at the same address', async () => {
  const door = await serve(fakeCore({ kind: 'tools' }))
  const one = await client(door)
  const mcp = await toolsAt((await one.ask('hello')).result.bindings[0].url)
  for (const _ of [1, 2]) {
    await one.ask('tasks.start', first)
    expect(await mcp.call('add', { by: 3 })).toMatchObject({
      content: [{ text: 'now 3' }],
    })
    expect((await one.ask('tasks.grade', { answer: null })).result.score).toBe(1)
  }
  await one.ask('bye')
  await expect(mcp.call('read')).rejects.toMatchObject({ fault: { owner: 'world' } })
})

test('an environment that answers is spoken to by a tool, and agents are told so', async () => {
  const door = await serve(fakeCore({ kind: 'game' }))
  const one = await client(door)
  const mcp = await toolsAt((await one.ask('hello')).result.bindings[0].url)
  const { prompt } = (await one.ask('tasks.start', first)).result
  expect(prompt[0]).toEqual({
    role: 'system',
    content: expect.stringMatching(/^You are tested\.\n\n.*`say`/),
  })
  await expect.poll(() => namesOf(mcp)).toEqual(['say'])
  expect(await mcp.call('say', { message: 'wrong' })).toMatchObject({
    content: [{ text: 'Not wrong.' }],
  })
  expect(await mcp.call('say', { message: 'right' })).toMatchObject({
    content: [{ text: 'You won.' }],
  })
  const { result } = await one.ask('tasks.grade', { answer: 'I have won.' })
  expect(result).toMatchObject({ score: 1, content: 'won', info: { outcome: 'env_done' } })
})

test('a tunnel leads to the tools and to nothing else', async () => {
  const door = await serve(fakeCore({ kind: 'tools' }))
  const one = await client(door)
  const [{ url }] = (await one.ask('hello')).result.bindings
  await one.ask('tasks.start', first)
  const { pathname, host } = new URL(url)
  const ask = async (path: string) => {
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    })
    const pipe = await client(door)
    // Bytes that come right behind the request are the first of the pipe.
    pipe.write(
      `{"id":1,"method":"tunnel.open","params":{"capability":"tools"}}\nPOST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    await expect.poll(() => pipe.text).toMatch(/serverInfo|not found/)
    return pipe.text
  }
  const told = await ask(pathname)
  expect(told.slice(0, told.indexOf('200 OK'))).toBe(
    '{"jsonrpc":"2.0","id":1,"result":{"capability":"tools"}}\nHTTP/1.1 ',
  )
  expect(told).toContain('"serverInfo"')
  expect(await ask('/m/00000000000000000000000000000000/mcp')).toContain('404 Not Found')
  for (const capability of ['shell', '', '127.0.0.1:22', 3, null]) {
    const pipe = await client(door)
    pipe.send('tunnel.open', { capability })
    expect((await pipe.next()).error, String(capability)).toMatchObject({ code: -32602 })
    await pipe.gone()
  }
})

test('a tunnel that breaks off at either end leaves nothing open', async () => {
  const door = await serve(fakeCore({ kind: 'tools' }))
  const pipe = await client(door)
  await pipe.ask('tunnel.open', { capability: 'tools' })
  await pipe.vanish()
  const other = await client(door)
  await other.ask('tunnel.open', { capability: 'tools' })
  await doors.pop()!.close()
  await other.gone()
})

test('tasks that have tools, of an environment that says it needs none, are refused rather than played without', async () => {
  const core = fakeCore({ kind: 'tools' })
  const quiet = Object.assign(Object.create(core), { environment: { ...core.environment, needs: [] } })
  const one = await client(await serve(quiet))
  expect((await one.ask('hello')).result.bindings).toEqual([])
  expect((await one.ask('tasks.start', first)).error).toMatchObject({
    code: -32000,
    data: { reason: 'needs_unmet' },
  })
  expect(core.stats().open).toBe(0)
})

test('rows name tasks and hold nothing of them', async () => {
  const core = fakeCore()
  const rows = []
  for await (const row of hudRows(core, 'train')) rows.push(row)
  expect(rows).toEqual(
    [0, 1, 2].map((index) => ({
      env: 'fake',
      id: 'train',
      args: { id: `train-${index}` },
      slug: `train-${index}`,
      columns: { split: 'train' },
    })),
  )
  const out = await mkdtemp(join(tmpdir(), 'quintain-hud-'))
  try {
    const { files, notes } = await exportHud({ core, reference: './environments/fake', out })
    expect(files).toEqual(['tasks.jsonl'])
    const text = await readFile(join(out, 'tasks.jsonl'), 'utf8')
    expect(text.trimEnd().split('\n')).toHaveLength(6)
    expect(text).not.toContain('Question')
    expect(notes.join('\n')).toContain('quintain serve ./environments/fake --door hud --port 8765')
    // Every row is one that the channel takes.
    const one = await client(await serve(core))
    for (const line of text.trimEnd().split('\n')) {
      const { id, args } = JSON.parse(line)
      expect((await one.ask('tasks.start', { id, args })).error).toBeUndefined()
    }
  } finally {
    await rm(out, { recursive: true })
  }
})
