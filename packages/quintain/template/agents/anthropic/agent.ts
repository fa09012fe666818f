import Anthropic from '@anthropic-ai/sdk'

/** A support agent on Anthropic's SDK: its own tool loop, and tools that are called with JSON over HTTP. */
export async function openConversation(options: { instructions: string; toolsUrl: string; stream: boolean }) {
  const client = new Anthropic()
  const tools = await listTools(options.toolsUrl)
  const messages: Anthropic.MessageParam[] = []

  async function ask(): Promise<Anthropic.Message> {
    const request = {
      model: 'claude-sonnet-5',
      max_tokens: 4096,
      system: options.instructions,
      tools,
      messages,
    }
    return options.stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request)
  }

  return {
    async answer(text: string): Promise<string> {
      messages.push({ role: 'user', content: text })
      for (;;) {
        const { content, stop_reason } = await ask()
        messages.push({ role: 'assistant', content })
        if (stop_reason !== 'tool_use')
          return content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('')
        const results: Anthropic.ToolResultBlockParam[] = []
        for (const block of content) {
          if (block.type !== 'tool_use') continue
          const result = await callTool(options.toolsUrl, block.name, block.input)
          results.push({
            type: 'tool_result',
            tool_use_id: block.id,
            content: result.content,
            is_error: result.error !== undefined,
          })
        }
        messages.push({ role: 'user', content: results })
      }
    },
    close() {},
  }
}

/** The tools on offer, as OpenAI's functions: the form in which the service lists them. */
async function listTools(url: string): Promise<Anthropic.Tool[]> {
  const listed = (await (await fetch(url)).json()) as {
    function: { name: string; description: string; parameters: Anthropic.Tool.InputSchema }
  }[]
  return listed.map(({ function: { name, description, parameters } }) => ({
    name,
    description,
    input_schema: parameters,
  }))
}

async function callTool(
  url: string,
  name: string,
  input: unknown,
): Promise<{ content: string; error?: string }> {
  const response = await fetch(`${url}/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input),
  })
  return (await response.json()) as { content: string; error?: string }
}
