// The agent as a program: what the customer says comes in as a line of JSON, what the agent answers goes out as one.
import { createInterface } from 'node:readline'
import { openConversation } from './agent.ts'

interface Line {
  /** The conversation so far. The first message says by which rules the agent is to work. */
  messages: { role: string; content: string }[]
  /** What was said last. */
  input: string
}

let conversation: Awaited<ReturnType<typeof openConversation>> | undefined
for await (const line of createInterface({ input: process.stdin })) {
  const { messages, input } = JSON.parse(line) as Line
  const settings = {
    instructions: messages.find(({ role }) => role === 'system')?.content ?? 'You are a helpful assistant.',
    mcpUrl: process.env.QUINTAIN_MCP_URL ?? '',
    toolsUrl: process.env.QUINTAIN_TOOLS_URL ?? '',
    stream: process.env.STREAM === '1',
  }
  conversation ??= await openConversation(settings)
  process.stdout.write(`${JSON.stringify({ answer: await conversation.answer(input) })}\n`)
}
await conversation?.close()
