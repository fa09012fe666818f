import { type ModelResponse, type ReplyDelta, textOf } from '../../core/index.ts'
import { besides, chatError, chatFinish, chatLogprobs, chatUsage, inFirstForm } from './chat-reply.ts'
import { unaskedOf } from './chat-unasked.ts'
import type { ReplyContext, ReplyWriter } from './dialect.ts'

/**
 * Writes one streamed chat completion. Chunks of an upstream of this dialect pass as they came, but for what the program
 * did not ask for; other pieces become chunks.
 */
export function chatReplyWriter(context: ReplyContext): ReplyWriter {
  const { wire } = context.request
  const { wants } = wire
  const unasked = unaskedOf(wire)
  /** What was told, so that the end writes the rest. */
  const told = {
    events: false,
    finish: false,
    usage: false,
    text: '',
    reasoning: '',
    refusal: '',
    /** Arguments by call. */
    calls: [] as string[],
  }
  let begun = false
  /** Names of the reply that later chunks must repeat. */
  let { id, model, created } = context

  function data(body: Record<string, unknown>): string {
    return `data: ${JSON.stringify(wants.functionCall === true ? inFirstForm(body) : body)}\n\n`
  }

  function chunk(choices: unknown[], rest: Record<string, unknown> = {}): string {
    return data({ id, object: 'chat.completion.chunk', created, model, choices, ...rest })
  }

  function piece(delta: Record<string, unknown>, finish: string | null = null, more: object = {}): string {
    const role = begun ? {} : { role: 'assistant' }
    begun = true
    return chunk([{ index: 0, delta: { ...role, ...delta }, finish_reason: finish, ...more }])
  }

  /** A chunk as it came; empty where nothing of it was asked for. */
  function passed(text: string, json: Record<string, unknown>): string {
    told.events = true
    begun = true
    if (typeof json['id'] === 'string') id = json['id']
    if (typeof json['model'] === 'string') model = json['model']
    if (typeof json['created'] === 'number') created = json['created']
    const choices: unknown = json['choices']
    const [choice] = Array.isArray(choices) ? (choices as ({ finish_reason?: unknown } | null)[]) : []
    if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') told.finish = true
    let kept = unasked.strip(json)
    if (typeof json['usage'] === 'object' && json['usage'] !== null) {
      if (wants.usage) told.usage = true
      else if (choice === undefined) return ''
      else {
        const { usage: _usage, ...rest } = kept
        kept = rest
      }
    }
    return kept === json && wants.functionCall !== true ? `data: ${text}\n\n` : data(kept)
  }

  return {
    start: () => '',
    delta(delta: ReplyDelta) {
      switch (delta.type) {
        case 'event':
          return delta.json === undefined ? '' : passed(delta.data, delta.json)
        case 'text':
          told.text += delta.text
          return piece({ content: delta.text })
        case 'reasoning':
          told.reasoning += delta.text
          return piece({ reasoning_content: delta.text })
        case 'refusal':
          told.refusal += delta.text
          return piece({ refusal: delta.text })
        case 'call':
          told.calls[delta.call] = ''
          return piece({ tool_calls: [call(delta.call, { id: delta.id, name: delta.name, arguments: '' })] })
        case 'arguments':
          told.calls[delta.call] = (told.calls[delta.call] ?? '') + delta.text
          return piece({ tool_calls: [{ index: delta.call, function: { arguments: delta.text } }] })
      }
    },
    end(response: ModelResponse) {
      const { message } = response
      let text = ''
      if (!told.events) text += rest(response)
      const ending: Record<string, unknown> = {}
      if (wants.logprobs && !told.events) ending['logprobs'] = chatLogprobs(response)
      if (!told.finish) {
        const { reasoning_content: _told, ...extra } = besides(message)
        text += piece(told.events ? {} : extra, chatFinish(response.finish, message), ending)
      }
      const usage = chatUsage(response.usage)
      if (wants.usage && !told.usage && usage !== undefined) text += chunk([], { usage })
      return `${text}data: [DONE]\n\n`
    },
    error: (error) => `event: error\ndata: ${JSON.stringify(chatError(error))}\n\n`,
  }

  /** What no piece has told. */
  function rest({ message }: ModelResponse): string {
    const { content, reasoning = '', refusal = '', toolCalls = [] } = message
    let text = ''
    const add = (field: string, whole: string, before: string): void => {
      const left = untold(whole, before)
      if (left !== '') text += piece({ [field]: left })
    }
    add('reasoning_content', reasoning, told.reasoning)
    add('refusal', refusal, told.refusal)
    add('content', textOf(content), told.text)
    for (const [index, made] of toolCalls.entries()) {
      const before = told.calls[index]
      const left = untold(made.arguments, before ?? '')
      if (before === undefined) text += piece({ tool_calls: [call(index, made)] })
      else if (left !== '') text += piece({ tool_calls: [{ index, function: { arguments: left } }] })
    }
    // A reply that says nothing has a text all the same.
    return begun || text !== '' ? text : piece({ content: '' })
  }
}

/** What is left to tell; nothing where something else was told, since that cannot be taken back. */
function untold(whole: string, before: string): string {
  return whole.startsWith(before) ? whole.slice(before.length) : ''
}

function call(
  index: number,
  { id, name, arguments: text }: { id: string; name: string; arguments: string },
): object {
  return { index, id, type: 'function', function: { name, arguments: text } }
}
