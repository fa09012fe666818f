import { describe, expect, test } from 'vitest'
import { ModelFault, type ModelRequest, type WireRequest, type WireSettings } from '../../core/index.ts'
import type { RequestBodyOptions } from '../request-body.ts'
import { chatDialect } from './chat.ts'
import { DialectError } from './dialect.ts'

const minimal = { model: 'asked-for', messages: [{ role: 'user', content: 'hello' }] }

/** What a server gets when a program sends `body`, with `sampling` as the seat hands it on. */
function sent(
  body: object,
  options: Partial<RequestBodyOptions> = {},
  sampling: ModelRequest['sampling'] = {},
): Record<string, unknown> {
  const request = chatDialect.readRequest({ ...minimal, ...body })
  const merged = { ...request, sampling: { ...request.sampling, ...sampling } }
  return JSON.parse(
    chatDialect.requestBody(merged, { model: 'policy', stream: false, ...options }),
  ) as Record<string, unknown>
}

describe('a body of this dialect goes on as it was written', () => {
  test('with the name of this model, and what nobody knows in it', () => {
    const body = {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'hi', mood: 'good' },
      ],
      tools: [
        { type: 'function', function: { name: 'f', parameters: {} }, cache_control: { type: 'ephemeral' } },
      ],
      stop: 'END',
      chat_template_kwargs: { enable_thinking: false },
      unheard_of: { deep: [1] },
    }
    expect(sent({ ...body, n: 1, stream: false })).toEqual({ ...body, model: 'policy' })
  })

  test.each([
    [{ max_tokens: 100 }, { max_tokens: 10 }],
    [{ max_completion_tokens: 100 }, { max_completion_tokens: 10 }],
    [{ max_completion_tokens: 5 }, { max_completion_tokens: 5 }],
    [
      { max_completion_tokens: 100, max_tokens: 4 },
      { max_completion_tokens: 10, max_tokens: 4 },
    ],
    [{}, { max_tokens: 10 }],
    [
      { max_tokens: 100, n_predict: -1, min_tokens: 50 },
      { max_tokens: 10, n_predict: 10, min_tokens: 10 },
    ],
    [{ n_predict: 4 }, { max_tokens: 10, n_predict: 4 }],
  ])('%j has its limit lowered in its own field', (body, expected) => {
    expect(sent(body, {}, { maxTokens: 10 })).toEqual({ ...minimal, ...expected, model: 'policy' })
  })

  test('and is left alone where nobody limits it further', () => {
    const limits = { max_completion_tokens: 100, max_tokens: 4 }
    expect(sent(limits)).toEqual({ ...minimal, ...limits, model: 'policy' })
  })

  test('and takes the sampling of the run', () => {
    const run = { temperature: 1, topP: 0.5, seed: 2, stop: ['A'], extra: { top_k: 5 } }
    expect(sent({ temperature: 0, stop: 'B' }, {}, run)).toMatchObject({
      temperature: 1,
      top_p: 0.5,
      seed: 2,
      stop: ['A'],
      top_k: 5,
    })
  })

  test('and asks for usage where it is streamed, whether or not the program does', () => {
    expect(sent({ stream: true }, { stream: true })).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
    const own = { stream: true, stream_options: { include_usage: false, include_obfuscation: false } }
    expect(sent(own, { stream: true })['stream_options']).toEqual({
      include_usage: true,
      include_obfuscation: false,
    })
    expect(sent(own)).toEqual({ ...minimal, model: 'policy' })
  })

  test.each([
    ['vllm', { logprobs: true, return_token_ids: true }],
    ['sglang', { logprobs: true, return_meta_info: true, return_prompt_token_ids: true }],
    ['llama.cpp', { logprobs: true, top_logprobs: 1 }],
  ] as const)('and asks %s for what was sampled', (server, asks) => {
    expect(sent({}, { server, tokenIds: true })).toEqual({ ...minimal, ...asks, model: 'policy' })
    expect(sent({ logprobs: true, top_logprobs: 7 }, { server, tokenIds: true })['top_logprobs']).toBe(7)
    expect(sent({}, { server })).toEqual({ ...minimal, model: 'policy' })
  })
})

