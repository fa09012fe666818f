import { type Message, type ToolCall, type ToolSpec, textOf } from '../core/index.ts'

/** The tool by which an agent says that the task itself is broken. It is a harness's, not a world's. */
export const escalateTool: ToolSpec = {
  name: 'escalate',
  description:
    'Call this only when the task itself is broken: contradictory, impossible as stated, or its tools do not work. It ends the task.',
  parameters: {
    type: 'object',
    properties: { reason: { type: 'string', description: 'What is broken, in one or two sentences.' } },
    required: ['reason'],
    additionalProperties: false,
  },
}

const spoken = /^\s*ESCALATE:\s*(.+)/s
const instruction =
  'If the task itself is broken (contradictory, impossible as stated), reply with "ESCALATE: " and the reason, and nothing else.'

/** Messages that tell an agent without tools how to escalate. */
export function withEscalation(messages: readonly Message[]): Message[] {
  const [first, ...rest] = messages
  if (first?.role === 'system')
    return [{ ...first, content: `${textOf(first.content)}\n\n${instruction}` }, ...rest]
  return [{ role: 'system', content: instruction }, ...messages]
}

/** The reason that an agent gave in words, if its message is an escalation. */
export function escalationIn(text: string): string | undefined {
  return spoken.exec(text)?.[1]?.trim().slice(0, 300)
}

/** The reason of an `escalate` call; a call without a readable one still escalates. */
export function escalationReason(call: ToolCall): string {
  try {
    const parsed = JSON.parse(call.arguments) as { reason?: unknown }
    if (typeof parsed?.reason === 'string' && parsed.reason !== '') return parsed.reason.slice(0, 300)
  } catch {}
  return 'no reason given'
}
