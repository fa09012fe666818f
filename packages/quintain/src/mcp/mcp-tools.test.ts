import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { FaultError } from '../core/fault-error.ts'
import type { Tool, ToolResult } from '../core/tool.ts'
import { type McpOptions, type McpTools, mcpTools } from './mcp-tools.ts'

const server = fileURLToPath(new URL('__fixtures__/bad-server.ts', import.meta.url))
const open = new Set<McpTools>()
afterEach(async () => {
  await Promise.all([...open].map((mcp) => mcp.close()))
  open.clear()
})

async function start(
  mode: string,
  options: McpOptions & { argument?: string; env?: Record<string, string> } = {},
): Promise<McpTools> {
  const { argument, ...rest } = options
  const args = [server, mode, ...(argument === undefined ? [] : [argument])]
  const mcp = await mcpTools({ command: process.execPath, args, ...rest })
  open.add(mcp)
  return mcp
}

const context = { signal: new AbortController().signal, callId: 'c1' }
async function call(mcp: McpTools, name: string, args: object = {}): Promise<ToolResult> {
  const tools = await mcp.tools()
  const tool = tools.find((one) => one.name === name) as Tool
  return await tool.run(args as never, context)
}
async function faultOf(promise: Promise<unknown>): Promise<FaultError['fault']> {
  const thrown = await promise.then(
    () => expect.fail('nothing was thrown'),
    (error: unknown) => error,
  )
  expect(thrown).toBeInstanceOf(FaultError)
  const { fault } = thrown as FaultError
  expect(fault.owner).toBe('world')
  return fault
}
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc') || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
async function gone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 200 && isAlive(pid); tries++) await new Promise((done) => setTimeout(done, 10))
  return !isAlive(pid)
}

