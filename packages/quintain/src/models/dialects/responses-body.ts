import type { ModelRequest, Sampling } from '../../core/model.ts'
import type { WireSettings } from '../../core/wire.ts'
import { assertBudget, assertConversation, type RequestBodyOptions } from '../request-body.ts'
import { amendedText } from './amended-text.ts'
import { isFields } from './body-fields.ts'
import { DialectError } from './dialect.ts'
import { itemsOf } from './responses-items.ts'
import { toldFailures } from './told-failures.ts'

/** What an upstream of this dialect cannot be asked. */
function refuse(what: string, param: string): never {
  throw new DialectError(
    'unsupported',
    `This run's model is asked by OpenAI Responses, which cannot say ${what}; leave it out, or run the agent with a model of its own protocol.`,
    param,
  )
}

/** The JSON text of a Responses request. The history in it is whole, and nothing is stored at the provider. */
export function responsesBody(request: ModelRequest, options: RequestBodyOptions): string {
  const { sampling = {}, wire } = request
  assertBudget(sampling.maxTokens)
  if (wire?.dialect === 'responses') return amendedText(amended(request, wire.body, options), wire)
  assertConversation(request)
  if (wire !== undefined) {
    refuseOf(wire.settings)
    if (wire.wants.logprobs || wire.wants.tokenIds) refuse('what each token was', 'logprobs')
  }
  if (sampling.stop !== undefined && sampling.stop.length > 0) refuse('stop sequences', 'stop')
  if (sampling.seed !== undefined) refuse('a seed', 'seed')
  const { tools } = request
  const settings = wire?.settings
  return JSON.stringify({
    model: options.model,
    input: itemsOf(toldFailures(request)),
    ...(tools === undefined || tools.length === 0
      ? {}
      : { tools: tools.map((tool) => ({ type: 'function', ...tool, strict: tool.strict ?? false })) }),
    ...samplingFields(sampling, {}),
    tool_choice:
      typeof settings?.toolChoice === 'object'
        ? { type: 'function', name: settings.toolChoice.tool }
        : settings?.toolChoice,
    parallel_tool_calls: settings?.parallelToolCalls,
    text: settings && textOf(settings),
    include: includes(undefined, sampling, options.model),
    store: false,
    ...(options.stream ? { stream: true } : {}),
    ...sampling.extra,
  })
}

function refuseOf(settings: WireSettings): void {
  const [own] = settings.own
  if (own !== undefined) refuse(own, own)
  if (settings.topK !== undefined) refuse('top_k', 'top_k')
  if (settings.minP !== undefined) refuse('min_p', 'min_p')
  if (settings.frequencyPenalty) refuse('frequency_penalty', 'frequency_penalty')
  if (settings.presencePenalty) refuse('presence_penalty', 'presence_penalty')
  // That there is to be none needs no word where nobody asks for any.
  if ((settings.reasoningTokens ?? 0) > 0) refuse('a budget of reasoning tokens', 'thinking.budget_tokens')
}

/** A program's own body, with what the run and its records need put in. */
function amended(
  request: ModelRequest,
  given: Readonly<Record<string, unknown>>,
  options: RequestBodyOptions,
): Record<string, unknown> {
  const { sampling = {} } = request
  const body: Record<string, unknown> = {
    ...given,
    model: options.model,
    store: false,
    ...samplingFields(sampling, isFields(given['reasoning']) ? given['reasoning'] : {}),
  }
  delete body['previous_response_id']
  if (sampling.stop !== undefined && body['stop'] === undefined) refuse('stop sequences', 'stop')
  if (sampling.seed !== undefined && body['seed'] === undefined) refuse('a seed', 'seed')
  const include = includes(given['include'], sampling, options.model)
  if (include !== undefined) body['include'] = include
  if (options.stream) body['stream'] = true
  else {
    delete body['stream']
    delete body['stream_options']
  }
  return { ...body, ...sampling.extra }
}

function samplingFields(
  sampling: Sampling,
  reasoning: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { temperature, topP, maxTokens, reasoningEffort } = sampling
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxTokens === undefined ? {} : { max_output_tokens: maxTokens }),
    ...(reasoningEffort === undefined ? {} : { reasoning: { ...reasoning, effort: reasoningEffort } }),
  }
}

/** Reasoning can be sent back only with its encrypted content, since nothing is stored at the provider; others refuse to be asked. */
function includes(given: unknown, sampling: Sampling, model: string): unknown[] | undefined {
  const include = new Set<unknown>(Array.isArray(given) ? given : [])
  if (/(^|\/)(o\d|gpt-[5-9])(?!.*-chat)/.test(model)) include.add('reasoning.encrypted_content')
  if (sampling.logprobs === true) include.add('message.output_text.logprobs')
  return include.size === 0 ? undefined : [...include]
}

function textOf({ responseFormat, verbosity }: WireSettings): Record<string, unknown> | undefined {
  if (responseFormat === undefined && verbosity === undefined) return undefined
  return { format: responseFormat && formatOf(responseFormat), verbosity }
}

function formatOf(format: NonNullable<WireSettings['responseFormat']>): Record<string, unknown> {
  if (format.type === 'json') return { type: 'json_object' }
  const { name, schema, strict, description } = format
  return { type: 'json_schema', name, schema, strict, description }
}
