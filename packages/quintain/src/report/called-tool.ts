import type { MessageNode } from '../core/records.ts'

/** The tool whose result a node is: by the call that it answers, where the result itself does not say. */
export function calledTool(nodes: readonly MessageNode[], { message, parent }: MessageNode): string {
  if (message.role !== 'tool') return ''
  const { name, toolCallId } = message
  if (name !== undefined) return name
  for (let at = parent; at >= 0; at = nodes[at]!.parent) {
    const asked = nodes[at]!.message
    if (asked.role !== 'assistant') continue
    return asked.toolCalls?.find(({ id }) => id === toolCallId)?.name ?? toolCallId
  }
  return toolCallId
}