describe('a server that misbehaves', () => {
  test('never answers a call: the call is given up in band, the session goes on', async () => {
    const mcp = await start('silent', { callMs: 100 })
    expect(await call(mcp, 'bad')).toMatchObject({ toolError: 'timeout' })
    expect(await call(mcp, 'echo', { a: 1 })).toBe('{"a":1}')
  })

  test('never answers anything any more: the world is lost', async () => {
    const mcp = await start('blocked', { callMs: 100 })
    expect(await faultOf(call(mcp, 'bad'))).toMatchObject({ code: 'env_lost', retryable: true })
    // The session stays lost, whoever asks.
    expect(() => mcp.check()).toThrow(FaultError)
    expect(await faultOf(call(mcp, 'echo'))).toMatchObject({ code: 'env_lost' })
  }, 20_000)

  test('does not even answer the handshake: it did not start', async () => {
    expect(await faultOf(start('deaf', { startMs: 300 }))).toMatchObject({
      code: 'mcp_start_failed',
      retryable: true,
      message: expect.stringContaining('longer than 300 ms'),
    })
  })

  test('answers twice: the second answer is for nobody', async () => {
    const mcp = await start('twice')
    expect(await call(mcp, 'bad')).toBe('first')
    expect(await call(mcp, 'echo')).toBe('{}')
    expect(mcp.noise).toMatchObject({ duplicates: 1 })
  })

  test("answers another's id: every call gets its own", async () => {
    const mcp = await start('other-id')
    expect(await call(mcp, 'echo', { n: 1 })).toBe('{"n":1}')
    expect(await call(mcp, 'bad')).toBe('mine')
    expect(mcp.noise).toMatchObject({ strangers: 1, duplicates: 1 })
  })

  test('sends 100 MB: what cannot be held is an error in band, and is not held', async () => {
    const mcp = await start('huge', { argument: '100', maxMessageBytes: 1_000_000 })
    const before = process.memoryUsage().rss
    expect(await call(mcp, 'bad')).toMatchObject({ toolError: 'result_too_large' })
    expect(process.memoryUsage().rss - before).toBeLessThan(90_000_000)
    expect(await call(mcp, 'echo')).toBe('{}')
  }, 20_000)

  test('sends 3 MB: the model sees the beginning with a mark, the whole is kept', async () => {
    const mcp = await start('huge', { argument: '3', resultBytes: 20_000 })
    const shown = (await call(mcp, 'bad')) as string
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(20_000)
    expect(shown).toMatch(/\[cut: the first \d+ of 3000000 bytes are shown]$/)
    expect(mcp.cut).toMatchObject([{ tool: 'bad', callId: 'c1', bytes: 3_000_000 }])
    expect(mcp.cut[0]?.text).toHaveLength(3_000_000)
  })

  test('changes its tool list: the next look shows it', async () => {
    const mcp = await start('changing')
    expect((await mcp.tools()).map(({ name }) => name)).toEqual(['echo', 'bad'])
    expect(await call(mcp, 'bad')).toBe('changed')
    expect((await mcp.tools()).map(({ name }) => name)).toEqual(['echo', 'new'])
  })

  test('dies between calls: the world is lost, also when no call comes after', async () => {
    const mcp = await start('dying')
    expect(await call(mcp, 'bad')).toBe('dead soon')
    expect(await gone(mcp.pid as number)).toBe(true)
    await new Promise((done) => setTimeout(done, 50))
    expect(() => mcp.check()).toThrow(
      expect.objectContaining({ fault: expect.objectContaining({ code: 'env_lost' }) }),
    )
    expect(await faultOf(call(mcp, 'echo'))).toMatchObject({ code: 'env_lost' })
  })

  test('dies in a call: its last words are in the fault', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quintain-mcp-'))
    const mcp = await start('dying-once', { argument: join(folder, 'died') })
    expect(await faultOf(call(mcp, 'bad'))).toMatchObject({
      code: 'env_lost',
      message: expect.stringContaining('out of memory'),
    })
    await rm(folder, { recursive: true })
  })

  test('dies in a call of stateless tools: it is started once more and asked again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quintain-mcp-'))
    const mcp = await start('dying-once', { argument: join(folder, 'died'), stateful: false })
    expect(await call(mcp, 'bad')).toBe('alive again')
    expect(mcp.recoveries).toBe(1)
    await rm(folder, { recursive: true })
  })

  test('dies in every call of stateless tools: a fault, and no loop', async () => {
    const mcp = await start('dying-always', { stateful: false })
    expect(await faultOf(call(mcp, 'bad'))).toMatchObject({ code: 'mcp_session_lost', retryable: true })
    expect(mcp.recoveries).toBe(1)
    // A tool that does not die has a session again.
    expect(await call(mcp, 'echo')).toBe('{}')
  })

  test('asks for elicitation, sampling and roots: refused as methods that we do not have', async () => {
    const mcp = await start('asking')
    expect(await call(mcp, 'bad')).toBe('[-32601,-32601,-32601]')
  })

  test('writes log lines and other JSON on its stdout: left out and counted', async () => {
    const mcp = await start('noisy')
    expect(await call(mcp, 'bad')).toBe('heard')
    expect(mcp.noise).toMatchObject({ skippedLines: 4, malformed: 1 })
  })

  test.each([
    ['content that is no list', 'contentless'],
    ['a result that is a number', 'resultless'],
    ['text where its schema promises an object', 'shapeless'],
  ])('gives %s: a fault, not retried', async (_what, mode) => {
    const mcp = await start(mode)
    expect(await faultOf(call(mcp, 'bad'))).toMatchObject({ code: 'mcp_bad_result', retryable: false })
    expect(await call(mcp, 'echo')).toBe('{}')
  })

  test('answers with what nests a hundred thousand deep: a fault, and no stack runs over', async () => {
    const mcp = await start('deep')
    expect(await faultOf(call(mcp, 'bad'))).toMatchObject({ code: 'mcp_bad_result', retryable: false })
    expect(await call(mcp, 'echo')).toBe('{}')
    expect(await faultOf(start('deep-list'))).toMatchObject({ code: 'mcp_bad_tools', retryable: false })
  })

  test('links to what is no text: named, and nothing is thrown', async () => {
    expect(await call(await start('odd-link'), 'bad')).toBe(
      '[resource without an address]\n[resource is not shown]',
    )
  })

  test('closes its output and lives on: the world is lost at once, not when the call runs out', async () => {
    const mcp = await start('mute', { callMs: 600_000 })
    expect(await faultOf(call(mcp, 'bad'))).toMatchObject({
      code: 'env_lost',
      message: expect.stringContaining('it closed its standard output'),
    })
    expect(await gone(mcp.pid as number)).toBe(true)
  })

  test.each(['result_too_large', 'stream_ended', 'malformed_answer'])(
    'forges our own mark %s: it is an error like any other',
    async (forged) => {
      const mcp = await start('forging', { argument: forged })
      expect(await call(mcp, 'bad')).toEqual({ toolError: 'arguments_invalid', message: 'x' })
    },
  )

  test('explains at length what is wrong with the arguments: the model sees the beginning', async () => {
    const mcp = await start('verbose', { resultBytes: 5_000 })
    const { message } = (await call(mcp, 'bad')) as { message: string }
    expect(message).toMatch(/^x+\n\[cut: /)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(5_000)
    const fault = await faultOf(mcp.call('bad'))
    expect(Buffer.byteLength(fault.message)).toBeLessThanOrEqual(2_010)
  })

  test("does not answer the world's own call: a fault that says so", async () => {
    const mcp = await start('silent', { callMs: 100 })
    expect(await faultOf(mcp.call('bad'))).toMatchObject({
      code: 'mcp_call_timeout',
      retryable: true,
      message: expect.stringContaining('did not end within 100 ms'),
    })
  })

  test('answers with an internal error: a fault; with invalid params: in band', async () => {
    expect(await faultOf(call(await start('failing'), 'bad'))).toMatchObject({ code: 'mcp_protocol_error' })
    expect(await call(await start('refusing'), 'bad')).toMatchObject({ toolError: 'arguments_invalid' })
  })

  test('has a tool list without end', async () => {
    expect(await faultOf(start('endless'))).toMatchObject({ code: 'mcp_bad_tools', retryable: false })
  })

  test('dies of the question for its era: it is started again without that question', async () => {
    // As a program of its own, since this one is known by now for what it speaks.
    const script = `exec '${process.execPath}' '${server}' probed-to-death`
    const mcp = await mcpTools({ command: '/bin/sh', args: ['-c', script] })
    open.add(mcp)
    expect(await call(mcp, 'echo')).toBe('{}')
  })
})

