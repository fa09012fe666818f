import type { ReplyDelta } from '../../core/wire.ts'
import type { RawMessage } from '../completion.ts'
import { excerpt, isRetryableStatus, type ProviderError, readProviderError } from '../provider-error.ts'
import type { StreamEnd } from '../stream-assembly.ts'
import { uniqueCallId } from '../tool-call.ts'
import { isFields } from './body-fields.ts'
import type { ReaderOptions, ReplyReader } from './dialect.ts'
import type { Item } from './responses-items.ts'
import { readResponsesReply } from './responses-reply.ts'

/** Reads the events of one streamed response. Only `response.completed` and `response.incomplete` end a reply. */
export function responsesReader(options: ReaderOptions): ReplyReader {
  const { redact = (text: string) => text, onDelta } = options
  const pieces = onDelta === undefined || options.as === 'events' ? undefined : createPieces(onDelta, options)
  const items: Item[] = []
  let last: RawMessage | undefined
  let error: ProviderError | undefined
  let torn: string | undefined
  let warnings = 0
  let over = false

  function take(event: Item): void {
    switch (event['type']) {
      case 'response.output_item.done':
        if (isFields(event['item'])) items.push(event['item'])
        break
      case 'response.completed':
      case 'response.incomplete':
        if (isFields(event['response'])) last = event['response']
        break
      case 'response.failed':
      case 'error':
        error = readProviderError(isFields(event['response']) ? event['response'] : event, redact)
    }
  }

  return {
    get warnings() {
      return warnings
    },
    push(data, name) {
      if (over || error !== undefined) return false
      const text = data.trim()
      if (text === '[DONE]') {
        over = true
        return false
      }
      if (!text.startsWith('{')) {
        if (name === 'error') error = readProviderError(text, redact)
        else warnings++
        return error === undefined
      }
      let event: Item
      try {
        event = JSON.parse(text) as Item
      } catch {
        torn ??= excerpt(text, { limit: 120, redact })
        return true
      }
      if (name === 'error' || (event['type'] === undefined && event['error']))
        error = readProviderError(event, redact)
      else take(event)
      if (error !== undefined) return false
      if (pieces !== undefined) pieces(event)
      else
        onDelta?.({
          type: 'event',
          ...(name === undefined || name === 'message' ? {} : { event: name }),
          data: text,
          json: event,
        })
      return true
    },
    end(): StreamEnd {
      if (error !== undefined) {
        const retryable = error.status === undefined || isRetryableStatus(error.status)
        return { state: 'error', error, retryable }
      }
      if (torn !== undefined) return { state: 'incomplete', message: `an event is no JSON: ${torn}` }
      if (last === undefined) return { state: 'incomplete', message: 'the stream stopped before its end' }
      const { output } = last
      const whole = Array.isArray(output) && output.length > 0 ? last : { ...last, output: items }
      const completion = readResponsesReply(whole)
      if (completion === undefined)
        return { state: 'incomplete', message: 'the stream ended without a reply' }
      return { state: 'complete', completion }
    },
  }
}

/** Tells events in words of no dialect. */
function createPieces(
  tell: (delta: ReplyDelta) => void,
  options: Pick<ReaderOptions, 'taken'>,
): (event: Item) => void {
  const taken = new Set(options.taken)
  const calls = new Map<unknown, { call: number; told: string }>()
  let reasoning: string | undefined
  let partOfReasoning: string | undefined

  function addCall(index: unknown, item: Item): void {
    const call = calls.size
    calls.set(index, { call, told: '' })
    const { call_id: id, name } = item
    tell({
      type: 'call',
      call,
      id: uniqueCallId(typeof id === 'string' ? id : '', call, taken),
      name: typeof name === 'string' ? name : '',
    })
  }

  /** Tells what is left of arguments that are whole. */
  function finishCall(index: unknown, whole: unknown): void {
    const known = calls.get(index)
    if (known === undefined || typeof whole !== 'string' || !whole.startsWith(known.told)) return
    const text = whole.slice(known.told.length)
    known.told = whole
    if (text !== '') tell({ type: 'arguments', call: known.call, text })
  }

  return (event) => {
    const { type, delta, item, output_index: index } = event
    switch (type) {
      case 'response.output_text.delta':
        if (typeof delta === 'string' && delta !== '') tell({ type: 'text', text: delta })
        break
      case 'response.refusal.delta':
        if (typeof delta === 'string' && delta !== '') tell({ type: 'refusal', text: delta })
        break
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta': {
        // A server that tells both tells the same twice.
        reasoning ??= type
        if (reasoning !== type || typeof delta !== 'string' || delta === '') break
        const part = `${index}/${event['content_index'] ?? event['summary_index']}`
        const gap = partOfReasoning === undefined || partOfReasoning === part ? '' : '\n\n'
        partOfReasoning = part
        tell({ type: 'reasoning', text: gap + delta })
        break
      }
      case 'response.output_item.added':
        if (isFields(item) && item['type'] === 'function_call') addCall(index, item)
        break
      case 'response.function_call_arguments.delta': {
        const known = calls.get(index)
        if (known === undefined || typeof delta !== 'string' || delta === '') break
        known.told += delta
        tell({ type: 'arguments', call: known.call, text: delta })
        break
      }
      case 'response.function_call_arguments.done':
        finishCall(index, event['arguments'])
        break
      case 'response.output_item.done':
        if (!isFields(item) || item['type'] !== 'function_call') break
        if (!calls.has(index)) addCall(index, item)
        finishCall(index, item['arguments'])
    }
  }
}
