import { type CallRecord, type MessageNode, textOf } from '../core/index.ts'
import { calledTool } from './called-tool.ts'
import { countText, dollarText, durationText, plural, scoreText } from './number-text.ts'
import { printableLine } from './printable.ts'
import type { Style } from './style.ts'

/** Tool arguments as the model wrote them: laid out when they are JSON, and marked when they are not. */
function argumentsText(raw: string): string {
  if (raw.trim() === '') return '{}'
  try {
    const text = JSON.stringify(JSON.parse(raw))
    return text.length <= 100 ? text : JSON.stringify(JSON.parse(raw), null, 2)
  } catch {
    return `${raw}  (not JSON)`
  }
}

/** What is said of a call in one line. Imported ones may have no time, and zero would be a claim. */
export function callNotes(call: CallRecord, { imported }: { imported: boolean }): string[] {
  const notes = [printableLine(call.model)]
  if (!imported || call.latencyMs > 0) notes.push(durationText(call.latencyMs))
  if (call.waitMs > 0) notes.push(`waited ${durationText(call.waitMs)}`)
  if (call.usage !== undefined) {
    const { fresh, cacheRead, cacheWrite, output } = call.usage
    notes.push(`${countText(fresh + cacheRead + cacheWrite)} in, ${countText(output)} out`)
  }
  if (call.costUsd !== undefined && call.costUsd !== 0)
    notes.push(call.costUsd === null ? 'cost unknown' : dollarText(call.costUsd))
  if (call.finish !== undefined && call.finish !== 'stop') notes.push(`finish ${call.finish}`)
  if (call.retries !== undefined) notes.push(plural(call.retries.length, 'failed try', 'failed tries'))
  if (call.flags !== undefined) notes.push(printableLine(call.flags.join(', ')))
  return notes
}

/** How the messages of a trajectory are written. */
export interface MessageStyle {
  style: Style
  /** Folds a text, or does not, and sets it in. */
  block(text: string): string
  imported: boolean
}

/**
 * A message, with what is known of the call that said it. `before`: the node that was shown before it; `isSaid`: no model
 * is expected to have sampled it here.
 */
export function messageLines(
  nodes: readonly MessageNode[],
  {
    index,
    before,
    call,
    isSaid = false,
  }: { index: number; before: number; call?: CallRecord | undefined; isSaid?: boolean },
  { style, block, imported }: MessageStyle,
): string[] {
  const node = nodes[index]!
  const { message, seat } = node
  const notes: string[] = []
  if (node.parent >= 0 && node.parent !== before) notes.push(`after ${node.parent}`)
  if (call !== undefined) notes.push(...callNotes(call, { imported }))
  const who = `${message.role}${seat === 'agent' ? '' : ` (${seat})`}${node.sampled || isSaid || message.role !== 'assistant' ? '' : ' (not sampled)'}`
  const paint = { system: style.dim, user: style.cyan, assistant: style.green, tool: style.yellow }[
    message.role
  ]
  const lines = [
    `${paint(printableLine(`[${index}] ${who}`))}${notes.length ? style.dim(`  ${notes.join(' · ')}`) : ''}`,
  ]
  if (message.role === 'tool') {
    const failed = message.error === undefined ? '' : style.red(`  error ${printableLine(message.error)}`)
    lines.push(`    <- ${printableLine(calledTool(nodes, node))}${failed}`)
  }
  if (message.role === 'assistant' && message.reasoning)
    lines.push(style.dim(block(`(reasoning) ${message.reasoning}`)))
  const text = textOf(message.content)
  if (text !== '') lines.push(block(text))
  if (Array.isArray(message.content)) {
    for (const part of message.content) {
      if (part.type === 'image') {
        lines.push(
          style.dim(
            printableLine(`    (image ${part.mediaType}${part.sha256 ? `, blobs/${part.sha256}` : ''})`),
          ),
        )
      }
    }
  }
  if (message.role === 'assistant') {
    if (message.refusal) lines.push(style.red(block(`(refusal) ${message.refusal}`)))
    for (const { name, arguments: raw } of message.toolCalls ?? []) {
      lines.push(block(`-> ${name} ${argumentsText(raw)}`))
    }
  }
  if (node.reward !== undefined) lines.push(style.bold(`    reward ${scoreText(node.reward)}`))
  return lines
}