describe('the program', () => {
  test('gets the declared environment and nothing else', async () => {
    process.env['QUINTAIN_TEST_CANARY'] = 'canary'
    const mcp = await start('environment', { env: { KEY: 'value' } })
    expect(JSON.parse((await call(mcp, 'bad')) as string)).toEqual({ KEY: 'value' })
    delete process.env['QUINTAIN_TEST_CANARY']
  })

  test('is ended with what it started, though that ignores SIGTERM and holds its pipes', async () => {
    const mcp = await start('parent')
    const child = Number(await call(mcp, 'bad'))
    expect(isAlive(child)).toBe(true)
    await mcp.close()
    expect(await gone(child)).toBe(true)
    expect(await gone(mcp.pid as number)).toBe(true)
  })

  test('is killed when it will not end', async () => {
    const mcp = await start('stubborn')
    await mcp.close()
    expect(isAlive(mcp.pid as number)).toBe(false)
  })

  test('is ended by the signal of the attempt', async () => {
    const given = new AbortController()
    const mcp = await start('parent', { signal: given.signal })
    given.abort()
    expect(await gone(mcp.pid as number)).toBe(true)
  })

  test('keeps the end of its stderr only', async () => {
    const mcp = await start('chatty', { env: { KEY: 'k' } })
    // The end of it may come after the first answer.
    await expect.poll(() => mcp.stderr().slice(-20)).toContain('key is k')
    expect(mcp.stderr().length).toBeLessThanOrEqual(64 * 1024)
  })

  test('that ends at once says why, without the values of its environment', async () => {
    const fault = await faultOf(start('stillborn', { env: { KEY: 'sk-canary-123' } }))
    expect(fault).toMatchObject({
      code: 'mcp_start_failed',
      message: expect.stringMatching(
        /^MCP server mcp\/__fixtures__\/bad-server\.ts: .*no database at \[withheld]$/,
      ),
    })
    expect(fault.message).not.toContain('canary')
  })

  test('that is not there is no matter of trying again', async () => {
    expect(await faultOf(mcpTools({ command: '/nonexistent/server' }))).toMatchObject({
      code: 'mcp_start_failed',
      retryable: false,
    })
  })

  test('two attempts have two of them', async () => {
    const [a, b] = await Promise.all([start('plain'), start('plain')])
    expect(a.pid).not.toBe(b.pid)
    await a.close()
    expect(await call(b, 'echo')).toBe('{}')
  })
})

