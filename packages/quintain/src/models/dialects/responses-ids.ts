import type { AssistantMessage } from '../../core/message.ts'
import type { ModelResponse } from '../../core/model.ts'
import { isFields } from './body-fields.ts'
import type { ReplyContext } from './dialect.ts'
import type { History } from './recorded-reply.ts'
import { keptItems } from './reply-layout.ts'
import { markOf } from './reply-mark.ts'
import { type Item, replyItems, responsesLayout } from './responses-items.ts'

type Kind = 'rs' | 'msg' | 'fc'

/** The id of an item of a reply that is written here: of the reply, its kind, and a count from 0. */
export function itemId(kind: Kind, replyId: string, count = 0): string {
  return `${kind}_${replyId}_${count}`
}

/** What an id of `itemId` says; undefined for an id of somebody else. */
function readItemId(id: string): { kind: string; replyId: string; count: number } | undefined {
  const [, kind, replyId, count] = /^(rs|msg|fc)_(.+)_(\d+)$/.exec(id) ?? []
  if (kind === undefined || replyId === undefined) return undefined
  return { kind, replyId, count: Number(count) }
}

/** Finds conversations also by ids of items that were written here, which only name the reply. */
export function byItems(history: History): History {
  return (id) => {
    const found = history(id)
    if (found !== undefined) return found
    const own = readItemId(id)
    return own && history(own.replyId)
  }
}

/** Ids by which a program may name a reply later; those of items that are written here name it themselves. */
export function responsesReplyIds(response: ModelResponse, context: ReplyContext): string[] {
  const { message, responseId } = response
  const ids = (message.toolCalls ?? []).map(({ id }) => id)
  for (const { item } of keptItems(message, responsesLayout))
    if (typeof item['id'] === 'string') ids.push(item['id'])
  if (responseId !== undefined) ids.push(responseId)
  return [...ids, context.id]
}

/** The item of a reply that an id names; undefined when it names none. */
export function itemOf(message: AssistantMessage, id: string): Item | undefined {
  const items = replyItems(message)
  const named = items.find((item) => item['id'] === id)
  if (named !== undefined) return named
  const { kind, count, replyId } = readItemId(id) ?? {}
  if (kind === undefined || count === undefined || replyId === undefined) return undefined
  if (kind === 'rs') return { type: 'reasoning', id, summary: [], encrypted_content: markOf(replyId) }
  const type = kind === 'fc' ? 'function_call' : 'message'
  const found = items.filter((item) => item['type'] === type)[count]
  // What came in several messages is one here, and the others say nothing more.
  if (found === undefined && type === 'message') return { type, id, role: 'assistant', content: [] }
  return found && { ...found, id }
}

/** An item that stands for one of an earlier reply. */
export function isReference(item: unknown): item is { id: string } {
  if (!isFields(item) || typeof item['id'] !== 'string') return false
  const type = item['type'] ?? undefined
  return type === 'item_reference' || (type === undefined && item['role'] === undefined)
}
