import type { AssistantMessage } from '../../core/message.ts'
import type { ModelResponse } from '../../core/model.ts'
import { isFields } from './body-fields.ts'
import type { ReplyContext } from './dialect.ts'
import { keptItems } from './reply-layout.ts'
import { markOf } from './reply-mark.ts'
import { type Item, replyItems, responsesLayout } from './responses-items.ts'

/** Ids of the items of a reply that is written here. A reply has one reasoning item; the others are counted. */
export function itemId(kind: 'rs' | 'msg' | 'fc', replyId: string, count = 0): string {
  return `${kind}_${replyId}${count === 0 && kind !== 'fc' ? '' : `_${count}`}`
}

/** Ids by which a program may name a reply later. */
export function responsesReplyIds(response: ModelResponse, context: ReplyContext): string[] {
  const { message, responseId } = response
  const ids = (message.toolCalls ?? []).map(({ id }) => id)
  for (const { item } of keptItems(message, responsesLayout))
    if (typeof item['id'] === 'string') ids.push(item['id'])
  if (responseId !== undefined) ids.push(responseId)
  const { id } = context
  ids.push(id, itemId('rs', id), itemId('msg', id), itemId('msg', id, 1))
  for (let count = 0; count < (message.toolCalls?.length ?? 0); count++) ids.push(itemId('fc', id, count))
  return ids
}

/** The item of a reply that an id names; undefined when it names none. */
export function itemOf(message: AssistantMessage, id: string): Item | undefined {
  const items = replyItems(message)
  const named = items.find((item) => item['id'] === id)
  if (named !== undefined) return named
  if (id.startsWith('rs_')) return { type: 'reasoning', id, summary: [], encrypted_content: markOf(id) }
  const count = Number(/_(\d+)$/.exec(id)?.[1] ?? 0)
  const type = id.startsWith('fc_') ? 'function_call' : 'message'
  const found = items.filter((item) => item['type'] === type)[type === 'message' ? 0 : count]
  if (type === 'message' && (count > 0 || found === undefined))
    return { type, id, role: 'assistant', content: [] }
  return found === undefined ? undefined : { ...found, id }
}

/** An item of a body with its reference followed. */
export function isReference(item: unknown): item is { id: string } {
  if (!isFields(item) || typeof item['id'] !== 'string') return false
  const { type } = item
  return type === 'item_reference' || (type === undefined && item['role'] === undefined)
}