describe('tools', () => {
  const listed = (tools: object[], options: McpOptions = {}) =>
    start('listed', { argument: JSON.stringify(tools), ...options })
  const inputSchema = { type: 'object' }

  test('have safe names that are their own', async () => {
    const long = 'x'.repeat(80)
    const mcp = await listed([
      { name: 'a.b', inputSchema },
      { name: 'a b', inputSchema },
      { name: `${long}1`, inputSchema },
      { name: `${long}2`, inputSchema },
      { name: '', inputSchema },
      { name: 'plain', inputSchema },
    ])
    const names = (await mcp.tools()).map(({ name }) => name)
    expect(new Set(names).size).toBe(6)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(names).toContain('plain')
    for (const name of names)
      expect(await call(mcp, name, { from: name })).toBe(JSON.stringify({ from: name }))
  })

  test('are chosen and prefixed', async () => {
    const tools = ['read', 'write', 'reset'].map((name) => ({ name, inputSchema }))
    const only = await listed(tools, { only: ['read'], prefix: 'fs' })
    expect((await only.tools()).map(({ name }) => name)).toEqual(['fs__read'])
    const except = await listed(tools, { except: ['reset'] })
    expect((await except.tools()).map(({ name }) => name)).toEqual(['read', 'write'])
    // The world itself may use what the agent does not see.
    expect(await except.call('reset')).toMatchObject({ content: [{ type: 'text' }] })
    expect(await faultOf(listed(tools, { only: ['raed'] }))).toMatchObject({
      code: 'mcp_bad_tools',
      message: expect.stringContaining('"raed"'),
    })
  })

  test('whose description would fill a context are refused by name', async () => {
    expect(
      await faultOf(listed([{ name: 'novel', inputSchema, description: 'x'.repeat(110_000) }])),
    ).toMatchObject({
      code: 'mcp_bad_tools',
      message: expect.stringContaining('tool "novel": its description has 110000 characters'),
    })
  })

  test('whose input is no object are refused by name, unless they are left out', async () => {
    const tools = [
      { name: 'text', inputSchema: { type: 'string' } },
      { name: 'fine', inputSchema },
    ]
    expect(await faultOf(listed(tools))).toMatchObject({
      code: 'mcp_bad_tools',
      message: expect.stringContaining('except: ["text"]'),
    })
    expect(await (await listed(tools, { except: ['text'] })).tools()).toHaveLength(1)
  })

  test('check arguments before they are sent', async () => {
    const mcp = await listed([
      {
        name: 'add',
        inputSchema: { ...inputSchema, properties: { a: { type: 'number' } }, required: ['a'] },
      },
    ])
    const [add] = await mcp.tools()
    const checked = await add?.schema['~standard'].validate({ a: 'one' })
    expect(checked?.issues?.[0]?.message).toContain('must be number')
  })
})

describe('options', () => {
  const told = (options: object) =>
    mcpTools(options as Parameters<typeof mcpTools>[0]).then(
      () => expect.fail('nothing was thrown'),
      (thrown: unknown) => thrown,
    )

  test.each<[object, string]>([
    [{}, 'neither was given'],
    [{ comand: 'x' }, 'did you mean "command"?'],
    [{ command: 'x', url: 'http://127.0.0.1:1' }, 'both were given'],
    [{ url: 'http://127.0.0.1:1', args: [] }, 'a server that is at an address has no option "args"'],
    [{ command: 'x', headers: {} }, 'a server that is a program has no option "headers"'],
    [{ url: 'mailto:x' }, 'url is no http or https address'],
    [{ command: '' }, 'command is no text'],
  ])('%j is refused in words', async (options, words) => {
    expect(await told(options)).toMatchObject({ code: 'usage', message: expect.stringContaining(words) })
  })
})
