// A support agent on OpenAI's SDK as a program that is started for each message: it goes on with the conversation in
// session.json, says its answer on standard output, and ends.
//
//   node agent.ts CONVERSATION.json      (what the customer said, and before it the rules to work by)
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import OpenAI from 'openai'

type Messages = OpenAI.ChatCompletionMessageParam[]

const client = new OpenAI()
const toolsUrl = process.env.QUINTAIN_TOOLS_URL ?? ''
const { messages: said } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as { messages: Messages }
const isNew = !existsSync('session.json')
const messages: Messages = isNew
  ? said
  : [...(JSON.parse(readFileSync('session.json', 'utf8')) as Messages), ...said.slice(-1)]

const tools = (await (await fetch(toolsUrl)).json()) as OpenAI.ChatCompletionFunctionTool[]
for (;;) {
  const { content, tool_calls: calls = [] } = await ask()
  messages.push({ role: 'assistant', content, ...(calls.length === 0 ? {} : { tool_calls: calls }) })
  if (calls.length === 0) {
    writeFileSync('session.json', JSON.stringify(messages))
    process.stdout.write(content ?? '')
    break
  }
  for (const call of calls) {
    if (call.type !== 'function') continue
    const response = await fetch(`${toolsUrl}/${call.function.name}`, {
      method: 'POST',
      body: call.function.arguments,
    })
    messages.push({ role: 'tool', tool_call_id: call.id, content: await response.text() })
  }
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
