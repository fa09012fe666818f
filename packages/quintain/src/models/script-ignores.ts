import { textOf } from '../core/message.ts'
import type { ModelRequest, ModelResponse } from '../core/model.ts'
import type { WireSettings } from '../core/wire.ts'

/** A reply whose tokens nobody counts has a token for four characters or so; only what is surely longer is said to be. */
const mostCharsOfToken = 16

/**
 * Flags for what a program asked of its model and a script did not heed: a script says what it was written to say. None
 * for what it happens to keep to.
 */
export function ignoredSettings(
  { wire, sampling = {} }: ModelRequest,
  { message }: Pick<ModelResponse, 'message'>,
): string[] {
  if (wire === undefined) return []
  const { toolChoice, parallelToolCalls, responseFormat } = wire.settings
  const { stop = [], maxTokens = Infinity, logprobs } = sampling
  const text = textOf(message.content)
  const names = (message.toolCalls ?? []).map(({ name }) => name)
  const ignored = [
    ['tool_choice', !heeds(toolChoice, names)],
    ['parallel_tool_calls', parallelToolCalls === false && names.length > 1],
    ['response_format', responseFormat !== undefined && names.length === 0 && !isJsonObject(text)],
    ['stop', stop.some((mark) => mark !== '' && text.includes(mark))],
    ['max_tokens', text.length > maxTokens * mostCharsOfToken],
    ['logprobs', logprobs === true || wire.wants.logprobs || wire.wants.tokenIds],
  ] as const
  return ignored.flatMap(([setting, is]) => (is ? [`script_ignores:${setting}`] : []))
}

function heeds(choice: WireSettings['toolChoice'], names: readonly string[]): boolean {
  if (choice === undefined || choice === 'auto') return true
  if (choice === 'none') return names.length === 0
  if (choice === 'required') return names.length > 0
  return names.length > 0 && names.every((name) => name === choice.tool)
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
