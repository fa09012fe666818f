import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Tool, tool } from '../../packages/quintain/src/core/index.ts'
import { serveTools } from '../../packages/quintain/src/mcp/index.ts'

/**
 * The scenarios of the official conformance suite that are about tools, transport and lifecycle. The others are about
 * resources, prompts, completion, logging, sampling and authorization, which `serveTools` does not offer.
 */
const serverScenarios = [
  'server-initialize',
  'ping',
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-error',
  'tools-call-with-progress',
  'json-schema-2020-12',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]
const clientScenarios = ['initialize', 'tools_call', 'sse-retry']

const anything = {
  '~standard': { version: 1 as const, vendor: 'suite', validate: (value: unknown) => ({ value }) },
}
const offer = (
  name: string,
  run: Tool['run'],
  jsonSchema: Record<string, unknown> = { type: 'object' },
): Tool =>
  tool({
    name,
    description: `The suite's ${name}.`,
    input: { schema: anything, jsonSchema },
    run: run as () => string,
  })

/** The tools that the scenarios ask for by name. */
const suiteTools = (): Tool[] => [
  offer('test_simple_text', () => 'This is a simple text response for testing.'),
  offer('test_image_content', () => [{ type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' }]),
  offer('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing')
  }),
  offer('test_tool_with_progress', async (_input, { progress }) => {
    for (const done of [1, 50, 100]) {
      progress?.(done, 100)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return 'done'
  }),
  offer('json_schema_2020_12_tool', () => 'done', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
    },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  }),
]

/** Runs the suite on both sides of ours; gives the scenarios that fail with what was said of them, and how many ran. */
export async function runOfficialSuite(peers: string): Promise<{ ran: number; failed: string[] }> {
  const program = join(peers, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
  const run = (args: string[]) =>
    new Promise<string | undefined>((resolve) => {
      const child = spawn(process.execPath, [program, ...args], {
        cwd: peers,
        env: { PATH: process.env['PATH'] },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (text) => {
          said += text
        })
      }
      child.on('close', (code) => resolve(code === 0 ? undefined : said))
    })
  const failed: string[] = []
  const server = await serveTools()
  const { url } = server.mount({ tools: suiteTools() })
  for (const scenario of serverScenarios) {
    const said = await run(['server', '--url', url, '--scenario', scenario])
    if (said !== undefined) failed.push(`server, ${scenario}: ${said}`)
  }
  await server.close()
  const client = fileURLToPath(new URL('suite-client.ts', import.meta.url))
  for (const scenario of clientScenarios) {
    const said = await run([
      'client',
      '--command',
      `${process.execPath} ${client} ${scenario}`,
      '--scenario',
      scenario,
    ])
    if (said !== undefined) failed.push(`client, ${scenario}: ${said}`)
  }
  return { ran: serverScenarios.length + clientScenarios.length, failed }
}
