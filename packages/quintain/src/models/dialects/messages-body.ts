import type { ModelRequest, Sampling } from '../../core/model.ts'
import type { WireSettings } from '../../core/wire.ts'
import { assertBudget, assertConversation, type RequestBodyOptions } from '../request-body.ts'
import { amendedText } from './amended-text.ts'
import { isFields } from './body-fields.ts'
import { DialectError } from './dialect.ts'
import { type Block, turnsOf } from './messages-blocks.ts'

/** Tokens of a reply at most, where nobody has said it: the provider wants a number, and all models of today take this one. */
const usualMaxTokens = 32_000

/** Fewest tokens of thinking that the provider takes. */
const leastThinking = 1_024

/** What an upstream of this dialect cannot be asked. */
function refuse(what: string, param: string): never {
  throw new DialectError(
    'unsupported',
    `This run's model is asked by Anthropic Messages, which cannot say ${what}; leave it out, or run the agent with a model of its own protocol.`,
    param,
  )
}

/** The JSON text of a Messages request. */
export function messagesBody(request: ModelRequest, options: RequestBodyOptions): string {
  const { sampling = {}, wire } = request
  assertBudget(sampling.maxTokens)
  if (sampling.seed !== undefined) refuse('a seed', 'seed')
  if (sampling.logprobs === true || wire?.wants.logprobs === true || wire?.wants.tokenIds === true)
    refuse('what each token was', 'logprobs')
  if (wire?.dialect === 'messages') return amendedText(amended(sampling, wire.body, options), wire)
  assertConversation(request)
  if (wire !== undefined) {
    refuseOf(wire.settings)
    if (request.messages.at(-1)?.role === 'assistant') refuse('a message after its own last one', 'messages')
  }
  const { system, turns } = turnsOf(request.messages)
  const { tools = [] } = request
  return JSON.stringify({
    model: options.model,
    max_tokens: sampling.maxTokens ?? usualMaxTokens,
    ...(system.length === 0 ? {} : { system: systemOf(system) }),
    messages: turns,
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters, strict }) => ({
            name,
            description: description === '' ? undefined : description,
            input_schema: { ...parameters, type: 'object' },
            strict: strict === true ? true : undefined,
          })),
        }),
    ...samplingFields(sampling),
    ...settingsFields(wire?.settings, sampling, tools.length > 0),
    ...(options.stream ? { stream: true } : {}),
    ...sampling.extra,
  })
}

function systemOf(blocks: Block[]): unknown {
  const [only] = blocks
  return blocks.length === 1 && only?.['type'] === 'text' ? only['text'] : blocks
}

function refuseOf(settings: WireSettings): void {
  const [own] = settings.own
  if (own !== undefined) refuse(own, own)
  if (settings.minP !== undefined) refuse('min_p', 'min_p')
  if (settings.frequencyPenalty) refuse('frequency_penalty', 'frequency_penalty')
  if (settings.presencePenalty) refuse('presence_penalty', 'presence_penalty')
  if (settings.verbosity !== undefined) refuse('how much is said', 'verbosity')
  if (settings.responseFormat?.type === 'json') refuse('JSON without a schema', 'response_format')
}

/** A program's own body, with what the run needs put in. */
function amended(
  sampling: Sampling,
  given: Readonly<Record<string, unknown>>,
  options: RequestBodyOptions,
): Record<string, unknown> {
  const { maxTokens, reasoningEffort } = sampling
  const body: Record<string, unknown> = { ...given, model: options.model, ...samplingFields(sampling) }
  if (maxTokens !== undefined) {
    body['max_tokens'] = maxTokens
    if (isFields(given['thinking'])) body['thinking'] = thinkingWithin(given['thinking'], maxTokens)
  }
  if (reasoningEffort !== undefined) {
    const config = isFields(given['output_config']) ? given['output_config'] : {}
    if (config['effort'] !== reasoningEffort)
      body['output_config'] = { ...config, effort: effortOf(reasoningEffort) }
  }
  if (options.stream) body['stream'] = true
  else delete body['stream']
  return { ...body, ...sampling.extra }
}

/** A budget of thinking must leave room for the reply; what the run lowers, it lowers for both. */
function thinkingWithin(
  thinking: Readonly<Record<string, unknown>>,
  maxTokens: number,
): Readonly<Record<string, unknown>> {
  const budget = thinking['budget_tokens']
  if (typeof budget !== 'number' || budget < maxTokens) return thinking
  if (maxTokens <= leastThinking) return { type: 'disabled' }
  return { ...thinking, budget_tokens: Math.max(leastThinking, maxTokens - 1) }
}

function samplingFields(sampling: Sampling): Record<string, unknown> {
  const { temperature, topP, stop } = sampling
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop_sequences: stop }),
  }
}

function settingsFields(
  settings: WireSettings | undefined,
  sampling: Sampling,
  hasTools: boolean,
): Record<string, unknown> {
  const { toolChoice, parallelToolCalls, responseFormat, topK, reasoningTokens } = settings ?? { own: [] }
  const effort = sampling.reasoningEffort
  const off = effort === 'none' || reasoningTokens === 0
  const config = {
    ...(effort === undefined || off ? {} : { effort: effortOf(effort) }),
    ...(responseFormat?.type === 'schema' ? { format: formatOf(responseFormat) } : {}),
  }
  return {
    ...(hasTools ? choiceOf(toolChoice, parallelToolCalls) : {}),
    ...(topK === undefined ? {} : { top_k: topK }),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    ...(off ? { thinking: { type: 'disabled' } } : {}),
    ...(reasoningTokens === undefined || off
      ? {}
      : { thinking: { type: 'enabled', budget_tokens: reasoningTokens } }),
  }
}

/** The word `minimal` is OpenAI's alone. */
function effortOf(effort: string): string {
  return effort === 'minimal' ? 'low' : effort
}

function formatOf(format: { schema: Record<string, unknown>; description?: string }): Block {
  const { schema, description } = format
  const said = description === undefined || schema['description'] !== undefined ? {} : { description }
  return { type: 'json_schema', schema: { ...said, ...schema } }
}

function choiceOf(
  choice: WireSettings['toolChoice'],
  parallel: boolean | undefined,
): Record<string, unknown> {
  if (choice === undefined && parallel !== false) return {}
  const alone = parallel === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {}
  if (typeof choice === 'object') return { tool_choice: { type: 'tool', name: choice.tool, ...alone } }
  return { tool_choice: { type: choice === 'required' ? 'any' : (choice ?? 'auto'), ...alone } }
}
