import { type AssistantMessage, type Content, type ToolCall, textOf } from '../core/index.ts'

/**
 * Finds a reply again in the history that a framework sends back. Frameworks parse tool arguments and drop what they do
 * not know of a message; a reply that says the same is the reply itself, so that the history goes on where it was.
 */
export class Echoes {
  private readonly said = new Map<string, AssistantMessage>()

  remember(message: AssistantMessage): void {
    this.said.set(keyOf(message), message)
  }

  /** The reply that says the same, or the message as it came. */
  find(message: AssistantMessage): AssistantMessage {
    return this.said.get(keyOf(message)) ?? message
  }
}

function keyOf({ content, reasoning, toolCalls }: AssistantMessage): string {
  return JSON.stringify([contentKey(content), reasoning ?? '', toolCalls?.map(callKey) ?? []])
}

function contentKey(content: Content): unknown {
  return typeof content === 'string' || content.every(({ type }) => type === 'text')
    ? textOf(content)
    : content
}

function callKey({ id, name, arguments: text }: ToolCall): unknown {
  try {
    return [id, name, JSON.parse(text === '' ? '{}' : text)]
  } catch {
    return [id, name, text]
  }
}
