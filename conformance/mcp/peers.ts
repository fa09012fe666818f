// MCP with real peers of both eras: servers from npm driven through ours, ours driven by the first SDK and by the
// official inspector. `node conformance/mcp/peers.ts`
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { type Tool, type ToolResult, textOf, tool } from '../../packages/quintain/src/core/index.ts'
import {
  type McpOptions,
  type McpTools,
  mcpTools,
  serveTools,
} from '../../packages/quintain/src/mcp/index.ts'
import { installPeers } from '../npm/install-peers.ts'
import { runOfficialSuite } from './official-suite.ts'

const counts = { passed: 0, failed: 0, skipped: 0 }
const room = mkdtempSync(join(tmpdir(), 'quintain-mcp-'))
const checks: [string, (peers: string) => Promise<void>][] = []
const check = (name: string, carryOut: (peers: string) => Promise<void>) => checks.push([name, carryOut])

class Differs extends Error {}
function same(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected))
    throw new Differs(`${what}: ${JSON.stringify(actual)?.slice(0, 500)}, not ${JSON.stringify(expected)}`)
}
function holds(condition: boolean, what: string): void {
  if (!condition) throw new Differs(`not so: ${what}`)
}

const serverFile = (peers: string, name: string) =>
  join(peers, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js')
const start = (
  peers: string,
  name: string,
  args: string[] = [],
  options: McpOptions & { env?: Record<string, string> } = {},
) => mcpTools({ command: process.execPath, args: [serverFile(peers, name), ...args], ...options })
async function call(
  mcp: McpTools,
  name: string,
  args: object = {},
  onProgress?: (done: number) => void,
): Promise<ToolResult> {
  const found = (await mcp.tools()).find((one) => one.name === name)
  if (found === undefined) throw new Differs(`there is no tool ${name}`)
  const context = {
    signal: AbortSignal.timeout(20_000),
    callId: 'c',
    ...(onProgress ? { progress: onProgress } : {}),
  }
  return await found.run(args as never, context)
}
const said = (result: ToolResult): string =>
  typeof result === 'object' && 'toolError' in result ? result.toolError : textOf(result as never)
const isAlive = (pid: number | undefined) => {
  try {
    return pid !== undefined && process.kill(pid, 0)
  } catch {
    return false
  }
}

check(
  'server-filesystem: files are written and read, and what lies outside is refused in band',
  async (peers) => {
    const root = mkdtempSync(join(room, 'files-'))
    const mcp = await start(peers, 'filesystem', [root])
    const path = join(root, 'note.txt')
    await call(mcp, 'write_file', { path, content: 'grüße\n' })
    same(readFileSync(path, 'utf8'), 'grüße\n', 'the file')
    same(said(await call(mcp, 'read_text_file', { path })), 'grüße\n', 'what the tool reads')
    for (const outside of ['/etc/passwd', join(root, 'none')])
      same(said(await call(mcp, 'read_text_file', { path: outside })), 'tool_error', outside)
    const { pid } = mcp
    await mcp.close()
    holds(!isAlive(pid), 'the server has ended')
  },
)

check('server-memory: two attempts have two graphs, and the world reads its own', async (peers) => {
  const graphs = ['a', 'b'].map((name) => ({ MEMORY_FILE_PATH: join(room, `${name}.jsonl`) }))
  const [a, b] = await Promise.all(
    graphs.map((env) => start(peers, 'memory', [], { env, except: ['delete_entities'] })),
  )
  if (a === undefined || b === undefined) throw new Differs('no server')
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['wrote notes'] }]
  await call(a, 'create_entities', { entities })
  same(
    ((await a.call('read_graph')).structuredContent as { entities: unknown }).entities,
    entities,
    'the graph of a',
  )
  same(
    ((await b.call('read_graph')).structuredContent as { entities: unknown }).entities,
    [],
    'the graph of b',
  )
  holds(!(await a.tools()).some(({ name }) => name === 'delete_entities'), 'the excluded tool is not shown')
  await Promise.all([a.close(), b.close()])
})

/** What `server-everything` must do, whatever it is reached by. */
async function everything(mcp: McpTools): Promise<void> {
  same(said(await call(mcp, 'echo', { message: 'hi' })), 'Echo: hi', 'echo')
  same(said(await call(mcp, 'get-sum', { a: 1, b: 2 })), 'The sum of 1 and 2 is 3.', 'get-sum')
  same(said(await call(mcp, 'get-sum', { a: 'one' })), 'tool_error', 'get-sum of a word')
  const image = await call(mcp, 'get-tiny-image')
  holds(
    Array.isArray(image) && image.some((part) => part.type === 'image' && part.mediaType === 'image/png'),
    'an image',
  )
  holds(
    said(await call(mcp, 'get-structured-content', { location: 'Chicago' })).includes('temperature'),
    'structure',
  )
  const steps: number[] = []
  await call(mcp, 'trigger-long-running-operation', { duration: 0.4, steps: 4 }, (done) => steps.push(done))
  holds(steps.length >= 3, `progress: ${steps}`)
}