test('a limit that leaves no token is never sent', () => {
  for (const maxTokens of [0, -3]) {
    expect(() => sent({}, {}, { maxTokens })).toThrow(ModelFault)
    const request: ModelRequest = { messages: [{ role: 'user', content: 'x' }], sampling: { maxTokens } }
    expect(() => chatDialect.requestBody(request, { model: 'm', stream: false })).toThrow(ModelFault)
  }
})

describe('a request of another dialect is written in the words of this one', () => {
  const messages: ModelRequest['messages'] = [{ role: 'user', content: 'hello' }]

  function written(
    settings: Partial<WireSettings>,
    options: Partial<RequestBodyOptions> = {},
  ): Record<string, unknown> {
    const wire: WireRequest = {
      dialect: 'messages',
      body: {},
      stream: false,
      settings: { own: [], ...settings },
      wants: { logprobs: false, tokenIds: false, usage: false },
    }
    return JSON.parse(
      chatDialect.requestBody({ messages, wire }, { model: 'm', stream: false, ...options }),
    ) as Record<string, unknown>
  }

  test.each<[Partial<WireSettings>, object]>([
    [{ toolChoice: 'required' }, { tool_choice: 'required' }],
    [{ toolChoice: { tool: 'f' } }, { tool_choice: { type: 'function', function: { name: 'f' } } }],
    [{ parallelToolCalls: false }, { parallel_tool_calls: false }],
    [{ responseFormat: { type: 'json' } }, { response_format: { type: 'json_object' } }],
    [
      { responseFormat: { type: 'schema', name: 's', schema: { type: 'object' }, strict: true } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 's', schema: { type: 'object' }, strict: true },
        },
      },
    ],
    [{ presencePenalty: 0.5 }, { presence_penalty: 0.5 }],
  ])('%j', (settings, expected) => {
    expect(written(settings)).toEqual({ model: 'm', messages, ...expected })
  })

  test.each<[Partial<WireSettings>, string]>([
    [{ own: ['context_management'] }, 'context_management'],
    [{ topK: 5 }, 'top_k'],
    [{ reasoningTokens: 1024 }, 'reasoning tokens'],
  ])('%j cannot be said', (settings, name) => {
    expect(() => written(settings)).toThrow(DialectError)
    expect(() => written(settings)).toThrow(name)
  })

  test('servers with more words are told more', () => {
    expect(written({ topK: 5, minP: 0.1, reasoningTokens: 64 }, { server: 'vllm' })).toMatchObject({
      top_k: 5,
      min_p: 0.1,
      thinking_token_budget: 64,
    })
    expect(() => written({ reasoningTokens: 64 }, { server: 'llama.cpp' })).toThrow(DialectError)
    expect(written({ reasoningTokens: 0 }, { server: 'vllm' })).toMatchObject({ thinking_token_budget: 0 })
    expect(written({ reasoningTokens: 0 })).toEqual({ model: 'm', messages })
  })

  test("a broken conversation is the program's to mend, and an image goes by its address", () => {
    const wire: WireRequest = {
      dialect: 'messages',
      body: {},
      stream: false,
      settings: { own: [] },
      wants: { logprobs: false, tokenIds: false, usage: false },
    }
    const broken: ModelRequest = { messages: [{ role: 'tool', toolCallId: 'x', content: '' }], wire }
    expect(() => chatDialect.requestBody(broken, { model: 'm', stream: false })).toThrow(DialectError)
    const image: ModelRequest = {
      messages: [
        { role: 'user', content: [{ type: 'image', mediaType: 'image/*', url: 'https://a.example/b' }] },
      ],
    }
    expect(chatDialect.requestBody(image, { model: 'm', stream: false })).toContain(
      '"image_url":{"url":"https://a.example/b"}',
    )
  })
})
