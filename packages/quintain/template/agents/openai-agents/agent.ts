import { Agent, type AgentInputItem, MCPServerStreamableHttp, run } from '@openai/agents'

/** A support agent on the OpenAI Agents SDK, with the tools of an MCP server. */
export async function openConversation(options: { instructions: string; mcpUrl: string; stream: boolean }) {
  const tools = new MCPServerStreamableHttp({ url: options.mcpUrl, name: 'shop' })
  await tools.connect()
  const agent = new Agent({
    name: 'Support',
    model: 'gpt-5-mini',
    instructions: options.instructions,
    mcpServers: [tools],
  })
  let history: AgentInputItem[] = []
  return {
    async answer(text: string): Promise<string> {
      history.push({ role: 'user', content: text })
      let result: Pick<Awaited<ReturnType<typeof run>>, 'history' | 'finalOutput'>
      if (options.stream) {
        const streamed = await run(agent, history, { stream: true })
        await streamed.completed
        result = streamed
      } else result = await run(agent, history)
      history = result.history
      return String(result.finalOutput ?? '')
    },
    close: () => tools.close(),
  }
}
