import { MemorySaver } from '@langchain/langgraph'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { ChatOpenAI } from '@langchain/openai'
import { createAgent } from 'langchain'

/** A support agent on LangGraph: the graph of `createAgent`, its memory, and the tools of an MCP server. */
export async function openConversation(options: { instructions: string; mcpUrl: string; stream: boolean }) {
  const mcp = new MultiServerMCPClient({ shop: { transport: 'http', url: options.mcpUrl } })
  const agent = createAgent({
    model: new ChatOpenAI({ model: 'gpt-5-mini' }),
    tools: await mcp.getTools(),
    systemPrompt: options.instructions,
    checkpointer: new MemorySaver(),
  })
  const thread = { configurable: { thread_id: 'customer' } }
  return {
    async answer(text: string): Promise<string> {
      const input = { messages: [{ role: 'user' as const, content: text }] }
      if (!options.stream) return (await agent.invoke(input, thread)).messages.at(-1)?.text ?? ''
      for await (const _piece of await agent.stream(input, { ...thread, streamMode: 'messages' }));
      const { values } = await agent.graph.getState(thread)
      return values.messages.at(-1)?.text ?? ''
    },
    close: () => mcp.close(),
  }
}
