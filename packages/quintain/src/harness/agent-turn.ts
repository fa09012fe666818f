import type { HarnessContext, Message, PublicTask, ToolSpec } from '../core/index.ts'
import type { AgentModel } from './agent-model.ts'
import { type AiWorldTool, aiToolSet, answerText } from './ai-sdk/tool-set.ts'
import type { Question } from './conversation.ts'
import type { ServedTools } from './tools/served-tools.ts'
import type { ToolDesk } from './tools/tool-desk.ts'

/** What a function that is an agent gets for one turn. */
export interface AgentTurn<Data = unknown> {
  task: PublicTask<Data>
  /** The conversation so far; the last message is what to answer. */
  messages: readonly Message[]
  /** Text of the last message. */
  input: string
  /** The model of this rollout, in whatever form the agent takes one. */
  readonly model: AgentModel
  /** Tools on offer, as a model would be told of them. */
  tools: readonly ToolSpec[]
  /** Carries out a tool of the world and gives its text; a failure that a model would see is text that begins with `error:`. */
  call(name: string, args?: Record<string, unknown>): Promise<string>
  /** The same tools as a tool set of the AI SDK. */
  readonly aiTools: Record<string, AiWorldTool>
  /** Opens the same tools to MCP clients. Throws `needs_unmet` when `@modelcontextprotocol/server` is not installed. */
  mcp(): Promise<{ url: string; headers: Readonly<Record<string, string>> }>
  /** Lives as long as the attempt: what the agent keeps from turn to turn. */
  readonly memory: Record<string, unknown>
  /** Addresses of the world for tools that the agent brings itself (`World.endpoints`). */
  endpoints: Readonly<Record<string, string>>
  signal: AbortSignal
}

/** What is made once an attempt and shared by its turns. */
export interface AgentParts {
  readonly memory: Record<string, unknown>
  model(): AgentModel
  served(desk: ToolDesk): ServedTools
}

export function agentTurn(context: HarnessContext, question: Question, parts: AgentParts): AgentTurn {
  const { messages, input, tools } = question
  return {
    task: context.task,
    messages,
    input,
    get model() {
      return parts.model()
    },
    tools: tools.specs,
    call(name, args = {}) {
      const said = tools.call(name, args).then(answerText)
      said.catch(() => {})
      return said
    },
    get aiTools() {
      return aiToolSet(tools)
    },
    async mcp() {
      const { port, path, headers } = await parts.served(tools).mcp()
      return { url: `http://127.0.0.1:${port}${path}`, headers }
    },
    memory: parts.memory,
    endpoints: context.endpoints,
    signal: context.signal,
  }
}
