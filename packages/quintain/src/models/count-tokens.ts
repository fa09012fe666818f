import type { ModelRequest } from '../core/model.ts'
import type { Dialect } from './dialects/dialect.ts'
import type { Exchanged } from './exchange.ts'
import type { RequestBodyOptions } from './request-body.ts'
import type { ServerKind } from './token-asks.ts'

/** Fields of a Messages request that its counting takes; it refuses any other. */
const countedOfMessages = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'cache_control'],
])

/** Fields of a chat request that say what the prompt is, as vLLM's `/tokenize` takes them; llama.cpp takes any. */
const countedOfChat = new Set([
  ...['model', 'messages', 'tools', 'chat_template', 'chat_template_kwargs', 'add_generation_prompt'],
  ...['continue_final_message', 'add_special_tokens', 'mm_processor_kwargs'],
])

/**
 * How many tokens the prompt of a request has, as the server counts it: Anthropic's `/messages/count_tokens`, vLLM's
 * `/tokenize`, llama.cpp's `/chat/completions/input_tokens`. Undefined where the server has no way to say it, or says none.
 */
export async function countTokens(
  request: ModelRequest,
  endpoint: {
    dialect: Dialect
    bodyOptions: RequestBodyOptions
    /** Path of the base URL. */
    base: string
    send(path: string, body: Buffer): Promise<Exchanged>
  },
): Promise<number | undefined> {
  const { dialect, bodyOptions, base, send } = endpoint
  const way = wayOf(dialect, bodyOptions.server, base)
  if (way === undefined) return undefined
  const whole = JSON.parse(dialect.requestBody(request, bodyOptions)) as Record<string, unknown>
  const asked = Object.fromEntries(Object.entries(whole).filter(([field]) => way.fields.has(field)))
  const { status, text } = await send(way.path, Buffer.from(JSON.stringify(asked)))
  if (status !== 200) return undefined
  return numberIn(text, way.count)
}

/** Where a count is asked for, with which fields of the request, and the field that says it. */
function wayOf({ name, path }: Dialect, server: ServerKind | undefined, base: string) {
  if (name === 'messages')
    return { path: `${base}${path}/count_tokens`, fields: countedOfMessages, count: 'input_tokens' }
  if (name !== 'chat') return undefined
  if (server === 'llama.cpp')
    return { path: `${base}${path}/input_tokens`, fields: countedOfChat, count: 'input_tokens' }
  if (server === 'vllm')
    return { path: `${base.replace(/\/v1$/, '')}/tokenize`, fields: countedOfChat, count: 'count' }
  return undefined
}

function numberIn(text: string, field: string): number | undefined {
  try {
    const value = (JSON.parse(text) as Record<string, unknown> | null)?.[field]
    return Number.isSafeInteger(value) ? (value as number) : undefined
  } catch {
    return undefined
  }
}
