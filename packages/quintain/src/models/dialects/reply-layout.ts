import { type AssistantMessage, type ToolCall, textOf } from '../../core/message.ts'
import { isFields } from './body-fields.ts'

/**
 * How a provider's reply was laid out, for sending it back: items that say nothing to anybody else (reasoning with its
 * signature) as they came, and the places of the text and the calls, which the message itself holds.
 */
export type KeptItem =
  | { kind: 'whole'; item: Record<string, unknown> }
  | { kind: 'text'; chars: number; item: Record<string, unknown> }
  | { kind: 'call'; item: Record<string, unknown> }

export type LaidOut =
  | { kind: 'whole'; item: Record<string, unknown> }
  | { kind: 'text'; text: string; item: Record<string, unknown> | undefined }
  | { kind: 'call'; call: ToolCall; item: Record<string, unknown> | undefined }

/** The layout that was kept in `extra[key]`; empty when there is none. */
export function keptItems(message: AssistantMessage, key: string): KeptItem[] {
  const kept = message.extra?.[key]
  return Array.isArray(kept) ? kept.filter(isKept) : []
}

/** What was kept whole of a reply, for the place of a mark that stood for it. */
export function keptWhole(message: AssistantMessage | undefined, key: string): Record<string, unknown>[] {
  if (message === undefined) return []
  return keptItems(message, key).flatMap((entry) => (entry.kind === 'whole' ? [entry.item] : []))
}

function isKept(value: unknown): value is KeptItem {
  if (!isFields(value) || !isFields(value['item'])) return false
  const { kind } = value
  return kind === 'whole' || kind === 'call' || (kind === 'text' && typeof value['chars'] === 'number')
}

/**
 * A reply in the order in which it came. When the layout does not fit the message, because somebody has changed it, what
 * was kept whole comes first, then the text, then the calls.
 */
export function layOut(kept: readonly KeptItem[], message: AssistantMessage): LaidOut[] {
  const text = textOf(message.content)
  const calls = message.toolCalls ?? []
  const chars = kept.reduce((sum, entry) => sum + (entry.kind === 'text' ? entry.chars : 0), 0)
  const callCount = kept.filter(({ kind }) => kind === 'call').length
  if (chars !== text.length || callCount !== calls.length) {
    const whole = kept.filter((entry): entry is KeptItem & { kind: 'whole' } => entry.kind === 'whole')
    return [
      ...whole,
      ...(text === '' ? [] : [{ kind: 'text' as const, text, item: undefined }]),
      ...calls.map((call) => ({ kind: 'call' as const, call, item: undefined })),
    ]
  }
  let at = 0
  let next = 0
  return kept.map((entry) => {
    if (entry.kind === 'whole') return entry
    if (entry.kind === 'call') return { kind: 'call', call: calls[next++]!, item: entry.item }
    const from = at
    at += entry.chars
    return { kind: 'text', text: text.slice(from, at), item: entry.item }
  })
}
