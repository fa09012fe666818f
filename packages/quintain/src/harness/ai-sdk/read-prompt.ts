import { type AssistantMessage, type Content, type Message, textOf } from '../../core/index.ts'
import type { Echoes } from '../echoes.ts'
import type { AiFileData, AiMessage, AiPart, AiToolOutput } from './types.ts'

type Part = Exclude<Content, string>[number]

/** The messages of a prompt of the AI SDK. Throws a `TypeError` for what no message here can hold, such as a PDF. */
export function readPrompt(prompt: readonly AiMessage[], echoes: Echoes): Message[] {
  return prompt.flatMap((message) => messagesOf(message, echoes))
}

function messagesOf(message: AiMessage, echoes: Echoes): Message[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.content }]
    case 'user':
      return [{ role: 'user', content: plain(message.content.map(userPart)) }]
    case 'assistant':
      return [echoes.find(assistantMessage(message.content))]
    case 'tool':
      // Approvals are between the program and its user.
      return message.content.flatMap((part) => (part.type === 'tool-result' ? [toolMessage(part)] : []))
  }
}

function assistantMessage(parts: readonly AiPart[]): AssistantMessage {
  const message: AssistantMessage = { role: 'assistant', content: '' }
  const text: string[] = []
  const reasoning: string[] = []
  const calls: NonNullable<AssistantMessage['toolCalls']> = []
  for (const part of parts) {
    if (part.type === 'text') text.push(part.text ?? '')
    else if (part.type === 'reasoning') reasoning.push(part.text ?? '')
    else if (part.type === 'tool-call')
      calls.push({
        id: part.toolCallId ?? '',
        name: part.toolName ?? '',
        arguments: typeof part.input === 'string' ? part.input : JSON.stringify(part.input ?? {}),
      })
    else throw unreadable(`an assistant part of type ${part.type}`)
  }
  message.content = text.join('')
  if (reasoning.length > 0) message.reasoning = reasoning.join('')
  if (calls.length > 0) message.toolCalls = calls
  return message
}

function toolMessage({ toolCallId = '', toolName, output }: AiPart): Message {
  return {
    role: 'tool',
    toolCallId,
    ...(toolName === undefined ? {} : { name: toolName }),
    content: output === undefined ? '' : outputContent(output),
  }
}

function outputContent(output: AiToolOutput): Content {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value) ?? ''
    case 'execution-denied':
      return output.reason ?? 'The call was not allowed.'
    case 'content':
      return plain(output.value.map(resultPart))
  }
}

/** A part of a tool's result: `file-data` and `image-url` of the one version are `file` of the other. */
function resultPart(part: { type: string; [field: string]: unknown }): Part {
  if (part.type === 'text') return { type: 'text', text: String(part['text'] ?? '') }
  const mediaType = typeof part['mediaType'] === 'string' ? part['mediaType'] : undefined
  if (part.type.endsWith('-url'))
    return image({ type: 'url', url: String(part['url']) }, mediaType ?? 'image/*')
  return image(part['data'] as AiFileData, mediaType)
}

function userPart(part: AiPart): Part {
  if (part.type === 'text') return { type: 'text', text: part.text ?? '' }
  if (part.type === 'file') return image(part.data, part.mediaType)
  throw unreadable(`a user part of type ${part.type}`)
}

function image(data: AiFileData | undefined, mediaType: string | undefined): Part {
  const given =
    typeof data === 'object' && !(data instanceof Uint8Array) && !(data instanceof URL) && data !== null
      ? data
      : undefined
  if (given?.type === 'text') return { type: 'text', text: given.text }
  if (mediaType === undefined || !/^image(\/|$)/.test(mediaType))
    throw unreadable(`a file of type ${mediaType ?? 'unknown'}`)
  const bytes = given === undefined ? data : given.type === 'data' ? given.data : undefined
  if (bytes instanceof URL) return { type: 'image', mediaType, url: bytes.href }
  if (bytes instanceof Uint8Array)
    return { type: 'image', mediaType, data: Buffer.from(bytes).toString('base64') }
  if (typeof bytes === 'string') return { type: 'image', mediaType, data: bytes }
  if (given?.type === 'url') return { type: 'image', mediaType, url: String(given.url) }
  throw unreadable('a file that lies with a provider')
}

/** One text is text and no list: so the same history reads the same whoever sends it. */
function plain(parts: Part[]): Content {
  return parts.every(({ type }) => type === 'text') && parts.length <= 1 ? textOf(parts) : parts
}

function unreadable(what: string): TypeError {
  return new TypeError(`the model of this rollout takes text and images, and the prompt holds ${what}`)
}
