import { createMCPClient } from '@ai-sdk/mcp'
import { openai } from '@ai-sdk/openai'
import { type ModelMessage, ToolLoopAgent } from 'ai'

/** A support agent on the AI SDK: a tool loop over the tools of an MCP server, and the conversation that it remembers. */
export async function openConversation(options: { instructions: string; mcpUrl: string; stream: boolean }) {
  const mcp = await createMCPClient({ transport: { type: 'http', url: options.mcpUrl } })
  const agent = new ToolLoopAgent({
    model: openai('gpt-5-mini'),
    instructions: options.instructions,
    tools: await mcp.tools(),
  })
  const messages: ModelMessage[] = []
  return {
    async answer(text: string): Promise<string> {
      messages.push({ role: 'user', content: text })
      const result = options.stream ? await agent.stream({ messages }) : await agent.generate({ messages })
      messages.push(...(await result.responseMessages))
      return await result.text
    },
    close: () => mcp.close(),
  }
}
