import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveTools } from 'quintain/mcp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { candidates } from './__fixtures__/drivers.ts'
import { runTests } from './grading.ts'
import { taskFolder } from './task-folder.ts'
import { Terminal } from './terminal.ts'

const all = await candidates()
const [{ driver, missing, tasks }] = all as [(typeof all)[number]]
const reason = missing ?? (tasks.includes('stock-report') ? undefined : 'sqlite3 is not installed')

describe.skipIf(reason !== undefined)(reason ?? 'a task over MCP', () => {
  let server: Awaited<ReturnType<typeof serveTools>>
  beforeAll(async () => {
    server = await serveTools()
  })
  afterAll(async () => {
    await server.close()
    await driver.close?.()
  })

  test.each(['legacy', 'auto'] as const)(
    'is solved by a client of the %s era, through the world',
    async (mode) => {
      const task = taskFolder('stock-report')
      const world = await Terminal.open(
        task,
        { start: (options) => driver.start(options) },
        { commandTimeout: 30, outputBytes: 16_384 },
      )
      const mount = server.mount({ tools: world.tools() })
      const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } })
      try {
        await client.connect(
          new StreamableHTTPClientTransport(new URL(mount.url), {
            requestInit: { headers: { ...mount.headers } },
          }),
        )
        const { tools } = await client.listTools()
        expect(tools.map(({ name }) => name)).toEqual(['bash'])
        const call = async (command: string) => {
          const { content, isError } = await client.callTool({ name: 'bash', arguments: { command } })
          return { text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''), isError }
        }
        expect((await call("sqlite3 stock.db '.tables'")).text).toContain('movements')
        expect((await call('cd /tmp; nonsense')).text).toContain('[exit code 127]')
        expect((await call(`cd - > /dev/null 2>&1; cd ${world.box.workdir}; ${task.solution}`)).text).toBe(
          '[no output]',
        )
        expect((await client.callTool({ name: 'bash', arguments: {} })).isError).toBe(true)
        expect(world.finish()).toMatchObject({ commands: 3, failures: 1 })

        // Graded as the engine does it: a fresh box with the artefacts, once the agent's is gone.
        const left = await world.box.snapshot(task.artefacts)
        await world.box.stop()
        const grading = {
          artefacts: null,
          async start(options = {}) {
            const box = await driver.start(options)
            await box.restore(left)
            return box
          },
        }
        const checked = await runTests(grading, task.checks)
        expect(checked.filter(({ passed }) => !passed)).toEqual([])
        expect(checked).toHaveLength(3)
      } finally {
        await client.close()
        await mount.close()
        await world.box.stop()
      }
    },
  )
})
