import { describe, expect, test } from 'vitest'
import type { DialectName, ModelRequest } from '../../core/index.ts'
import { conversations } from './__fixtures__/one-conversation.ts'
import { type Dialect, type DialectError, dialects, type ReplyContext } from './index.ts'

type Body = Record<string, unknown>
type Asked = ReplyContext['request']

const names: DialectName[] = ['chat', 'responses', 'messages']
const pairs = names.flatMap((program) => names.map((upstream) => [program, upstream] as const))

/** What a request comes to, whatever it was written in. */
function meaning({ messages, tools, sampling, wire }: ModelRequest): Body {
  return { messages, tools, sampling, settings: wire?.settings }
}

/** The request as an upstream reads what is sent to it. */
function arrives(request: Asked, upstream: Dialect): ModelRequest {
  const sent: unknown = JSON.parse(upstream.requestBody(request, { model: 'served', stream: false }))
  expect(sent).toMatchObject({ model: 'served' })
  return upstream.readRequest(sent)
}

describe('a request', () => {
  test('says the same in each dialect', () => {
    const [chat, responses, messages] = names.map((name) =>
      meaning(dialects[name].readRequest(conversations[name])),
    )
    expect(responses).toEqual(chat)
    expect(messages).toEqual(chat)
    expect(chat).toMatchObject({
      sampling: { maxTokens: 500, temperature: 0.5, topP: 0.9 },
      settings: { toolChoice: { tool: 'weather' }, parallelToolCalls: false, own: [] },
    })
  })

  test.each(pairs)('of a %s program means the same to a %s upstream', (program, upstream) => {
    const request = dialects[program].readRequest(conversations[program])
    expect(meaning(arrives(request, dialects[upstream]))).toEqual(meaning(request))
  })

  test.each<[DialectName, Body, DialectName, string | undefined]>([
    ['chat', { stop: ['END'] }, 'messages', undefined],
    ['chat', { stop: ['END'] }, 'responses', 'stop'],
    ['messages', { stop_sequences: ['END'] }, 'chat', undefined],
    ['messages', { stop_sequences: ['END'] }, 'responses', 'stop'],
    ['messages', { top_k: 5 }, 'chat', 'top_k'],
    ['messages', { top_k: 5 }, 'responses', 'top_k'],
    ['messages', { thinking: { type: 'enabled', budget_tokens: 2000 } }, 'responses', 'budget'],
    ['messages', { thinking: { type: 'adaptive' } }, 'responses', undefined],
    ['messages', { output_config: { effort: 'high' } }, 'responses', undefined],
    ['messages', { output_config: { effort: 'high' } }, 'chat', undefined],
    [
      'messages',
      { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      'chat',
      'context_management',
    ],
    [
      'messages',
      { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
      'chat',
      undefined,
    ],
    ['messages', { metadata: { user_id: 'u' }, service_tier: 'auto' }, 'responses', undefined],
    ['messages', { some_new_field: 1 }, 'chat', 'some_new_field'],
    ['chat', { seed: 7 }, 'messages', 'seed'],
    ['chat', { seed: 7 }, 'responses', 'seed'],
    ['chat', { reasoning_effort: 'low' }, 'messages', undefined],
    ['chat', { response_format: { type: 'json_object' } }, 'responses', undefined],
    ['chat', { response_format: { type: 'json_object' } }, 'messages', 'JSON without a schema'],
    ['chat', { frequency_penalty: 1 }, 'messages', 'frequency_penalty'],
    ['chat', { logit_bias: { 5: 1 } }, 'responses', 'logit_bias'],
    ['chat', { logprobs: true }, 'messages', 'logprobs'],
    ['chat', { logprobs: true }, 'responses', 'logprobs'],
    ['responses', { include: ['message.output_text.logprobs'] }, 'chat', 'logprobs'],
    ['responses', { text: { verbosity: 'low' } }, 'messages', 'verbosity'],
    ['responses', { truncation: 'auto' }, 'chat', 'truncation'],
    ['responses', { metadata: {}, store: true, user: 'u', service_tier: 'auto' }, 'chat', undefined],
    ['responses', { some_new_field: 1 }, 'messages', 'some_new_field'],
  ])('of a %s program with %j: a %s upstream refuses %s', (program, more, upstream, named) => {
    const { output_config: _format, ...base } = conversations[program]
    const request = dialects[program].readRequest({ ...base, ...more })
    const ask = (): unknown => meaning(arrives(request, dialects[upstream]))
    if (named === undefined) expect(ask()).toEqual(meaning(request))
    else {
      const thrown = thrownBy(ask)
      expect(thrown).toMatchObject({ name: 'DialectError', code: 'unsupported' })
      expect(`${thrown.message} ${thrown.param}`).toContain(named)
    }
  })

  test.each(['chat', 'responses'] as const)(
    'of a messages program that wants no thinking asks a %s upstream as one that says nothing of it',
    (upstream) => {
      const request = (more: Body) => dialects.messages.readRequest({ ...conversations.messages, ...more })
      expect(arrives(request({ thinking: { type: 'disabled' } }), dialects[upstream])).toEqual(
        arrives(request({ thinking: undefined }), dialects[upstream]),
      )
    },
  )
})

function thrownBy(act: () => unknown): DialectError {
  try {
    act()
  } catch (thrown) {
    return thrown as DialectError
  }
  throw new Error('nothing was thrown')
}
