import { z } from 'zod'

export const textPart = z.object({ type: z.literal('text'), text: z.string() })
export const imagePart = z.object({
  type: z.literal('image'),
  mediaType: z.string(),
  /** Base64 bytes, or, in a stored record, absent with `sha256` naming a blob of the run. */
  data: z.string().optional(),
  sha256: z.string().optional(),
  /** Where it lies, when a program gave an address instead of bytes. */
  url: z.string().optional(),
  /** How closely it is looked at (`low`, `high`, …), where a program says another than the model's own choice. */
  detail: z.string().optional(),
})
/** What a message says: text, or parts in order. */
export const content = z.union([z.string(), z.array(z.union([textPart, imagePart]))])

/** A tool call as the model wrote it: `arguments` is the raw text that was sampled, valid JSON or not. */
export const toolCall = z.object({ id: z.string(), name: z.string(), arguments: z.string() })

export const systemMessage = z.object({ role: z.literal('system'), content })
export const userMessage = z.object({ role: z.literal('user'), content, name: z.string().optional() })
export const assistantMessage = z.object({
  role: z.literal('assistant'),
  content,
  /** Reasoning that the provider returned apart from the answer. Graders do not see it unless they ask. */
  reasoning: z.string().optional(),
  toolCalls: z.array(toolCall).optional(),
  refusal: z.string().optional(),
  /** Fields of the provider's message that Quintain does not know, kept so that they can be sent back. */
  extra: z.record(z.string(), z.unknown()).optional(),
})
export const toolMessage = z.object({
  role: z.literal('tool'),
  toolCallId: z.string(),
  name: z.string().optional(),
  content,
  /** Set when the call was not carried out, or was and failed; the code is one of `toolErrorCodes` or the tool's own. */
  error: z.string().optional(),
})
export const message = z.discriminatedUnion('role', [
  systemMessage,
  userMessage,
  assistantMessage,
  toolMessage,
])

export type TextPart = z.infer<typeof textPart>
export type ImagePart = z.infer<typeof imagePart>
export type Content = z.infer<typeof content>
export type ToolCall = z.infer<typeof toolCall>
export type SystemMessage = z.infer<typeof systemMessage>
export type UserMessage = z.infer<typeof userMessage>
export type AssistantMessage = z.infer<typeof assistantMessage>
export type ToolMessage = z.infer<typeof toolMessage>
export type Message = z.infer<typeof message>

/** The text of some content: its text parts joined; images say nothing. */
export function textOf(value: Content | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return value
  let text = ''
  for (const part of value) if (part.type === 'text') text += part.text
  return text
}
