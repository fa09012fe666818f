import type { Model } from './core/index.ts'
import { type ChatModelOptions, createChatModel, createLimiter } from './models/index.ts'

/** The endpoint that is used when none is named. */
const defaultBaseUrl = 'https://api.openai.com/v1'

/**
 * A model by name at an OpenAI-compatible endpoint. The address is `baseUrl`, else `OPENAI_BASE_URL`; the key is in the
 * variable `apiKeyEnv`, else `OPENAI_API_KEY`, and goes nowhere but to that address.
 */
export function modelFromEnvironment(
  name: string,
  options: Omit<ChatModelOptions, 'model' | 'apiKey'> & {
    apiKeyEnv?: string | undefined
    environment?: Readonly<Record<string, string | undefined>>
  } = {},
): Model {
  const { apiKeyEnv, environment = process.env, ...rest } = options
  const apiKey = environment[apiKeyEnv ?? 'OPENAI_API_KEY']
  return createChatModel({
    limiter: createLimiter(),
    ...rest,
    model: name,
    baseUrl: options.baseUrl ?? environment['OPENAI_BASE_URL'] ?? defaultBaseUrl,
    ...(apiKey === undefined || apiKey === '' ? {} : { apiKey }),
  })
}
