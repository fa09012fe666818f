import { readFileSync } from 'node:fs'
import type { DialectName } from '../../../core/index.ts'
import { createEventReader, type ServerEvent } from '../../sse.ts'

type Body = Record<string, unknown>

export function fixture(name: string): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), 'utf8')
}

/** The same reply as each provider gives it: reasoning, text and two calls. */
export const wholeReplies: Record<DialectName, Body> = {
  chat: {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'qwen',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Let me look.',
          reasoning_content: 'I need the weather of both cities.',
          tool_calls: [
            { id: 'call_01A', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
            {
              id: 'call_01B',
              type: 'function',
              function: { name: 'weather', arguments: '{"city":"Rome","days":2}' },
            },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: {
      prompt_tokens: 15,
      completion_tokens: 7,
      total_tokens: 22,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  },
  responses: JSON.parse(fixture('responses-reply.json')) as Body,
  messages: JSON.parse(fixture('messages-reply.json')) as Body,
}

function chatStream(): string {
  const chunk = (delta: Body, more: Body = {}): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'qwen', choices: [{ index: 0, delta, ...more }] })}\n\n`
  const call = (index: number, id: string, text: string): string =>
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name: 'weather', arguments: text } }] })
  const usage = JSON.stringify({ choices: [], usage: wholeReplies.chat['usage'] })
  return [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'I need the weather' }),
    chunk({ reasoning_content: ' of both cities.' }),
    chunk({ content: 'Let me' }),
    chunk({ content: ' look.' }),
    call(0, 'call_01A', '{"city":'),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '"Oslo"}' } }] }),
    call(1, 'call_01B', '{"city":"Rome","days":2}'),
    chunk({}, { finish_reason: 'tool_calls' }),
    `data: ${usage}\n\n`,
    'data: [DONE]\n\n',
  ].join('')
}

export const streams: Record<DialectName, string> = {
  chat: chatStream(),
  responses: fixture('responses-stream.sse'),
  messages: fixture('messages-stream.sse'),
}

/** The events of a stream's text. */
export function eventsOf(text: string): ServerEvent[] {
  const events: ServerEvent[] = []
  const reader = createEventReader((event) => {
    events.push(event)
  })
  reader.push(text)
  return events
}

/** What a program asks so that it sees reasoning. */
export const asks: Record<DialectName, Body> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'weather?' }] },
  responses: { model: 'm', input: 'weather?', reasoning: { summary: 'auto' } },
  messages: {
    model: 'm',
    max_tokens: 5000,
    thinking: { type: 'adaptive' },
    messages: [{ role: 'user', content: 'weather?' }],
  },
}
