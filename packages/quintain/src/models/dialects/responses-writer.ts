import { textOf } from '../../core/message.ts'
import type { ModelResponse } from '../../core/model.ts'
import type { ReplyDelta } from '../../core/wire.ts'
import { isFields } from './body-fields.ts'
import { chatError } from './chat-reply.ts'
import type { ReplyContext, ReplyWriter } from './dialect.ts'
import { eventText } from './event-text.ts'
import {
  createEventSink,
  type OpenItem,
  type OpenMessage,
  openCall,
  openMessage,
  openReasoning,
  writeWholeItem,
} from './responses-events.ts'
import { itemId } from './responses-ids.ts'
import type { Item } from './responses-items.ts'
import {
  finishedBody,
  hasReasoning,
  reasoningItem,
  responseBody,
  shownBody,
  withoutLogprobs,
  writeResponsesReply,
} from './responses-reply.ts'

/** Writes a streamed reply in the events of Responses: those of an upstream as they came, or made from pieces. */
export function responsesWriter(context: ReplyContext): ReplyWriter {
  const passing = createPassing(context)
  const making = createMaking(context)
  return {
    start: () => '',
    delta: (delta) => (delta.type === 'event' ? passing.delta(delta) : making.delta(delta)),
    end(response) {
      if (passing.begun) return passing.end()
      return making.begun || response.wire?.dialect !== 'responses'
        ? making.end(response)
        : writeWhole(response, context)
    },
    error(error) {
      const { code, message, param = null } = error
      const sequence_number = passing.begun ? passing.next : making.next
      // Some SDKs look for the error where a body that is no stream has it.
      const event = { type: 'error', sequence_number, code, message, param, ...chatError(error) }
      return eventText('error', JSON.stringify(event))
    },
  }
}

interface Passing {
  readonly begun: boolean
  readonly next: number
  delta(delta: ReplyDelta & { type: 'event' }): string
  end(): string
}

/** Passes events of an upstream on; the one that ends the reply waits until the reply is recorded. */
function createPassing(context: ReplyContext): Passing {
  const { logprobs } = context.request.wire.wants
  let begun = false
  let next = 0
  let last = ''

  function shown(json: Item): Item | undefined {
    const { response, part, item } = json
    if (isFields(response)) return { ...json, response: shownBody(response, context) }
    if (logprobs) return undefined
    if (Array.isArray(json['logprobs']) && json['logprobs'].length > 0) return { ...json, logprobs: [] }
    if (isFields(part) && Array.isArray(part['logprobs'])) return { ...json, part: withoutLogprobs(part) }
    if (isFields(item) && item['type'] === 'message') return { ...json, item: withoutLogprobs(item) }
    return undefined
  }

  return {
    get begun() {
      return begun
    },
    get next() {
      return next
    },
    delta({ event, data, json }) {
      begun = true
      if (typeof json?.['sequence_number'] === 'number') next = json['sequence_number'] + 1
      const changed = json && shown(json)
      const type = json?.['type']
      const name = event ?? (typeof type === 'string' ? type : undefined)
      const text = eventText(name, changed === undefined ? data : JSON.stringify(changed))
      if (type !== 'response.completed' && type !== 'response.incomplete') return text
      last = text
      return ''
    },
    end: () => last,
  }
}

interface Making {
  readonly begun: boolean
  readonly next: number
  delta(delta: Exclude<ReplyDelta, { type: 'event' }>): string
  end(response: ModelResponse): string
}

/** Makes events from pieces. */
function createMaking(context: ReplyContext): Making {
  const sink = createEventSink()
  const done: Item[] = []
  const calls: { at: number; item: OpenItem; told: string }[] = []
  let begun = false
  let items = 0
  let messages = 0
  let thoughts = 0
  let current: { at: number; item: OpenItem } | undefined
  let message: OpenMessage | undefined
  const said = { text: '', refusal: '' }

  function begin(): void {
    if (begun) return
    begun = true
    const response = responseBody(context)
    sink.write('response.created', { response })
    sink.write('response.in_progress', { response })
  }

  function closeCurrent(status = 'completed'): void {
    if (current !== undefined) done[current.at] = current.item.close(status)
    current = undefined
    message = undefined
  }

  function inMessage(): OpenMessage {
    if (message !== undefined) return message
    closeCurrent()
    const at = items++
    message = openMessage(sink, at, itemId('msg', context.id, messages++))
    current = { at, item: message }
    return message
  }

  function add(delta: Exclude<ReplyDelta, { type: 'event' }>): void {
    begin()
    switch (delta.type) {
      case 'text':
        said.text += delta.text
        inMessage().add(delta.text)
        break
      case 'refusal':
        said.refusal += delta.text
        inMessage().refuse(delta.text)
        break
      case 'reasoning':
        if (current?.item.kind !== 'reasoning') {
          closeCurrent()
          const at = items++
          const id = itemId('rs', context.id, thoughts++)
          current = { at, item: openReasoning(sink, at, (text) => reasoningItem(id, text, context)) }
        }
        current.item.add(delta.text)
        break
      case 'call': {
        closeCurrent()
        const at = items++
        const id = itemId('fc', context.id, delta.call)
        calls[delta.call] = {
          at,
          item: openCall(sink, at, { id, call: delta.id, name: delta.name }),
          told: '',
        }
        break
      }
      case 'arguments': {
        const call = calls[delta.call]
        if (call === undefined) break
        call.told += delta.text
        call.item.add(delta.text)
      }
    }
  }

  /** What no piece has told of a reply that is whole. */
  function addRest({ message: whole }: ModelResponse): void {
    const rest = (all: string, told: string): string => (all.startsWith(told) ? all.slice(told.length) : '')
    if (items === 0 && hasReasoning(whole)) add({ type: 'reasoning', text: whole.reasoning ?? '' })
    const text = rest(textOf(whole.content), said.text)
    if (text !== '') add({ type: 'text', text })
    const refusal = rest(whole.refusal ?? '', said.refusal)
    if (refusal !== '') add({ type: 'refusal', text: refusal })
    for (const [call, { id, name, arguments: given }] of (whole.toolCalls ?? []).entries()) {
      if (calls[call] === undefined) add({ type: 'call', call, id, name })
      const left = rest(given, calls[call]?.told ?? '')
      if (left !== '') add({ type: 'arguments', call, text: left })
    }
    if (messages === 0 && calls.length === 0) add({ type: 'text', text: '' })
  }

  return {
    get begun() {
      return begun
    },
    get next() {
      return sink.next
    },
    delta(delta) {
      add(delta)
      return sink.take()
    },
    end(response) {
      begin()
      addRest(response)
      const status = response.finish === 'length' ? 'incomplete' : 'completed'
      closeCurrent(status)
      for (const call of calls) if (call !== undefined) done[call.at] = call.item.close(status)
      const body = finishedBody(done, response, context)
      sink.write(`response.${body['status']}`, { response: body })
      return sink.take()
    },
  }
}

/** A reply of an upstream that came whole, for a program that asked for a stream. */
function writeWhole(response: ModelResponse, context: ReplyContext): string {
  const sink = createEventSink()
  const body = writeResponsesReply(response, context)
  const output = Array.isArray(body['output']) ? body['output'].filter(isFields) : []
  const begun = { ...body, status: 'in_progress', output: [], usage: null, incomplete_details: null }
  sink.write('response.created', { response: begun })
  sink.write('response.in_progress', { response: begun })
  for (const [at, item] of output.entries()) writeWholeItem(sink, at, item)
  const ending = body['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed'
  sink.write(ending, { response: body })
  return sink.take()
}
