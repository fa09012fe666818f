import { isFields } from './body-fields.ts'
import { eventText } from './event-text.ts'
import type { Item } from './responses-items.ts'
import { callItem, messageItem, textPart } from './responses-reply.ts'

/** Writes events of one stream: each with its number. */
export interface EventSink {
  write(type: string, fields: Item): void
  /** What was written since the last time. */
  take(): string
  /** The number of the next event. */
  readonly next: number
}

export function createEventSink(): EventSink {
  let number = 0
  let text = ''
  return {
    get next() {
      return number
    },
    write(type, fields) {
      text += eventText(type, JSON.stringify({ type, sequence_number: number++, ...fields }))
    },
    take() {
      const taken = text
      text = ''
      return taken
    },
  }
}

/** An item that is being written. */
export interface OpenItem {
  readonly kind: 'reasoning' | 'message' | 'call'
  add(text: string): void
  /** Ends the item and gives it whole. */
  close(status: string): Item
}

export function openReasoning(sink: EventSink, at: number, make: (text: string) => Item): OpenItem {
  let text = ''
  let shown = false
  const { id } = make('')
  const place = { item_id: id, output_index: at, summary_index: 0 }
  sink.write('response.output_item.added', { output_index: at, item: make('') })
  return {
    kind: 'reasoning',
    add(piece) {
      text += piece
      const { summary } = make(text)
      if (!Array.isArray(summary) || summary.length === 0) return
      if (!shown) {
        shown = true
        sink.write('response.reasoning_summary_part.added', {
          ...place,
          part: { type: 'summary_text', text: '' },
        })
      }
      sink.write('response.reasoning_summary_text.delta', { ...place, delta: piece })
    },
    close() {
      const item = make(text)
      if (shown) {
        sink.write('response.reasoning_summary_text.done', { ...place, text })
        sink.write('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } })
      }
      sink.write('response.output_item.done', { output_index: at, item })
      return item
    },
  }
}

export interface OpenMessage extends OpenItem {
  refuse(text: string): void
}

export function openMessage(sink: EventSink, at: number, id: string): OpenMessage {
  const parts: { type: 'output_text' | 'refusal'; text: string }[] = []
  sink.write('response.output_item.added', { output_index: at, item: messageItem(id, [], 'in_progress') })

  function place(): Item {
    return { item_id: id, output_index: at, content_index: parts.length - 1 }
  }

  function open(type: 'output_text' | 'refusal'): { text: string } {
    const last = parts.at(-1)
    if (last?.type === type) return last
    closePart()
    const part = { type, text: '' }
    parts.push(part)
    sink.write('response.content_part.added', { ...place(), part: partItem(part) })
    return part
  }

  function closePart(): void {
    const part = parts.at(-1)
    if (part === undefined) return
    if (part.type === 'output_text')
      sink.write('response.output_text.done', { ...place(), text: part.text, logprobs: [] })
    else sink.write('response.refusal.done', { ...place(), refusal: part.text })
    sink.write('response.content_part.done', { ...place(), part: partItem(part) })
  }

  return {
    kind: 'message',
    add(text) {
      open('output_text').text += text
      if (text !== '') sink.write('response.output_text.delta', { ...place(), delta: text, logprobs: [] })
    },
    refuse(text) {
      open('refusal').text += text
      sink.write('response.refusal.delta', { ...place(), delta: text })
    },
    close(status) {
      closePart()
      const item = messageItem(id, parts.map(partItem), status)
      sink.write('response.output_item.done', { output_index: at, item })
      return item
    },
  }
}

function partItem({ type, text }: { type: 'output_text' | 'refusal'; text: string }): Item {
  return type === 'refusal' ? { type, refusal: text } : textPart(text)
}

export function openCall(
  sink: EventSink,
  at: number,
  call: { id: string; call: string; name: string },
): OpenItem {
  let text = ''
  const place = { item_id: call.id, output_index: at }
  sink.write('response.output_item.added', {
    output_index: at,
    item: callItem({ ...call, arguments: '', status: 'in_progress' }),
  })
  return {
    kind: 'call',
    add(piece) {
      text += piece
      sink.write('response.function_call_arguments.delta', { ...place, delta: piece })
    },
    close(status) {
      const item = callItem({ ...call, arguments: text, status })
      sink.write('response.function_call_arguments.done', { ...place, name: call.name, arguments: text })
      sink.write('response.output_item.done', { output_index: at, item })
      return item
    },
  }
}

/** Writes an item that came whole as the events of one that came in pieces. */
export function writeWholeItem(sink: EventSink, at: number, item: Item): void {
  const { id: item_id, type, content, summary } = item
  const place = { item_id, output_index: at }
  if (type === 'message' && Array.isArray(content)) {
    sink.write('response.output_item.added', {
      output_index: at,
      item: { ...item, status: 'in_progress', content: [] },
    })
    for (const [index, part] of content.entries()) {
      if (!isFields(part)) continue
      const where = { ...place, content_index: index }
      const { text, refusal, logprobs = [] } = part
      const empty = refusal === undefined ? { text: '', logprobs: [] } : { refusal: '' }
      sink.write('response.content_part.added', { ...where, part: { ...part, ...empty } })
      if (refusal === undefined) {
        sink.write('response.output_text.delta', { ...where, delta: text, logprobs })
        sink.write('response.output_text.done', { ...where, text, logprobs })
      } else {
        sink.write('response.refusal.delta', { ...where, delta: refusal })
        sink.write('response.refusal.done', { ...where, refusal })
      }
      sink.write('response.content_part.done', { ...where, part })
    }
  } else if (type === 'function_call') {
    const { arguments: text, name } = item
    sink.write('response.output_item.added', {
      output_index: at,
      item: { ...item, status: 'in_progress', arguments: '' },
    })
    sink.write('response.function_call_arguments.delta', { ...place, delta: text })
    sink.write('response.function_call_arguments.done', { ...place, name, arguments: text })
  } else if (type === 'reasoning' && Array.isArray(summary)) {
    sink.write('response.output_item.added', { output_index: at, item: { ...item, summary: [] } })
    for (const [index, part] of summary.entries()) {
      if (!isFields(part)) continue
      const where = { ...place, summary_index: index }
      const { text } = part
      sink.write('response.reasoning_summary_part.added', { ...where, part: { ...part, text: '' } })
      sink.write('response.reasoning_summary_text.delta', { ...where, delta: text })
      sink.write('response.reasoning_summary_text.done', { ...where, text })
      sink.write('response.reasoning_summary_part.done', { ...where, part })
    }
  } else sink.write('response.output_item.added', { output_index: at, item })
  sink.write('response.output_item.done', { output_index: at, item })
}
