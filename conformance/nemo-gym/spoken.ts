import type { FakeBehaviour } from '../../packages/quintain/src/models/fake-server.ts'
import { type Replies, replyFrom } from '../verifiers-export/recorded-model.ts'

/** The tool by which an agent speaks where the environment answers, and its parameter. */
const speech = { tool: 'say', parameter: 'message' }

interface WireMessage {
  role: string
  content?: unknown
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

interface WireBody {
  messages: WireMessage[]
  tools?: { function: { name: string } }[]
}

/**
 * What was recorded of an agent that speaks, from one that speaks by a tool: the conversation is told as it was with words
 * in the place of calls, and what was said then is called. Once the environment has ended the episode nothing more was
 * recorded, and the agent says that it is done, which nobody may take for a move.
 */
export function spokenReply(replies: Replies, given: unknown): FakeBehaviour {
  const body = given as WireBody
  const speaks = body.tools?.some(({ function: made }) => made.name === speech.tool) === true
  if (!speaks) return replyFrom(replies, body)
  const reply = replyFrom(replies, { ...body, messages: inWords(body.messages) })
  if (reply.kind === 'status' && body.messages.at(-1)?.role === 'tool')
    return { kind: 'ok', message: { content: 'I am done.' } }
  const { message } = reply as { message?: { content?: string; tool_calls?: object[] } }
  if (message?.content === undefined || message.content === '' || message.tool_calls !== undefined)
    return reply
  const said = { [speech.parameter]: message.content }
  const call = { name: speech.tool, arguments: JSON.stringify(said) }
  const id = `say_${body.messages.length}`
  return {
    kind: 'ok',
    message: { content: '', tool_calls: [{ id, type: 'function', function: call }] },
  }
}

function inWords(messages: readonly WireMessage[]): WireMessage[] {
  const spoken = new Set<string>()
  return messages.map((message) => {
    const [call] = message.tool_calls ?? []
    if (call?.function.name === speech.tool) {
      spoken.add(call.id)
      const said = JSON.parse(call.function.arguments) as Record<string, string>
      return { role: 'assistant', content: said[speech.parameter] }
    }
    if (message.role === 'tool' && spoken.has(message.tool_call_id ?? ''))
      return { role: 'user', content: message.content }
    if (message.role !== 'system' || typeof message.content !== 'string') return message
    // The sentence that names the tool was not there.
    return { ...message, content: message.content.replace(/\n\nEverything you say must be [^\n]*$/, '') }
  })
}