check('server-everything over stdio: its environment is what was declared', async (peers) => {
  const mcp = await start(peers, 'everything', ['stdio'], { env: { DECLARED: 'yes' } })
  await everything(mcp)
  same(JSON.parse(said(await call(mcp, 'get-env'))), { DECLARED: 'yes' }, 'its environment')
  await mcp.close()
})

check('server-everything over stdio: a call over its limit is given up in band', async (peers) => {
  const mcp = await start(peers, 'everything', ['stdio'], { callMs: 300 })
  same(
    said(await call(mcp, 'trigger-long-running-operation', { duration: 30, steps: 300 })),
    'timeout',
    'the call',
  )
  same(said(await call(mcp, 'echo', { message: 'hi' })), 'Echo: hi', 'the next')
  await mcp.close()
})

/** Runs `server-everything` on a port of its own. */
async function everythingAt(
  peers: string,
  mode: string,
  use: (port: number, stop: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const port = await new Promise<number>((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
  const child = spawn(process.execPath, [serverFile(peers, 'everything'), mode], {
    env: { PORT: `${port}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (text) => /port/i.test(`${text}`) && resolve())
      child.once('exit', (code) => reject(new Differs(`server-everything ended with ${code}`)))
      setTimeout(resolve, 5_000).unref()
    })
    const stop = async () => {
      const exited = new Promise((done) => child.once('exit', done))
      child.kill('SIGKILL')
      await exited
    }
    await use(port, stop)
  } finally {
    child.kill('SIGKILL')
  }
}

check('server-everything over streamable HTTP, and when it is gone', (peers) =>
  everythingAt(peers, 'streamableHttp', async (port, stop) => {
    const mcp = await mcpTools({ url: `http://127.0.0.1:${port}/mcp` })
    await everything(mcp)
    await stop()
    const lost = await call(mcp, 'echo', { message: 'hi' }).catch(
      (thrown: { fault?: { code: string } }) => thrown.fault?.code,
    )
    same(lost, 'env_lost', 'a call of a server that is gone')
    await mcp.close()
  }),
)

check('server-everything over HTTP with server-sent events, the transport of 2024', (peers) =>
  everythingAt(peers, 'sse', async (port) => {
    const mcp = await mcpTools({ url: `http://127.0.0.1:${port}/sse`, transport: 'sse' })
    await everything(mcp)
    await mcp.close()
  }),
)

const offered = (): Tool[] => [
  tool({
    name: 'add',
    description: 'Adds two numbers.',
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => String(a + b),
  }),
  tool({
    name: 'slow',
    description: 'Takes its time.',
    input: z.object({}),
    run: async (_input, { signal, progress }) => {
      for (let step = 1; step <= 50 && !signal.aborted; step++) {
        progress?.(step, 50)
        await new Promise((done) => setTimeout(done, 20))
      }
      return signal.aborted ? 'stopped' : 'done'
    },
  }),
]

interface FirstClient {
  connect(transport: object): Promise<void>
  listTools(): Promise<{ tools: { name: string }[] }>
  callTool(
    call: object,
    schema?: undefined,
    options?: object,
  ): Promise<{ content: object[]; isError?: boolean }>
  setNotificationHandler(schema: object, handler: () => void): void
  close(): Promise<void>
}

check('ours, by a client of the first SDK: list, call, progress, cancel, errors, changes', async (peers) => {
  const sdk = (file: string): Promise<Record<string, unknown>> =>
    import(join(peers, 'node_modules', '@modelcontextprotocol', 'sdk', 'dist', 'esm', file))
  const FirstSdkClient = (await sdk('client/index.js'))['Client'] as new (info: object) => FirstClient
  const FirstSdkTransport = (await sdk('client/streamableHttp.js'))['StreamableHTTPClientTransport'] as new (
    url: URL,
    options: object,
  ) => object
  const changedSchema = (await sdk('types.js'))['ToolListChangedNotificationSchema'] as object
  const server = await serveTools()
  let tools = offered()
  const mount = server.mount({ tools: () => tools, bearer: true })
  const client = new FirstSdkClient({ name: 'first', version: '1' })
  await client.connect(new FirstSdkTransport(new URL(mount.url), { requestInit: { headers: mount.headers } }))
  same(
    (await client.listTools()).tools.map(({ name }) => name),
    ['add', 'slow'],
    'the tools',
  )
  const sum = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
  same(sum.content, [{ type: 'text', text: '3' }], 'the sum')
  same((await client.callTool({ name: 'add', arguments: {} })).isError, true, 'arguments that do not fit')
  const code = await client.callTool({ name: 'none' }).then(
    () => 'a result',
    (error: { code?: unknown }) => error.code,
  )
  same(code, -32602, 'an unknown tool')
  let steps = 0
  const given = new AbortController()
  const onprogress = () => {
    if (++steps === 3) given.abort()
  }
  const ended = await client.callTool({ name: 'slow' }, undefined, { onprogress, signal: given.signal }).then(
    () => 'a result',
    () => 'cancelled',
  )
  same([ended, steps >= 3], ['cancelled', true], 'a cancelled call')
  const changed = new Promise<string>((resolve) => {
    client.setNotificationHandler(changedSchema, () => resolve('told'))
    setTimeout(() => resolve('not told'), 5_000).unref()
  })
  tools = tools.slice(0, 1)
  mount.toolsChanged()
  same([await changed, (await client.listTools()).tools.length], ['told', 1], 'a change of the tools')
  await client.close()
  await server.close()
})

check("a real server's tools as a world's, served on to a client of each era", async (peers) => {
  const root = mkdtempSync(join(room, 'files-'))
  writeFileSync(join(root, 'a.txt'), 'from afar')
  const files = await start(peers, 'filesystem', [root], { prefix: 'fs', only: ['read_text_file'] })
  const server = await serveTools()
  const mount = server.mount({ tools: () => files.tools() })
  for (const mode of ['legacy', 'auto'] as const) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(mount.url)))
    same(client.getProtocolEra(), mode === 'auto' ? 'modern' : 'legacy', 'the era')
    const result = await client.callTool({
      name: 'fs__read_text_file',
      arguments: { path: join(root, 'a.txt') },
    })
    same(result.content, [{ type: 'text', text: 'from afar' }], 'the file')
    await client.close()
  }
  await server.close()
  await files.close()
})

check('ours, by the official inspector: list, call, a failure, schemas without complaint', async (peers) => {
  const server = await serveTools()
  const mount = server.mount({ tools: offered(), bearer: true })
  const inspect = (...args: string[]) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const launcher = join(
        peers,
        'node_modules',
        '@modelcontextprotocol',
        'inspector',
        'clients',
        'launcher',
        'build',
      )
      const header = `authorization: ${mount.headers['authorization']}`
      const child = spawn(
        process.execPath,
        [join(launcher, 'index.js'), '--cli', mount.url, '--transport', 'http', '--header', header, ...args],
        { env: { PATH: process.env['PATH'], HOME: room }, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      const ended = { code: 0 as number | null, out: '', err: '' }
      child.stdout.on('data', (text) => {
        ended.out += text
      })
      child.stderr.on('data', (text) => {
        ended.err += text
      })
      child.on('close', (code) => resolve({ ...ended, code }))
    })
  const listed = await inspect('--method', 'tools/list', '--strict')
  same(listed.code, 0, `tools/list (${listed.err})`)
  const names = (JSON.parse(listed.out) as { tools: { name: string }[] }).tools.map(({ name }) => name)
  same(names, ['add', 'slow'], 'the tools')
  const sum = await inspect(
    '--method',
    'tools/call',
    '--tool-name',
    'add',
    '--tool-arg',
    'a=1',
    '--tool-arg',
    'b=2',
  )
  same(sum.code, 0, `tools/call (${sum.err})`)
  same((JSON.parse(sum.out) as { content: unknown }).content, [{ type: 'text', text: '3' }], 'the sum')
  const none = await inspect('--method', 'tools/call', '--tool-name', 'none')
  holds(none.code !== 0, 'an unknown tool fails')
  await server.close()
})

check('the official conformance suite, against both sides of ours', async (peers) => {
  const { failed } = await runOfficialSuite(peers)
  holds(failed.length === 0, failed.join('\n'))
})

const installed = installPeers({
  name: 'mcp-peers',
  versions: {
    '@modelcontextprotocol/conformance': '0.1.16',
    '@modelcontextprotocol/inspector': '2.12.0',
    '@modelcontextprotocol/sdk': '1.32.2',
    '@modelcontextprotocol/server-everything': '2026.8.31',
    '@modelcontextprotocol/server-filesystem': '2026.8.31',
    '@modelcontextprotocol/server-memory': '2026.8.31',
  },
})
try {
  for (const [name, carryOut] of checks) {
    if (installed.folder === undefined) {
      counts.skipped++
      process.stdout.write(`mcp: ${name} skipped: ${installed.missing}\n`)
      continue
    }
    const start = performance.now()
    try {
      await carryOut(installed.folder)
      counts.passed++
      process.stdout.write(`mcp: ${name} pass (${((performance.now() - start) / 1000).toFixed(1)} s)\n`)
    } catch (thrown) {
      counts.failed++
      const text =
        thrown instanceof Differs ? thrown.message : thrown instanceof Error ? thrown.stack : String(thrown)
      process.stdout.write(`mcp: ${name} fail\n${text}\n`)
    }
  }
} finally {
  rmSync(room, { recursive: true, force: true })
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
process.exit(counts.failed === 0 ? 0 : 1)
