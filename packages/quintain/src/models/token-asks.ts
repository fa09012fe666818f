import type { ModelRequest } from '../core/model.ts'

/** A server whose extras are known. All of them speak Chat Completions. */
export type ServerKind = 'vllm' | 'sglang' | 'llama.cpp'

/**
 * What is asked of a server so that a reply brings the ids that were sampled, beside log-probabilities:
 *
 * - vLLM: `prompt_token_ids` of the body and `token_ids` of the choice, streamed too.
 * - SGLang from 0.5.13: `prompt_token_ids` and `meta_info.output_token_logprobs` of the choice, in whole replies only.
 * - llama.cpp: `id` beside each log-probability, not in the stream of a request with tools. It tells 20 alternatives of
 *   each token unless it is told how many, and the ids of the prompt when it is asked for those (`llamaPromptIds`).
 */
const asks: Readonly<Record<ServerKind, Readonly<Record<string, unknown>>>> = {
  vllm: { logprobs: true, return_token_ids: true },
  sglang: { logprobs: true, return_meta_info: true, return_prompt_token_ids: true },
  'llama.cpp': { logprobs: true, top_logprobs: 1 },
}

/** Fields that ask for token ids; a server that nobody knows is asked in the manner of vLLM. */
export function tokenAsks(server: ServerKind | undefined): Readonly<Record<string, unknown>> {
  return asks[server ?? 'vllm']
}

/** Whether a streamed reply may be asked for token ids; the servers that say no refuse the request. */
export function streamsTokenIds(server: ServerKind | undefined, request: ModelRequest): boolean {
  if (server === 'llama.cpp') return request.tools === undefined || request.tools.length === 0
  return server !== 'sglang'
}

/** Whether what a server says against a request is said of the fields that ask for token ids. */
export function objectsToAsks(message: string, server: ServerKind | undefined): boolean {
  return Object.keys(tokenAsks(server)).some((field) => message.includes(field))
}
