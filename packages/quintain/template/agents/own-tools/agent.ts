// A purchasing agent that has tools of its own: they call the stock room's API. The task comes on standard input, what
// was done goes to standard output.
//
//   STOCK_API=https://stock.example node agent.ts < task.txt
import { text } from 'node:stream/consumers'
import OpenAI from 'openai'

const client = new OpenAI()
const api = process.env.STOCK_API ?? ''

const tools: OpenAI.ChatCompletionFunctionTool[] = [
  {
    type: 'function',
    function: {
      name: 'find_items',
      description: 'Lists the items of a kind, with their prices and how many there are.',
      parameters: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
    },
  },
  {
    type: 'function',
    function: {
      name: 'place_order',
      description: 'Orders an item.',
      parameters: {
        type: 'object',
        properties: { sku: { type: 'string' }, count: { type: 'integer' } },
        required: ['sku', 'count'],
      },
    },
  },
]

async function callTool(name: string, args: string): Promise<string> {
  const response =
    name === 'find_items'
      ? await fetch(`${api}/items?${new URLSearchParams(JSON.parse(args) as { kind: string })}`)
      : await fetch(`${api}/orders`, { method: 'POST', body: args })
  return await response.text()
}

async function ask(): Promise<OpenAI.ChatCompletionMessage> {
  const request = { model: 'gpt-5-mini', messages, tools }
  const completion =
    process.env.STREAM === '1'
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request)
  const message = completion.choices[0]?.message
  if (message === undefined) throw new Error('the model gave no choice')
  return message
}

const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: await text(process.stdin) }]
for (;;) {
  const { content, tool_calls: calls = [] } = await ask()
  messages.push({ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) })
  if (calls.length === 0) {
    process.stdout.write(content ?? '')
    break
  }
  for (const call of calls) {
    if (call.type !== 'function') continue
    const result = await callTool(call.function.name, call.function.arguments)
    messages.push({ role: 'tool', tool_call_id: call.id, content: result })
  }
}
