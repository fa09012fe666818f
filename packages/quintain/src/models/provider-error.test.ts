import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { classifyFailure, isRetryableStatus, readProviderError } from './provider-error.ts'

const outcomeOf = (status: number, body: unknown): string | undefined =>
  classifyFailure(status, readProviderError(body)).outcome

describe('context overflow', () => {
  test.each([
    [
      400,
      {
        error: {
          message:
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
          code: 'context_length_exceeded',
        },
      },
    ],
    [400, { error: { message: 'Your input exceeds the context window of this model.', code: null } }],
    [
      400,
      {
        object: 'error',
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        type: 'BadRequestError',
        code: 400,
      },
    ],
    [400, { error: { message: 'max_tokens must be at least 1, got -17.' } }],
    [
      400,
      {
        error: {
          message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
        },
      },
    ],
    [
      400,
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 208310 tokens > 200000 maximum',
        },
      },
    ],
    [
      400,
      { error: { message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000' } },
    ],
    [
      400,
      [
        {
          error: {
            code: 400,
            message:
              'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
            status: 'INVALID_ARGUMENT',
          },
        },
      ],
    ],
    [
      400,
      {
        error: {
          code: 400,
          message: 'the request exceeds the available context size. try increasing the context size',
          type: 'exceed_context_size_error',
        },
      },
    ],
    [
      400,
      {
        message:
          'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
      },
    ],
    [400, { error: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." }],
    [413, { error: { message: 'Please reduce the length of the messages or completion.' } }],
    [
      422,
      {
        error: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000',
        error_type: 'validation',
      },
    ],
    [400, 'ValidationException: Input is too long for requested model.'],
    [400, { error: { message: 'Range of input length should be [1, 30720]' } }],
    [500, { error: { message: 'input length exceeds context length' } }],
  ])('%i %j', (status, body) => {
    expect(outcomeOf(status, body)).toBe('context_overflow')
  })

  test.each([
    [
      400,
      {
        error: {
          message: 'max_tokens is too large: 200000. This model supports at most 16384 completion tokens.',
        },
      },
    ],
    [
      429,
      {
        error: {
          message:
            'Request too large for gpt-4o: Limit 30000 tokens per min, Requested 40000. Please reduce the length of the messages.',
        },
      },
    ],
    [401, { error: { message: 'maximum context length of your plan' } }],
    [503, { error: { message: 'context window cache unavailable, exceeds the context limit' } }],
    [400, { error: { message: 'Invalid value for temperature' } }],
  ])('is not %i %j', (status, body) => {
    expect(outcomeOf(status, body)).toBeUndefined()
  })
})

test.each([
  [
    400,
    {
      error: {
        code: 'content_filter',
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      },
    },
  ],
  [
    400,
    { error: { code: 'data_inspection_failed', message: 'Input data may contain inappropriate content.' } },
  ],
  [
    403,
    {
      error: {
        code: 403,
        message: 'Your chosen model requires moderation and your input was flagged for "violence"',
      },
    },
  ],
  [
    400,
    {
      error: {
        code: 'invalid_prompt',
        message: 'Your prompt was flagged as potentially violating our usage policy.',
      },
    },
  ],
])('a refusal: %i %j', (status, body) => {
  expect(outcomeOf(status, body)).toBe('refused')
})

test('statuses', () => {
  const retried = [
    400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 500, 501, 502, 503, 504, 505, 524, 529,
  ].filter(isRetryableStatus)
  expect(retried).toEqual([408, 409, 425, 429, 500, 502, 503, 504, 524, 529])
})

test('error bodies of any kind are read without a throw, to one line', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.json(), fc.string()), (body) => {
      const { message } = readProviderError(body)
      expect(message).not.toMatch(/[\n\r]/)
      expect(message.length).toBeLessThanOrEqual(300)
    }),
    { numRuns: 1000 },
  )
})
