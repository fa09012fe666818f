import type { ModelAddress, ModelHandle } from '../core/index.ts'
import { aiLanguageModel } from './ai-sdk/language-model.ts'
import type { AiLanguageModel } from './ai-sdk/types.ts'
import { Echoes } from './echoes.ts'
import { anthropicRolloutBaseURL, modelFetch, rolloutBaseURL } from './model-fetch.ts'
import { type AgentsModelProvider, agentsModelProvider } from './openai-agents/model-provider.ts'

/**
 * The model of a rollout, in whatever form an agent takes one. It is itself a language model of the AI SDK
 * (`LanguageModelV3`, which `ai` 6 and 7 take); `v4` is the same as `LanguageModelV4`.
 *
 * `baseURL`, `apiKey`, `model` and `fetch` are for other SDKs, together: without `fetch` that base URL leads nowhere.
 * A client without a `fetch` of its own takes the fields of `await address()`.
 */
export interface AgentModel extends AiLanguageModel<'v3'> {
  readonly v4: AiLanguageModel<'v4'>
  /** For OpenAI's SDK and what is built on it. */
  readonly baseURL: string
  /** For Anthropic's SDK. */
  readonly anthropicBaseURL: string
  readonly apiKey: string
  readonly model: string
  readonly fetch: typeof globalThis.fetch
  /** For `@openai/agents`: `new Runner({ modelProvider: model.openaiAgents })`. */
  readonly openaiAgents: AgentsModelProvider
  /** Opens the model at the run's gateway, for programs and for clients that take a URL only. Throws `needs_unmet` without a model. */
  address(): Promise<ModelAddress>
}

export function agentModel(handle: ModelHandle): AgentModel {
  const seat = { handle, echoes: new Echoes() }
  const address = () => handle.address()
  let v4: AiLanguageModel<'v4'> | undefined
  let openaiAgents: AgentsModelProvider | undefined
  return {
    ...aiLanguageModel('v3', seat),
    get v4() {
      v4 ??= aiLanguageModel('v4', seat)
      return v4
    },
    baseURL: rolloutBaseURL,
    anthropicBaseURL: anthropicRolloutBaseURL,
    apiKey: 'quintain',
    model: handle.id,
    fetch: modelFetch(address),
    get openaiAgents() {
      openaiAgents ??= agentsModelProvider(seat)
      return openaiAgents
    },
    address,
  }
}
