import { type Message, type ToolRecord, textOf } from '../../core/index.ts'

/** A tool call as OpenAI's chat API spells it; `arguments` is the text that was sampled, JSON or not. */
export interface WireCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}

/** A message as OpenAI's chat API, chat templates and the readers of `messages` columns take it. */
export interface WireMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  name?: string
  reasoning_content?: string
  tool_calls?: WireCall[]
  tool_call_id?: string
  /** 0 on what an assistant said that is not to be trained on; absent elsewhere. */
  weight?: 0
}

/** A tool as OpenAI's chat API declares it. */
export interface WireTool {
  type: 'function'
  function: { name: string; description: string; parameters: Record<string, unknown>; strict?: boolean }
}

/**
 * A message in OpenAI's shape, its text only: whoever has pictures in it asks `hasImages` first. A refusal stands in the
 * content where nothing else does, since templates know no field for it.
 *
 * Source: OpenAI API reference, chat completions, request messages; `reasoning_content` is the word of vLLM and of chat
 * templates.
 */
export function wireMessage(message: Message): WireMessage {
  const content = textOf(message.content)
  switch (message.role) {
    case 'system':
      return { role: 'system', content }
    case 'user':
      return { role: 'user', content, ...(message.name === undefined ? {} : { name: message.name }) }
    case 'tool':
      return {
        role: 'tool',
        content,
        tool_call_id: message.toolCallId,
        ...(message.name === undefined ? {} : { name: message.name }),
      }
    case 'assistant': {
      const { reasoning, refusal, toolCalls = [] } = message
      return {
        role: 'assistant',
        content: content === '' && refusal !== undefined ? refusal : content,
        ...(reasoning === undefined || reasoning === '' ? {} : { reasoning_content: reasoning }),
        ...(toolCalls.length === 0
          ? {}
          : {
              tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
                id,
                type: 'function' as const,
                function: { name, arguments: text },
              })),
            }),
      }
    }
  }
}

export function wireTool({ name, description, parameters, strict }: ToolRecord): WireTool {
  return {
    type: 'function',
    function: { name, description, parameters, ...(strict === undefined ? {} : { strict }) },
  }
}

/** Whether any message holds a picture, which rows of text and of plain token ids have no place for. */
export function hasImages(messages: Iterable<Message>): boolean {
  for (const { content } of messages)
    if (typeof content !== 'string' && content.some(({ type }) => type === 'image')) return true
  return false
}
