import { expect, test } from 'vitest'
import { z } from 'zod'
import { tool } from '../core/tool.ts'
import { mcpTools } from './mcp-tools.ts'
import { mirroredArguments } from './mirrored-arguments.ts'
import { serveTools } from './serve-tools.ts'

const marked = (header: unknown) => ({ type: 'string', 'x-mcp-header': header })
const input = {
  type: 'object',
  properties: { region: marked('Region'), bad: marked('a b\r\nx'), plain: { type: 'string' } },
}

test('marked arguments go into headers, as they are or in base64', () => {
  expect(mirroredArguments(input, { region: 'eu-west 1', bad: 'x', plain: 'y' })).toEqual({
    'Mcp-Param-Region': 'eu-west 1',
  })
  for (const value of ['münchen', ' x', 'a\r\nb', '', '=?base64?eA==?='])
    expect(mirroredArguments(input, { region: value })).toEqual({
      'Mcp-Param-Region': `=?base64?${Buffer.from(value).toString('base64')}?=`,
    })
  expect(mirroredArguments(input, { region: { not: 'a word' } })).toBeUndefined()
  expect(mirroredArguments({ type: 'object' }, { region: 'x' })).toBeUndefined()
})

test('a server of 2026 that holds headers against the body takes such a call', async () => {
  const server = await serveTools()
  const where = tool({
    name: 'where',
    description: 'Says where.',
    input: { schema: z.object({ region: z.string() }), jsonSchema: input },
    run: ({ region }) => region,
  })
  const mcp = await mcpTools({ url: server.mount({ tools: [where] }).url, era: 'modern' })
  const [offered] = await mcp.tools()
  const context = { signal: new AbortController().signal, callId: 'c' }
  expect(await offered?.run({ region: 'münchen' } as never, context)).toBe('münchen')
  await mcp.close()
  await server.close()
})
