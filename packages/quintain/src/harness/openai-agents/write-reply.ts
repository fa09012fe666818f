import { type ModelResponse, textOf } from '../../core/index.ts'
import type { AgentsOutput, AgentsUsage } from './types.ts'

/** A reply as items. */
export function outputOf({ message }: ModelResponse): AgentsOutput[] {
  const output: AgentsOutput[] = []
  if (message.reasoning !== undefined)
    output.push({
      type: 'reasoning',
      content: [],
      rawContent: [{ type: 'reasoning_text', text: message.reasoning }],
    })
  const text = textOf(message.content)
  const said =
    message.refusal === undefined
      ? { type: 'output_text' as const, text }
      : { type: 'refusal' as const, refusal: message.refusal }
  // A reply without anything is a message all the same: a run ends by one.
  if (text !== '' || message.refusal !== undefined || (message.toolCalls ?? []).length === 0)
    output.push({ type: 'message', role: 'assistant', status: 'completed', content: [said] })
  for (const { id, name, arguments: args } of message.toolCalls ?? [])
    output.push({ type: 'function_call', callId: id, name, arguments: args, status: 'completed' })
  return output
}

/** What a reply took. */
export function usageOf({ usage }: ModelResponse): AgentsUsage {
  const { fresh = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = usage ?? {}
  const input = fresh + cacheRead + cacheWrite
  return {
    requests: 1,
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    inputTokensDetails: [{ cached_tokens: cacheRead }],
    outputTokensDetails: [{ reasoning_tokens: reasoning }],
    requestUsageEntries: undefined,
    add(more) {
      this.requests += more.requests
      this.inputTokens += more.inputTokens
      this.outputTokens += more.outputTokens
      this.totalTokens += more.totalTokens
    },
  }
}
