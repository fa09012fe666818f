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
    text: false,
    reasoning: false,
    refusal: false,
    calls: 0,
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
          told.text = true
          return piece({ content: delta.text })
        case 'reasoning':
          told.reasoning = true
          return piece({ reasoning_content: delta.text })
        case 'refusal':
          told.refusal = true
          return piece({ refusal: delta.text })
        case 'call':
          told.calls = Math.max(told.calls, delta.call + 1)
          return piece({ tool_calls: [call(delta.call, { id: delta.id, name: delta.name, arguments: '' })] })
        case 'arguments':
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
    let text = ''
    if (!told.reasoning && message.reasoning !== undefined)
      text += piece({ reasoning_content: message.reasoning })
    if (!told.refusal && message.refusal !== undefined) text += piece({ refusal: message.refusal })
    const said = textOf(message.content)
    if (!told.text && said !== '') text += piece({ content: said })
    for (const [index, made] of (message.toolCalls ?? []).entries())
      if (index >= told.calls) text += piece({ tool_calls: [call(index, made)] })
    // A reply that says nothing has a text all the same.
    return begun || text !== '' ? text : piece({ content: '' })
  }
}

function call(
  index: number,
  { id, name, arguments: text }: { id: string; name: string; arguments: string },
): object {
  return { index, id, type: 'function', function: { name, arguments: text } }
}
