import type { JsonSchema, ModelRequest, WireSettings } from '../core/index.ts'
import { buildRequestBody } from '../models/index.ts'
import { defined } from './defined.ts'

/**
 * A request with settings beyond sampling, such as a forced tool. They travel as a program's request does, so that an
 * upstream that cannot honour one says so and none is dropped in silence.
 */
export function withSettings(
  request: ModelRequest,
  settings: Omit<WireSettings, 'own'>,
  model: string,
): ModelRequest {
  if (Object.keys(settings).length === 0) return request
  const wire = { ...settings, own: [] }
  return {
    ...request,
    wire: {
      dialect: 'chat',
      body: chatBody(request, wire, model),
      stream: false,
      settings: wire,
      wants: { logprobs: false, tokenIds: false, usage: true },
    },
  }
}

/** The request as a chat completion, for an upstream that is asked in that dialect. */
function chatBody(request: ModelRequest, settings: WireSettings, model: string): Record<string, unknown> {
  const { toolChoice: choice, responseFormat: format } = settings
  return defined({
    ...JSON.parse(buildRequestBody(request, { model, stream: false })),
    tool_choice: typeof choice === 'object' ? { type: 'function', function: { name: choice.tool } } : choice,
    response_format:
      format === undefined
        ? undefined
        : format.type === 'json'
          ? { type: 'json_object' }
          : {
              type: 'json_schema',
              json_schema: defined({
                name: format.name,
                schema: format.schema,
                description: format.description,
                strict: format.strict,
              }),
            },
    parallel_tool_calls: settings.parallelToolCalls,
    top_k: settings.topK,
    frequency_penalty: settings.frequencyPenalty,
    presence_penalty: settings.presencePenalty,
  })
}

/** A JSON Schema as frameworks hand it over; any object where they gave none. */
export function asSchema(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? { ...value } : { type: 'object', properties: {} }
}
