import type { AssistantMessage, Message, ToolCall } from '../../core/message.ts'
import { sendableArguments } from '../request-body.ts'

/** Finds the conversation that an earlier reply ended, that reply last, by any id of it. */
export type History = (id: string) => readonly Message[] | undefined

/** The reply that an id names. */
export function recordedReply(id: unknown, history: History): AssistantMessage | undefined {
  const last = typeof id === 'string' ? history(id)?.at(-1) : undefined
  return last?.role === 'assistant' ? last : undefined
}

/**
 * A call with the arguments that were sampled, where it is one of ours: a program sends back what it made of them, with
 * other spaces, or as the object that stands for arguments that were none.
 */
export function asSampled(call: ToolCall, history: History): ToolCall {
  const recorded = recordedReply(call.id, history)?.toolCalls?.find(
    ({ id, name }) => id === call.id && name === call.name,
  )
  if (recorded === undefined || recorded.arguments === call.arguments) return call
  return compact(sendableArguments(recorded.arguments)) === compact(call.arguments) ? recorded : call
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}
