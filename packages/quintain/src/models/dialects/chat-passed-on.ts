import type { ModelRequest, WireRequest } from '../../core/index.ts'
import { assertBudget, maxTokensField, type RequestBodyOptions } from '../request-body.ts'
import { tokenAsks } from '../token-asks.ts'
import { heededToolChoice } from '../tool-choice.ts'
import { amendedText } from './amended-text.ts'
import { isFields } from './body-fields.ts'

/**
 * The body that a program wrote, as it goes on to a server of the same dialect: unknown fields and the history as they
 * stand, with this client's model, the limits and the sampling of the run, and what the records need.
 */
export function passedOnBody(
  request: ModelRequest & { wire: WireRequest },
  options: RequestBodyOptions,
): string {
  const { sampling = {}, wire } = request
  assertBudget(sampling.maxTokens)
  const body: Record<string, unknown> = { ...wire.body, model: options.model }
  const set = (field: string, value: unknown): void => {
    if (value !== undefined) body[field] = value
  }
  set('temperature', sampling.temperature)
  set('top_p', sampling.topP)
  set('seed', sampling.seed)
  set('reasoning_effort', sampling.reasoningEffort)
  if (sampling.stop !== undefined && !sameStop(body['stop'], sampling.stop)) body['stop'] = sampling.stop
  if (sampling.maxTokens !== undefined) {
    const named = (['max_tokens', 'max_completion_tokens'] as const).filter(
      (field) => typeof body[field] === 'number',
    )
    for (const field of named.length === 0 ? [maxTokensField(options)] : named) {
      const own = body[field]
      body[field] = typeof own === 'number' ? Math.min(own, sampling.maxTokens) : sampling.maxTokens
    }
  }
  capBeside(body, sampling.maxTokens)
  const toolChoice = heededToolChoice(wire.settings.toolChoice, request.tools, options.server)
  if (typeof toolChoice === 'string' && typeof body['tool_choice'] === 'object')
    body['tool_choice'] = toolChoice
  if (sampling.logprobs === true) body['logprobs'] = true
  if (options.tokenIds === true) {
    const { top_logprobs: own } = body
    Object.assign(body, tokenAsks(options.server))
    if (typeof own === 'number') body['top_logprobs'] = own
  }
  Object.assign(body, sampling.extra)
  // What is undefined is not written.
  // One answer is what is recorded; more would be sampled and lost.
  body['n'] = undefined
  if (options.stream) {
    const given = wire.body['stream_options']
    body['stream'] = true
    body['stream_options'] = { ...(isFields(given) ? given : {}), include_usage: true }
  } else {
    body['stream'] = undefined
    body['stream_options'] = undefined
  }
  return amendedText(body, wire)
}

/** Fields of llama.cpp and vLLM that ask for tokens beside `max_tokens`, and past it. */
function capBeside(body: Record<string, unknown>, most: number | undefined): void {
  if (most === undefined) return
  for (const field of ['n_predict', 'min_tokens']) {
    const own = body[field]
    if (typeof own === 'number') body[field] = own < 0 ? most : Math.min(own, most)
  }
}

function sameStop(written: unknown, stop: readonly string[]): boolean {
  if (typeof written === 'string') return stop.length === 1 && stop[0] === written
  return (
    Array.isArray(written) &&
    written.length === stop.length &&
    stop.every((text, index) => written[index] === text)
  )
}
