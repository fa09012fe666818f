import type { ModelRequest, Sampling, WireSettings } from '../../core/index.ts'
import { defined } from '../defined.ts'
import type { Echoes } from '../echoes.ts'
import { asSchema, withSettings } from '../with-settings.ts'
import { readPrompt } from './read-prompt.ts'
import type { AiCallOptions, AiWarning } from './types.ts'

/** A call of the AI SDK as a request, and what of it cannot be asked. Throws as `readPrompt`. */
export function readOptions(
  options: AiCallOptions,
  context: { echoes: Echoes; model: string },
): { request: ModelRequest; warnings: AiWarning[] } {
  const warnings: AiWarning[] = []
  const tools = (options.tools ?? []).flatMap(({ type, name, description = '', inputSchema, strict }) => {
    if (type === 'function')
      return [
        { name, description, parameters: asSchema(inputSchema), ...(strict === undefined ? {} : { strict }) },
      ]
    warnings.push({ type: 'unsupported', feature: `provider-defined tool ${name}` })
    return []
  })
  const request: ModelRequest = { messages: readPrompt(options.prompt, context.echoes) }
  if (tools.length > 0) request.tools = tools
  const sampling = readSampling(options)
  if (Object.keys(sampling).length > 0) request.sampling = sampling
  return { request: withSettings(request, readSettings(options), context.model), warnings }
}

function readSampling(options: AiCallOptions): Sampling {
  const extra = options.providerOptions?.['quintain']
  return defined({
    temperature: options.temperature,
    topP: options.topP,
    maxTokens: options.maxOutputTokens,
    stop: options.stopSequences?.length ? options.stopSequences : undefined,
    seed: options.seed,
    reasoningEffort: options.reasoning === 'provider-default' ? undefined : options.reasoning,
    extra: typeof extra === 'object' && extra !== null ? { ...extra } : undefined,
  })
}

function readSettings(options: AiCallOptions): Omit<WireSettings, 'own'> {
  const { toolChoice: choice, responseFormat: format } = options
  return defined({
    toolChoice:
      choice === undefined || choice.type === 'auto'
        ? undefined
        : choice.type === 'tool'
          ? { tool: choice.toolName }
          : choice.type,
    responseFormat:
      format?.type !== 'json'
        ? undefined
        : format.schema === undefined
          ? { type: 'json' as const }
          : {
              type: 'schema' as const,
              name: format.name ?? 'response',
              schema: asSchema(format.schema),
              ...(format.description === undefined ? {} : { description: format.description }),
            },
    topK: options.topK,
    frequencyPenalty: options.frequencyPenalty,
    presencePenalty: options.presencePenalty,
  })
}
