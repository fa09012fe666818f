// MCP in an environment as it really runs: in a worker process, under Node's permission model, with nothing in its
// environment, killed when that must be.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { recorded } from '../../packages/quintain/src/engine/__fixtures__/recorded.ts'

const source = (room: string) => new URL(`../../packages/quintain/src/${room}/index.ts`, import.meta.url).href
const server = new URL('../../packages/quintain/src/mcp/__fixtures__/bad-server.ts', import.meta.url).pathname
const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** An environment package whose world has the tools of the fixture server in a mode. */
async function packaged(
  mode: string,
  options: { permissions?: string; body?: string } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quintain-mcp-'))
  folders.push(folder)
  const manifest = { name: 'fixture', version: '1.0.0', type: 'module', exports: './index.js' }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
  await writeFile(
    join(folder, 'index.js'),
    `import { environment } from ${JSON.stringify(source('core'))}
import { mcpTools } from ${JSON.stringify(source('mcp'))}
const noted = ${JSON.stringify(join(folder, 'noted'))}
import { appendFileSync } from 'node:fs'
export default environment({
  tasks: ['t0', 't1'].map((id) => ({ id, prompt: 'go', secret: { gold: 'canary-gold' } })),
  needs: ['tools'],
  permissions: ${options.permissions ?? `{ subprocess: true, write: [${JSON.stringify(folder)}] }`},
  async world(task, { signal }) {
    const mcp = await mcpTools({
      command: process.execPath, args: [${JSON.stringify(server)}, ${JSON.stringify(mode)}], signal, callMs: 2000,
    })
    appendFileSync(noted, mcp.pid + '\\n')
    return {
      tools: () => mcp.tools(),
      async finish() {
        ${options.body ?? ''}
        mcp.check()
        return { echoed: await mcp.call('echo', { task: task.id }) }
      },
      close: () => mcp.close(),
    }
  },
  rewards: { echoed: ({ state, task }) => Number(state.echoed.content[0].text === JSON.stringify({ task: task.id })) },
  policies: { *once() { yield { tool: 'bad', arguments: { a: ${JSON.stringify(`${'a'.repeat(60)}!`)} } } } },
})
`,
  )
  return folder
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc') || !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
async function expectNobodyLeft(folder: string): Promise<number[]> {
  const pids = readFileSync(join(folder, 'noted'), 'utf8').trim().split('\n').map(Number)
  await expect.poll(() => pids.filter(isAlive), { timeout: 10_000 }).toEqual([])
  return pids
}

const play = (folder: string, policy = 'script:once') => recorded(folder, { policy }, { workers: 1 })

test('each attempt has a server of its own, which ends with it', async () => {
  const folder = await packaged('parent')
  const run = await play(folder)
  expect(run.states.map(({ status, chosen }) => [status, chosen?.verdict?.reward])).toEqual([
    ['scored', 1],
    ['scored', 1],
  ])
  // The tool gave the pid of a process that the server started, which must be gone as well.
  const started = await Promise.all(
    run.attempts.map(async (attempt) => {
      const { nodes } = await run.trajectory(attempt)
      return Number(JSON.stringify(nodes).match(/"role":"tool".*?"content":"(\d+)"/)?.[1])
    }),
  )
  expect(started).toHaveLength(2)
  await expect.poll(() => started.filter(isAlive), { timeout: 10_000 }).toEqual([])
  expect(new Set(await expectNobodyLeft(folder)).size).toBe(2)
})

test('a server that dies is a fault of the world, never a score', async () => {
  const folder = await packaged('dying-always')
  const run = await play(folder)
  for (const { status, chosen } of run.states) {
    expect(status).toBe('faulted')
    expect(chosen).toMatchObject({
      outcome: null,
      fault: { owner: 'world', stage: 'tool', code: 'env_lost' },
    })
    expect(chosen?.verdict?.reward ?? null).toBeNull()
  }
  await expectNobodyLeft(folder)
})

test('a server that dies between calls is noticed when the world settles', async () => {
  const folder = await packaged('dying', { body: 'await new Promise((done) => setTimeout(done, 300))' })
  const run = await play(folder)
  expect(run.only).toMatchObject({
    outcome: null,
    fault: { owner: 'world', stage: 'finish', code: 'env_lost' },
  })
})

test('arguments that would take years to check are refused in band, and the worker goes on', async () => {
  const run = await play(await packaged('backtracking'))
  for (const { status, chosen } of run.states) {
    expect([status, chosen?.verdict?.reward]).toEqual(['scored', 1])
    expect(chosen?.counts.toolErrors).toEqual({ arguments_invalid: 1 })
  }
})

test('an environment that may start no process is told what to declare', async () => {
  const folder = await packaged('plain', { permissions: '{}' })
  const run = await play(folder)
  expect(run.only).toMatchObject({
    fault: {
      owner: 'world',
      code: 'mcp_start_failed',
      retryable: false,
      message: expect.stringContaining('permissions: { subprocess: true }'),
    },
  })
})

test('a worker that is killed leaves no server behind', async () => {
  const folder = await packaged('stubborn', { body: 'process.kill(process.pid, "SIGKILL")' })
  const run = await play(folder)
  expect(run.only.fault).toMatchObject({ owner: 'world', code: 'crashed' })
  // It ignores SIGTERM and does not end when its input is closed.
  await expectNobodyLeft(folder)
})

test('the secret of the task is in nothing that the server or the agent got', async () => {
  const folder = await packaged('environment')
  const run = await play(folder)
  const text = JSON.stringify(await run.trajectory())
  expect(text).not.toContain('canary-gold')
  // The tool gave the server's environment. Node tells a Node program the permissions of the worker, and that is all.
  const environment = /"content":"(\{.*?\})"/.exec(text)?.[1]?.replaceAll('\\"', '"') ?? ''
  const names = Object.keys(JSON.parse(environment) as object)
  expect(names.filter((name) => name !== 'NODE_OPTIONS')).toEqual([])
})
