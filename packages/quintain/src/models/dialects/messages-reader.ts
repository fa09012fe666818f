import type { ReplyDelta } from '../../core/wire.ts'
import { excerpt, isRetryableStatus, type ProviderError, readProviderError } from '../provider-error.ts'
import type { StreamEnd } from '../stream-assembly.ts'
import { uniqueCallId } from '../tool-call.ts'
import { isFields } from './body-fields.ts'
import type { ReaderOptions, ReplyReader } from './dialect.ts'
import type { Block } from './messages-blocks.ts'
import { readMessagesReply } from './messages-reply.ts'

/** Reads the events of one streamed message. Only `message_stop` after a stop reason ends a reply. */
export function messagesReader(options: ReaderOptions): ReplyReader {
  const { redact = (text: string) => text, onDelta } = options
  const pieces = onDelta === undefined || options.as === 'events' ? undefined : createPieces(onDelta, options)
  const assembly = createAssembly()
  let error: ProviderError | undefined
  let torn: string | undefined
  let warnings = 0
  let over = false

  return {
    get warnings() {
      return warnings
    },
    push(data, name) {
      if (over || error !== undefined) return false
      const text = data.trim()
      if (!text.startsWith('{')) {
        if (name === 'error') error = readProviderError(text, redact)
        else if (text === '[DONE]') over = true
        else warnings++
        return error === undefined && !over
      }
      let event: Block
      try {
        event = JSON.parse(text) as Block
      } catch {
        torn ??= excerpt(text, { limit: 120, redact })
        return true
      }
      if (name === 'error' || event['type'] === 'error') {
        error = readProviderError(event, redact)
        return false
      }
      assembly.push(event)
      if (pieces !== undefined) pieces(event)
      else
        onDelta?.({
          type: 'event',
          ...(name === undefined || name === 'message' ? {} : { event: name }),
          data: text,
          json: event,
        })
      over = event['type'] === 'message_stop'
      return !over
    },
    end(): StreamEnd {
      if (error !== undefined) {
        const retryable = error.status === undefined || isRetryableStatus(error.status)
        return { state: 'error', error, retryable }
      }
      if (torn !== undefined) return { state: 'incomplete', message: `an event is no JSON: ${torn}` }
      const completion = assembly.ended ? readMessagesReply(assembly.body()) : undefined
      if (completion === undefined)
        return { state: 'incomplete', message: 'the stream stopped before its end' }
      return { state: 'complete', completion }
    },
  }
}

/** Which field of a delta goes on with which field of its block. */
const joinedFields: ReadonlyMap<unknown, readonly [string, string]> = new Map([
  ['text_delta', ['text', 'text']],
  ['thinking_delta', ['thinking', 'thinking']],
  ['signature_delta', ['signature', 'signature']],
  ['input_json_delta', ['partial_json', 'input']],
])

/** Puts the message together that events tell. Arguments of calls stay the text that came. */
function createAssembly(): { push(event: Block): void; body(): Block; readonly ended: boolean } {
  let message: Block = {}
  let usage: Block = {}
  let reason: unknown
  let details: unknown
  let ended = false
  const blocks = new Map<unknown, Block>()

  function addUsage(given: unknown): void {
    if (!isFields(given)) return
    const counts = Object.entries(given).filter(([, value]) => value !== null && value !== undefined)
    usage = { ...usage, ...Object.fromEntries(counts) }
  }

  function addDelta(block: Block, delta: Block): void {
    const [from, to] = joinedFields.get(delta['type']) ?? []
    const piece = from === undefined ? undefined : delta[from]
    if (to === undefined || typeof piece !== 'string') return
    const before = block[to]
    block[to] = (typeof before === 'string' ? before : '') + piece
  }

  return {
    get ended() {
      return ended
    },
    push(event) {
      const { type, index, delta } = event
      if (type === 'message_start' && isFields(event['message'])) {
        message = event['message']
        addUsage(message['usage'])
      } else if (type === 'content_block_start' && isFields(event['content_block']))
        blocks.set(index, { ...event['content_block'] })
      else if (type === 'content_block_delta' && isFields(delta)) {
        const block = blocks.get(index)
        if (block !== undefined) addDelta(block, delta)
      } else if (type === 'message_delta') {
        addUsage(event['usage'])
        if (!isFields(delta)) return
        reason = delta['stop_reason'] ?? reason
        details = delta['stop_details'] ?? details
      } else if (type === 'message_stop') ended = typeof reason === 'string'
    },
    body: () => ({
      ...message,
      content: [...blocks.values()],
      stop_reason: reason,
      stop_details: details,
      usage,
    }),
  }
}

/** Tells events in words of no dialect. */
function createPieces(
  tell: (delta: ReplyDelta) => void,
  options: Pick<ReaderOptions, 'taken'>,
): (event: Block) => void {
  const taken = new Set(options.taken)
  const calls = new Map<unknown, number>()
  let thought: unknown

  function addCall(index: unknown, block: Block): void {
    const call = calls.size
    calls.set(index, call)
    const { id, name, input } = block
    tell({
      type: 'call',
      call,
      id: uniqueCallId(typeof id === 'string' ? id : '', call, taken),
      name: typeof name === 'string' ? name : '',
    })
    if (isFields(input) && Object.keys(input).length > 0)
      tell({ type: 'arguments', call, text: JSON.stringify(input) })
  }

  function addThought(index: unknown, text: unknown): void {
    if (typeof text !== 'string' || text === '') return
    const gap = thought === undefined || thought === index ? '' : '\n\n'
    thought = index
    tell({ type: 'reasoning', text: gap + text })
  }

  return ({ type, index, content_block: block, delta }) => {
    if (type === 'content_block_start' && isFields(block)) {
      if (block['type'] === 'tool_use') addCall(index, block)
      else if (block['type'] === 'thinking') addThought(index, block['thinking'])
      else if (typeof block['text'] === 'string' && block['text'] !== '')
        tell({ type: 'text', text: block['text'] })
    } else if (type === 'content_block_delta' && isFields(delta)) {
      const { text, thinking, partial_json: json } = delta
      const call = calls.get(index)
      if (delta['type'] === 'thinking_delta') addThought(index, thinking)
      else if (typeof text === 'string' && text !== '') tell({ type: 'text', text })
      else if (typeof json === 'string' && json !== '' && call !== undefined)
        tell({ type: 'arguments', call, text: json })
    }
  }
}
