// The client that the official suite starts: ours, told the scenario and, as its last argument, the address.
import { type McpTools, mcpTools } from '../../packages/quintain/src/mcp/index.ts'

const url = process.argv.at(-1) ?? ''
const mcp: McpTools = await mcpTools({ url })
for (const tool of await mcp.tools()) {
  const args = tool.name === 'add_numbers' ? { a: 5, b: 3 } : {}
  await tool.run(args as never, { signal: AbortSignal.timeout(20_000), callId: 'c' })
}
await mcp.close()
