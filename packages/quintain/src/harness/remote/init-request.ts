import { type Message, type ModelAddress, type PublicTask, type ToolSpec, textOf } from '../../core/index.ts'

/** What a rollout of a remote agent starts with. */
export interface RolloutStart {
  rolloutId: string
  runId: string
  task: PublicTask
  turn: number
  messages: readonly Message[]
  tools: readonly ToolSpec[]
  /** Of the model, as the service reaches it. */
  model: (Pick<ModelAddress, 'apiKey' | 'model'> & { baseURL: string }) | undefined
  completionParams: Readonly<Record<string, unknown>>
  toolsUrl: string | undefined
  mcp: { url: string; headers: Readonly<Record<string, string>> } | undefined
  endpoints: Readonly<Record<string, string>>
}

/**
 * The body of `POST /init` as the kit's `initRequestSchema` takes it (npm `eval-protocol` 0.1.13). What it has no field
 * for stands in `metadata.quintain`, which it passes on.
 */
export function initRequest(start: RolloutStart): Record<string, unknown> {
  const { rolloutId, runId, task, model, tools, mcp } = start
  return {
    completion_params: { model: model?.model ?? 'none', ...start.completionParams },
    messages: start.messages.flatMap(asKitMessage),
    tools:
      tools.length === 0
        ? null
        : tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
    model_base_url: model?.baseURL ?? null,
    api_key: model?.apiKey ?? null,
    metadata: {
      invocation_id: runId,
      experiment_id: runId,
      run_id: runId,
      rollout_id: rolloutId,
      row_id: task.id,
      quintain: {
        task,
        turn: start.turn,
        tools_url: start.toolsUrl ?? null,
        mcp_url: mcp?.url ?? null,
        mcp_headers: mcp?.headers ?? {},
        endpoints: start.endpoints,
      },
    },
  }
}

/**
 * Text only, as the kit has messages. It has no tool calls in them, and a result without its call is refused by models:
 * both stay out, as does a reply that was nothing else.
 */
function asKitMessage(message: Message): Record<string, unknown>[] {
  const content = textOf(message.content)
  const silent = message.role === 'tool' || (message.role === 'assistant' && content === '')
  return silent ? [] : [{ role: message.role, content }]
}
