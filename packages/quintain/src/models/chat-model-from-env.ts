import { QuintainError } from '../core/errors.ts'
import type { Model } from '../core/model.ts'
import type { DialectName } from '../core/wire.ts'
import type { ChatModelOptions } from './chat-client.ts'
import { createLimiter } from './limiter.ts'
import { createModel } from './model-client.ts'
import type { PriceTable } from './prices.ts'
import { createReplicas } from './replicas.ts'
import type { ServerKind } from './token-asks.ts'

export const serverKinds = ['vllm', 'sglang', 'llama.cpp'] as const satisfies readonly ServerKind[]

/** Where a dialect's endpoint and key come from, when nothing else says it. */
interface Surroundings {
  dialect: DialectName
  publicEndpoint: string
  baseUrl: string
  apiKey: string
}

const openAi = {
  publicEndpoint: 'https://api.openai.com/v1',
  baseUrl: 'OPENAI_BASE_URL',
  apiKey: 'OPENAI_API_KEY',
}

/** By the word before the colon of a name; any other name is all of a model's, and that of a chat endpoint. */
const byPrefix: Readonly<Record<string, Surroundings>> = {
  'openai-compatible': { dialect: 'chat', ...openAi },
  responses: { dialect: 'responses', ...openAi },
  anthropic: {
    dialect: 'messages',
    publicEndpoint: 'https://api.anthropic.com/v1',
    baseUrl: 'ANTHROPIC_BASE_URL',
    apiKey: 'ANTHROPIC_API_KEY',
  },
}

/** Whether a name says in which protocol its model is asked, as the ids of models that `chatModelFromEnv` makes do. */
export function namesProtocol(name: string): boolean {
  return Object.hasOwn(byPrefix, name.slice(0, Math.max(0, name.indexOf(':'))))
}

/**
 * A model whose endpoint and key come from environment variables. `name` says which protocol it is asked in, and may be
 * the id of an earlier model, as runs record it:
 *
 * - `gpt-4.1-mini`, `openai-compatible:gpt-4.1-mini`: Chat Completions; `OPENAI_BASE_URL` (OpenAI's own when absent) and
 *   `OPENAI_API_KEY`.
 * - `responses:gpt-5-mini`: OpenAI's Responses; the same variables.
 * - `anthropic:claude-sonnet-4`: Anthropic's Messages; `ANTHROPIC_BASE_URL` (Anthropic's own when absent; with or without
 *   `/v1`, as Anthropic's packages take it) and `ANTHROPIC_API_KEY`.
 *
 * Throws `provider_unconfigured` when the public endpoint, or a key variable that was named, is wanted and no key is set.
 *
 * @example const model = chatModelFromEnv('gpt-4.1-mini')
 */
export function chatModelFromEnv(
  name: string,
  options: {
    env?: Readonly<Record<string, string | undefined>>
    /** Goes before the variables. Several are replicas of one server, over which attempts are spread (`createReplicas`). */
    baseUrl?: string | readonly string[]
    /** What stands behind a chat endpoint: `vllm`, `sglang` or `llama.cpp`, which is then asked for token ids. */
    server?: ServerKind
    /** The variable that holds the key; the dialect's own when absent. */
    apiKeyEnv?: string
    /** Most calls at once. */
    concurrency?: number
    /** Settings of the client that no variable holds. Prices may name the model as `name` does. */
    client?: Omit<ChatModelOptions, 'model' | 'baseUrl' | 'apiKey'>
  } = {},
): Model {
  const { dialect, publicEndpoint, model, ...variables } = surroundingsOf(name)
  const env = options.env ?? process.env
  const baseUrls = [options.baseUrl ?? endpointOf(env[variables.baseUrl] || publicEndpoint, dialect)].flat()
  const variable = options.apiKeyEnv ?? variables.apiKey
  const apiKey = env[variable] || undefined
  if (apiKey === undefined && (options.apiKeyEnv !== undefined || baseUrls.includes(publicEndpoint))) {
    const baseUrl = baseUrls.join(', ')
    throw new QuintainError(
      'provider_unconfigured',
      `There is no key for ${baseUrl}: ${variable} is not set. Set it, set ${variables.baseUrl} to a server of your own, or run a policy that needs no key (script:oracle).`,
      { facts: { variable, baseUrl } },
    )
  }
  const { concurrency, client } = options
  const server = serverOf(options.server, name, dialect)
  const models = baseUrls.map((baseUrl) =>
    createModel({
      limiter: createLimiter(
        concurrency === undefined ? {} : { initial: Math.min(64, concurrency), max: concurrency },
      ),
      ...(concurrency === undefined ? {} : { connections: concurrency }),
      // Another replica is at hand.
      ...(baseUrls.length === 1 ? {} : { retry: { maxRetries: 1 } }),
      ...(server === undefined ? {} : { server }),
      ...client,
      ...(client?.prices === undefined ? {} : { prices: pricesByModel(client.prices) }),
      dialect,
      model,
      baseUrl,
      apiKey,
    }),
  )
  return models.length === 1 ? models[0]! : createReplicas(models)
}

/** Only chat endpoints have the extras by which servers tell what was sampled. Throws `options_invalid`. */
function serverOf(
  server: ServerKind | undefined,
  name: string,
  dialect: DialectName,
): ServerKind | undefined {
  if (server === undefined || (dialect === 'chat' && serverKinds.includes(server))) return server
  const message =
    dialect === 'chat'
      ? `There is no kind of server "${server}"; write one of ${serverKinds.join(', ')}.`
      : `${name} is not asked by Chat Completions, and ${server} tells of tokens there only.`
  throw new QuintainError('options_invalid', message, { facts: { option: 'server', server } })
}

function surroundingsOf(name: string): Surroundings & { model: string } {
  const colon = name.indexOf(':')
  const prefix = name.slice(0, Math.max(0, colon))
  return Object.hasOwn(byPrefix, prefix)
    ? { ...byPrefix[prefix]!, model: name.slice(colon + 1) }
    : { dialect: 'chat', ...openAi, model: name }
}

/** Anthropic's packages put `/v1` behind the base URL themselves, so that it is often left out. */
function endpointOf(baseUrl: string, dialect: DialectName): string {
  return dialect === 'messages' && !/\/v1\/*$/.test(baseUrl) ? `${baseUrl.replace(/\/+$/, '')}/v1` : baseUrl
}

function pricesByModel(prices: PriceTable): PriceTable {
  return Object.fromEntries(
    Object.entries(prices).map(([name, price]) => [surroundingsOf(name).model, price]),
  )
}
