import {
  type ModelContext,
  ModelFault,
  type ModelResponse,
  type ResolvedLimits,
} from '../../packages/quintain/src/core/index.ts'

/** What an SDK made of a reply or an error, as `sdks/ask.mts` gives it. */
export type Seen = Record<string, unknown>

const usage = { fresh: 10, cacheRead: 0, cacheWrite: 0, output: 5 }
const seenUsage = { input: 10, output: 5 }

export interface SdkCase {
  name: string
  /** What the model does. */
  answer(context: ModelContext): Promise<ModelResponse>
  limits?: ResolvedLimits
  /** What an SDK must make of it: these fields, and for an error no other. */
  seen(sdk: string): Seen
  /** Only a stream can break. */
  streamOnly?: true
  /** SDKs that are not asked. */
  without?: RegExp
}

const fault = (code: string, outcome?: 'context_overflow') =>
  new ModelFault(
    { owner: 'provider', stage: 'model', code, message: 'it is down', retryable: true },
    outcome === undefined ? {} : { outcome },
  )

/** The word of each dialect for a reply that ended, in the order: chat, Responses, Messages, AI SDK. */
function finishOf(
  sdk: string,
  [chat, responses, messages, ai]: readonly [string, string, string, string],
): string {
  if (sdk.startsWith('@ai-sdk')) return ai
  if (sdk.startsWith('@anthropic')) return messages
  return sdk.endsWith('responses') ? responses : chat
}

export const sdkCases: readonly SdkCase[] = [
  {
    name: 'text',
    async answer({ onDelta }) {
      await onDelta?.({ type: 'text', text: 'It is ' })
      await onDelta?.({ type: 'text', text: 'fine. ☀️' })
      return { message: { role: 'assistant', content: 'It is fine. ☀️' }, finish: 'stop', usage }
    },
    seen: (sdk) => ({
      text: 'It is fine. ☀️',
      calls: [],
      finish: finishOf(sdk, ['stop', 'completed', 'end_turn', 'stop']),
      usage: seenUsage,
    }),
  },
  {
    name: 'two tool calls after a word',
    async answer({ onDelta }) {
      await onDelta?.({ type: 'text', text: 'Wait.' })
      for (const [call, city] of ['Rome', 'Oslo'].entries()) {
        await onDelta?.({ type: 'call', call, id: `call_${call}`, name: 'weather' })
        await onDelta?.({ type: 'arguments', call, text: '{"city":' })
        await onDelta?.({ type: 'arguments', call, text: `"${city}"}` })
      }
      const toolCalls = ['Rome', 'Oslo'].map((city, i) => ({
        id: `call_${i}`,
        name: 'weather',
        arguments: `{"city":"${city}"}`,
      }))
      return { message: { role: 'assistant', content: 'Wait.', toolCalls }, finish: 'tool_calls', usage }
    },
    seen: (sdk) => ({
      text: 'Wait.',
      calls: ['Rome', 'Oslo'].map((city) => ({ name: 'weather', arguments: { city } })),
      finish: finishOf(sdk, ['tool_calls', 'completed', 'tool_use', 'tool-calls']),
      usage: seenUsage,
    }),
  },
  {
    name: 'a reply that was cut',
    async answer({ onDelta }) {
      await onDelta?.({ type: 'text', text: 'It' })
      return { message: { role: 'assistant', content: 'It' }, finish: 'length', usage }
    },
    seen: (sdk) => ({
      text: 'It',
      calls: [],
      finish: finishOf(sdk, ['length', 'max_output_tokens', 'max_tokens', 'length']),
      usage: seenUsage,
    }),
  },
  {
    name: 'a limit',
    answer: () => Promise.reject(new Error('no model is asked beyond a limit')),
    limits: { turns: 0 },
    seen: (sdk) => ({
      status: 403,
      code: sdk.startsWith('@anthropic') ? 'permission_error' : 'turn_limit',
    }),
  },
  {
    name: 'a history that does not fit',
    answer: () => Promise.reject(fault('context_overflow', 'context_overflow')),
    seen: (sdk) => ({
      status: 400,
      code: sdk.startsWith('@anthropic') ? 'invalid_request_error' : 'context_length_exceeded',
    }),
  },
  {
    name: 'a provider that is down',
    answer: () => Promise.reject(fault('http_500')),
    seen: (sdk) => ({ status: 502, code: sdk.startsWith('@anthropic') ? 'api_error' : 'http_500' }),
    // It tries every status from 500 again, whatever `x-should-retry` says.
    without: /^@ai-sdk/,
  },
  {
    name: 'a stream that breaks',
    async answer({ onDelta }) {
      await onDelta?.({ type: 'text', text: 'It is ' })
      throw fault('stream_incomplete')
    },
    // However an SDK says it: it is an error, and not a reply.
    seen: () => ({}),
    streamOnly: true,
  },
]
