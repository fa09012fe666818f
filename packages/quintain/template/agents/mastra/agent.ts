import { Agent } from '@mastra/core/agent'
import { MCPClient } from '@mastra/mcp'

/** A support agent on Mastra, with the tools of an MCP server. */
export async function openConversation(options: { instructions: string; mcpUrl: string; stream: boolean }) {
  const mcp = new MCPClient({ servers: { shop: { url: new URL(options.mcpUrl) } } })
  const toolsets = await mcp.listToolsets()
  const agent = new Agent({
    id: 'support',
    name: 'Support',
    instructions: options.instructions,
    model: 'openai/gpt-5-mini',
  })
  const messages: Parameters<typeof agent.generate>[0] & unknown[] = []
  return {
    async answer(text: string): Promise<string> {
      messages.push({ role: 'user', content: text })
      // One call after the other: what one does, the next may need.
      const settings = { toolsets, maxSteps: 20, toolCallConcurrency: 1 }
      const result = options.stream
        ? await (await agent.stream(messages, settings)).getFullOutput()
        : await agent.generate(messages, settings)
      messages.push(...(result.response.messages ?? []))
      return result.text
    },
    close: () => mcp.disconnect(),
  }
}
