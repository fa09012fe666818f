import type { Finish, ModelResponse, Usage } from '../../core/index.ts'
import { textOf } from '../../core/index.ts'
import type { AiContent, AiFinish, AiResult, AiUsage, AiWarning } from './types.ts'

/** A reply as the AI SDK takes it. */
export function writeResult(response: ModelResponse, warnings: AiWarning[]): AiResult {
  return {
    content: writeContent(response),
    finishReason: writeFinish(response),
    usage: writeUsage(response.usage),
    response: {
      ...(response.responseId === undefined ? {} : { id: response.responseId }),
      ...(response.model === undefined ? {} : { modelId: response.model }),
    },
    warnings,
  }
}

function writeContent({ message }: ModelResponse): AiContent[] {
  const content: AiContent[] = []
  if (message.reasoning !== undefined) content.push({ type: 'reasoning', text: message.reasoning })
  const text = textOf(message.content)
  if (text !== '') content.push({ type: 'text', text })
  else if (message.refusal !== undefined) content.push({ type: 'text', text: message.refusal })
  for (const { id, name, arguments: input } of message.toolCalls ?? [])
    content.push({ type: 'tool-call', toolCallId: id, toolName: name, input })
  return content
}

const finishes: Record<Finish, AiFinish['unified']> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'content-filter',
  refusal: 'content-filter',
  other: 'other',
}

export function writeFinish({ finish, finishRaw }: ModelResponse): AiFinish {
  return { unified: finishes[finish], raw: finishRaw }
}

export function writeUsage(usage: Usage | undefined): AiUsage {
  if (usage === undefined) {
    const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
    return { inputTokens: unknown, outputTokens: { total: undefined, text: undefined, reasoning: undefined } }
  }
  const { fresh, cacheRead, cacheWrite, output, reasoning } = usage
  return {
    inputTokens: { total: fresh + cacheRead + cacheWrite, noCache: fresh, cacheRead, cacheWrite },
    outputTokens: {
      total: output,
      text: reasoning === undefined ? undefined : output - reasoning,
      reasoning,
    },
  }
}
