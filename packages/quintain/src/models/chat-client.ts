import type { Model } from '../core/model.ts'
import { createModel, type ModelClientOptions } from './model-client.ts'

/** What a client of a certain dialect takes. */
export type ChatModelOptions = Omit<ModelClientOptions, 'dialect'>

/**
 * A model behind any endpoint that speaks OpenAI's chat completions (OpenAI, vLLM, SGLang, llama.cpp, gateways). As
 * `createModel`.
 *
 * @example
 * const model = createChatModel({ model: 'qwen3-8b', baseUrl: 'http://127.0.0.1:8000/v1', server: 'vllm' })
 * const reply = await model.generate({ messages }, { signal })
 */
export function createChatModel(options: ChatModelOptions): Model {
  return createModel({ ...options, dialect: 'chat' })
}

/**
 * A model behind an endpoint that speaks OpenAI's Responses. As `createModel`.
 *
 * @example
 * const model = createResponsesModel({ model: 'gpt-5-mini', baseUrl: 'https://api.openai.com/v1', apiKey })
 */
export function createResponsesModel(options: ChatModelOptions): Model {
  return createModel({ ...options, dialect: 'responses' })
}

/**
 * A model behind an endpoint that speaks Anthropic's Messages. As `createModel`.
 *
 * @example
 * const model = createMessagesModel({ model: 'claude-sonnet-4', baseUrl: 'https://api.anthropic.com/v1', apiKey })
 */
export function createMessagesModel(options: ChatModelOptions): Model {
  return createModel({ ...options, dialect: 'messages' })
}
