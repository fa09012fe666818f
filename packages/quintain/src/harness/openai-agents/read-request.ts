import type { ModelRequest, ToolSpec } from '../../core/index.ts'
import { defined } from '../defined.ts'
import type { Echoes } from '../echoes.ts'
import { asSchema, withSettings } from '../with-settings.ts'
import { readItems } from './read-items.ts'
import type { AgentsRequest } from './types.ts'

/** What an agent asks. Throws a `TypeError` for what no chat model has, such as hosted tools or a server's history. */
export function readRequest(
  asked: AgentsRequest,
  { echoes, model }: { echoes: Echoes; model: string },
): ModelRequest {
  const { modelSettings: given, outputType } = asked
  if (asked.previousResponseId !== undefined || asked.conversationId !== undefined)
    throw new TypeError('the model of this rollout keeps no conversation; send the whole history')
  const tools: ToolSpec[] = asked.tools.map(({ type, name, description, parameters, strict }) => {
    if (type !== 'function' || name === undefined)
      throw new TypeError(
        `the model of this rollout takes function tools, and the agent has one of type ${type}`,
      )
    return {
      name,
      description: description ?? '',
      parameters: asSchema(parameters),
      ...(strict === undefined ? {} : { strict }),
    }
  })
  for (const { toolName, toolDescription, inputJsonSchema } of asked.handoffs)
    tools.push({ name: toolName, description: toolDescription, parameters: asSchema(inputJsonSchema) })
  const messages = readItems(asked.input, echoes)
  if (asked.systemInstructions) messages.unshift({ role: 'system', content: asked.systemInstructions })
  const sampling = defined({
    temperature: given.temperature,
    topP: given.topP,
    maxTokens: given.maxTokens,
    reasoningEffort: given.reasoning?.effort ?? undefined,
    extra: given.providerData,
  })
  const { toolChoice } = given
  const settings = defined({
    toolChoice: toolChoice === undefined || toolChoice === 'auto' ? undefined : choiceOf(toolChoice),
    parallelToolCalls: tools.length > 0 ? given.parallelToolCalls : undefined,
    responseFormat:
      outputType === 'text'
        ? undefined
        : {
            type: 'schema' as const,
            name: outputType.name,
            schema: asSchema(outputType.schema),
            ...(outputType.strict === undefined ? {} : { strict: outputType.strict }),
          },
    frequencyPenalty: given.frequencyPenalty,
    presencePenalty: given.presencePenalty,
  })
  const request: ModelRequest = {
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
  }
  return withSettings(request, settings, model)
}

function choiceOf(name: string): 'required' | 'none' | { tool: string } {
  return name === 'required' || name === 'none' ? name : { tool: name }
}
