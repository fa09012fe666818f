import type { ModelResponse } from '../../core/model.ts'
import type { ReplyDelta } from '../../core/wire.ts'
import { isFields } from './body-fields.ts'
import type { ReplyContext, ReplyWriter } from './dialect.ts'
import { eventText } from './event-text.ts'
import type { Block } from './messages-blocks.ts'
import { messagesErrorBody } from './messages-error.ts'
import {
  callBlocks,
  hasThinking,
  messageBody,
  saidText,
  stopReason,
  textBlock,
  thinkingBlock,
  usageOf,
  wantsThinking,
  writeMessagesReply,
} from './messages-reply.ts'

/** Writes a streamed reply in the events of Messages: those of an upstream as they came, or made from pieces. */
export function messagesWriter(context: ReplyContext): ReplyWriter {
  const making = createMaking(context)
  let passed = false
  /** The events that end the reply; they wait until it is recorded. */
  let last = ''

  function pass({ event, data, json }: ReplyDelta & { type: 'event' }): string {
    passed = true
    const type = json?.['type']
    const text = eventText(event ?? (typeof type === 'string' ? type : undefined), data)
    if (type !== 'message_delta' && type !== 'message_stop') return text
    last += text
    return ''
  }

  return {
    start: () => '',
    delta: (delta) => (delta.type === 'event' ? pass(delta) : making.delta(delta)),
    end(response) {
      if (passed) return last
      return making.begun || response.wire?.dialect !== 'messages'
        ? making.end(response)
        : writeWhole(writeMessagesReply(response, context))
    },
    error: (error) => eventText('error', JSON.stringify(messagesErrorBody(error))),
  }
}

interface Making {
  readonly begun: boolean
  delta(delta: Exclude<ReplyDelta, { type: 'event' }>): string
  end(response: ModelResponse): string
}

/** Makes events from pieces. Calls wait for the end, since their arguments have to be JSON here. */
function createMaking(context: ReplyContext): Making {
  const sink = createSink()
  const thinks = wantsThinking(context)
  let begun = false
  let open: { kind: 'text' | 'thinking'; close(): void } | undefined
  const said = { text: '', thinking: '' }

  function begin(): void {
    if (!begun) sink.write('message_start', { message: messageBody(context) })
    begun = true
  }

  function closeOpen(): void {
    open?.close()
    open = undefined
  }

  function addText(text: string): void {
    said.text += text
    if (open?.kind !== 'text') {
      closeOpen()
      const close = sink.open(textBlock(''))
      open = { kind: 'text', close }
    }
    if (text !== '') sink.delta({ type: 'text_delta', text })
  }

  function addThinking(thinking: string): void {
    if (!thinks) return
    said.thinking += thinking
    if (open?.kind !== 'thinking') {
      closeOpen()
      const { signature } = thinkingBlock('', context)
      const close = sink.open({ type: 'thinking', thinking: '', signature: '' })
      open = {
        kind: 'thinking',
        close() {
          sink.delta({ type: 'signature_delta', signature })
          close()
        },
      }
    }
    if (thinking !== '') sink.delta({ type: 'thinking_delta', thinking })
  }

  return {
    get begun() {
      return begun
    },
    delta(delta) {
      begin()
      if (delta.type === 'text' || delta.type === 'refusal') addText(delta.text)
      else if (delta.type === 'reasoning') addThinking(delta.text)
      return sink.take()
    },
    end(response) {
      begin()
      const { message } = response
      if (sink.blocks === 0 && hasThinking(message)) addThinking(message.reasoning ?? '')
      const text = saidText(message)
      const rest = text.startsWith(said.text) ? text.slice(said.text.length) : ''
      if (rest !== '') addText(rest)
      closeOpen()
      for (const block of callBlocks(message)) writeBlock(sink, block)
      if (sink.blocks === 0) writeBlock(sink, textBlock(''))
      sink.write('message_delta', {
        delta: {
          stop_reason: stopReason(response),
          stop_sequence: null,
          stop_details: null,
          container: null,
        },
        usage: usageOf(response),
      })
      sink.write('message_stop', {})
      return sink.take()
    },
  }
}

/** Writes events of one stream; blocks are counted, and one is open at a time. */
interface Sink {
  readonly blocks: number
  write(type: string, fields: Block): void
  /** Begins a block; what is returned ends it. */
  open(block: Block): () => void
  delta(delta: Block): void
  /** What was written since the last time. */
  take(): string
}

function createSink(): Sink {
  let text = ''
  let blocks = 0
  const write = (type: string, fields: Block): void => {
    text += eventText(type, JSON.stringify({ type, ...fields }))
  }
  return {
    get blocks() {
      return blocks
    },
    write,
    open(block) {
      const index = blocks++
      write('content_block_start', { index, content_block: block })
      return () => write('content_block_stop', { index })
    },
    delta(delta) {
      write('content_block_delta', { index: blocks - 1, delta })
    },
    take() {
      const taken = text
      text = ''
      return taken
    },
  }
}

/** Writes a block that is whole as the events of one that came in pieces. */
function writeBlock(sink: Sink, block: Block): void {
  if (block['type'] === 'text') {
    const close = sink.open({ ...block, text: '' })
    sink.delta({ type: 'text_delta', text: block['text'] })
    close()
  } else if (block['type'] === 'thinking') {
    const close = sink.open({ ...block, thinking: '', signature: '' })
    sink.delta({ type: 'thinking_delta', thinking: block['thinking'] })
    sink.delta({ type: 'signature_delta', signature: block['signature'] })
    close()
  } else if (block['type'] === 'tool_use') {
    const close = sink.open({ ...block, input: {} })
    sink.delta({ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) })
    close()
  } else sink.open(block)()
}

/** A reply of an upstream that came whole, for a program that asked for a stream. */
function writeWhole(body: Block): string {
  const sink = createSink()
  const { content, stop_reason, stop_sequence = null, stop_details = null, container = null, usage } = body
  sink.write('message_start', { message: { ...body, content: [], stop_reason: null, stop_sequence: null } })
  for (const block of Array.isArray(content) ? content : []) if (isFields(block)) writeBlock(sink, block)
  sink.write('message_delta', { delta: { stop_reason, stop_sequence, stop_details, container }, usage })
  sink.write('message_stop', {})
  return sink.take()
}
