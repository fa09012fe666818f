import { QuintainError } from '../core/errors.ts'
import type { Model } from '../core/model.ts'
import { type ChatModelOptions, createChatModel } from './chat-client.ts'
import { createLimiter } from './limiter.ts'

const publicEndpoint = 'https://api.openai.com/v1'

/**
 * A chat model whose endpoint and key come from environment variables: `OPENAI_BASE_URL` (OpenAI's own when absent) and
 * `OPENAI_API_KEY`. `name` may be the id of an earlier model (`openai-compatible:…`), as runs record it.
 *
 * Throws `provider_unconfigured` when the public endpoint, or a key variable that was named, is wanted and no key is set.
 *
 * @example const model = chatModelFromEnv('gpt-4.1-mini')
 */
export function chatModelFromEnv(
  name: string,
  options: {
    env?: Readonly<Record<string, string | undefined>>
    baseUrl?: string
    /** The variable that holds the key; `OPENAI_API_KEY` when absent. */
    apiKeyEnv?: string
    /** Most calls at once. */
    concurrency?: number
    /** Settings of the client that no variable holds. */
    client?: Omit<ChatModelOptions, 'model' | 'baseUrl' | 'apiKey'>
  } = {},
): Model {
  const env = options.env ?? process.env
  const baseUrl = options.baseUrl ?? (env['OPENAI_BASE_URL'] || publicEndpoint)
  const variable = options.apiKeyEnv ?? 'OPENAI_API_KEY'
  const apiKey = env[variable] || undefined
  if (apiKey === undefined && (options.apiKeyEnv !== undefined || baseUrl === publicEndpoint)) {
    throw new QuintainError(
      'provider_unconfigured',
      `There is no key for ${baseUrl}: ${variable} is not set. Set it, set OPENAI_BASE_URL to a server of your own, or run a policy that needs no key (script:oracle).`,
      { facts: { variable, baseUrl } },
    )
  }
  const { concurrency } = options
  return createChatModel({
    limiter: createLimiter(
      concurrency === undefined ? {} : { initial: Math.min(64, concurrency), max: concurrency },
    ),
    ...(concurrency === undefined ? {} : { connections: concurrency }),
    ...options.client,
    model: name.replace(/^openai-compatible:/, ''),
    baseUrl,
    apiKey,
  })
}
