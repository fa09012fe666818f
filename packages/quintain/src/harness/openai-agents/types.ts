/*
 * Models of the OpenAI Agents SDK (`@openai/agents`), in as much of their shape as is read and written here, so that
 * no package of it is needed.
 */

/** An item of a conversation; which fields are there depends on `type`. */
export interface AgentsItem {
  type?: string | undefined
  role?: unknown
  content?: unknown
  callId?: unknown
  name?: unknown
  arguments?: unknown
  output?: unknown
  rawContent?: unknown
}

export interface AgentsTool {
  type: string
  name?: string
  description?: string | undefined
  parameters?: unknown
  strict?: boolean | undefined
}

export interface AgentsRequest {
  systemInstructions?: string | undefined
  input: string | readonly AgentsItem[]
  previousResponseId?: string | undefined
  conversationId?: string | undefined
  modelSettings: {
    temperature?: number | undefined
    topP?: number | undefined
    frequencyPenalty?: number | undefined
    presencePenalty?: number | undefined
    toolChoice?: string | undefined
    parallelToolCalls?: boolean | undefined
    maxTokens?: number | undefined
    reasoning?: { effort?: string | null | undefined } | undefined
    providerData?: Record<string, unknown> | undefined
  }
  tools: readonly AgentsTool[]
  outputType: 'text' | { type: 'json_schema'; name: string; strict?: boolean | undefined; schema: unknown }
  handoffs: readonly { toolName: string; toolDescription: string; inputJsonSchema: unknown }[]
  signal?: AbortSignal | undefined
}

export interface AgentsUsage {
  requests: number
  inputTokens: number
  outputTokens: number
  totalTokens: number
  inputTokensDetails: Record<string, number>[]
  outputTokensDetails: Record<string, number>[]
  requestUsageEntries: undefined
  add(more: Pick<AgentsUsage, 'requests' | 'inputTokens' | 'outputTokens' | 'totalTokens'>): void
}

export type AgentsOutput =
  | { type: 'reasoning'; content: []; rawContent: { type: 'reasoning_text'; text: string }[] }
  | {
      type: 'message'
      role: 'assistant'
      status: 'completed'
      content: ({ type: 'output_text'; text: string } | { type: 'refusal'; refusal: string })[]
    }
  | { type: 'function_call'; callId: string; name: string; arguments: string; status: 'completed' }
