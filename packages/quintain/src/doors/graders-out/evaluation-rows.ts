import {
  type AttemptRecord,
  conversationOf,
  foldRun,
  type Message,
  type OrderState,
  type OrderStatus,
  readTrajectory,
  type TrajectoryRecord,
  textOf,
} from '../../core/index.ts'

/**
 * A row of Fireworks' eval-protocol (`EvaluationRow`, eval-protocol/python-sdk @000c2a4): a conversation with what it was
 * scored. No gold answer is in it: what is read of a run is publishable.
 */
export interface EvaluationRow {
  messages: Record<string, unknown>[]
  tools?: Record<string, unknown>[]
  input_metadata: {
    row_id: string
    completion_params: Record<string, unknown>
    dataset_info: Record<string, unknown>
  }
  rollout_status: { code: number; message: string; details: Record<string, unknown>[] }
  evaluation_result: {
    score: number
    is_score_valid: boolean
    reason: string
    metrics: Record<string, { score: number; is_score_valid: boolean; reason: string }>
  }
  execution_metadata: Record<string, unknown>
  created_at: string
}

/** Codes of eval-protocol's `Status`: google.rpc's, and three of its own. */
const statusCodes = { unknown: 2, deadline: 4, internal: 13, finished: 100, invalid: 102 }

/**
 * Rows of the attempts of a run that count, one for each order that has one. An order without a score is a row whose score
 * is not valid, and never a zero.
 */
export async function* evaluationRows(dir: string): AsyncGenerator<EvaluationRow, void, undefined> {
  const { states, manifest } = await foldRun<AttemptRecord>(dir)
  const { environment } = manifest
  const { policy = 'unknown', sampling } = manifest.seats['agent'] ?? {}
  for (const state of states) {
    const { chosen, order } = state
    if (chosen === undefined) continue
    const trajectory = await readTrajectory(dir, chosen)
    const tools = trajectory.seats['agent']?.tools
    yield {
      messages: messagesOf(trajectory).map(chatMessage),
      ...(tools === undefined ? {} : { tools: tools.map(toolOf) }),
      input_metadata: {
        row_id: order.task,
        completion_params: { model: policy, ...sampling },
        dataset_info: { environment: environment.name, version: environment.version, split: order.split },
      },
      rollout_status: statusOf(chosen),
      evaluation_result: resultOf(state),
      execution_metadata: {
        run_id: manifest.id,
        rollout_id: chosen.id,
        usage: usageOf(chosen.usage.agent),
        finish_reason: chosen.outcome ?? 'error',
        tool_call_count: chosen.counts.toolCalls,
        rollout_duration_seconds: chosen.timing.wallMs / 1000,
      },
      created_at: chosen.start,
    }
  }
}

function messagesOf(trajectory: TrajectoryRecord): Message[] {
  return conversationOf(trajectory, 'agent').map((place) => trajectory.nodes[place]!.message)
}

function chatMessage(message: Message): Record<string, unknown> {
  switch (message.role) {
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: textOf(message.content) }
    case 'assistant': {
      const calls = message.toolCalls?.map(({ id, name, arguments: text }) => ({
        id,
        type: 'function',
        function: { name, arguments: text },
      }))
      return {
        role: 'assistant',
        content: textOf(message.content),
        ...(message.reasoning === undefined ? {} : { reasoning_content: message.reasoning }),
        ...(calls === undefined || calls.length === 0 ? {} : { tool_calls: calls }),
      }
    }
    default:
      return { role: message.role, content: textOf(message.content) }
  }
}

function toolOf({
  name,
  description,
  parameters,
}: NonNullable<TrajectoryRecord['seats'][string]['tools']>[number]) {
  return { type: 'function', function: { name, description, parameters } }
}

function statusOf({ fault, outcome }: AttemptRecord): EvaluationRow['rollout_status'] {
  if (fault !== null) {
    const info = {
      reason: fault.code.toUpperCase(),
      domain: 'quintain',
      metadata: { owner: fault.owner, stage: fault.stage },
    }
    const code = fault.code === 'timeout' ? statusCodes.deadline : statusCodes.internal
    return { code, message: fault.message, details: [info] }
  }
  if (outcome === null || outcome === 'cancelled')
    return { code: statusCodes.unknown, message: outcome ?? 'no outcome', details: [] }
  return { code: statusCodes.finished, message: outcome, details: [] }
}

function resultOf({ status, chosen }: OrderState<AttemptRecord>): EvaluationRow['evaluation_result'] {
  const verdict = chosen?.verdict
  const reason = whyNot(status, chosen)
  const values = { ...verdict?.rewards, ...verdict?.metrics }
  return {
    score: reason === undefined ? verdict!.reward! : 0,
    is_score_valid: reason === undefined,
    reason: reason ?? (verdict?.success === true ? 'success' : ''),
    metrics: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [
        name,
        { score: value ?? 0, is_score_valid: value !== null, reason: value === null ? 'unscored' : '' },
      ]),
    ),
  }
}

/** Why there is no valid score; undefined where there is one. */
function whyNot(status: OrderStatus, chosen: AttemptRecord | undefined): string | undefined {
  const reward = chosen?.verdict?.reward
  if (status === 'scored' && typeof reward === 'number') return undefined
  return chosen?.fault?.code ?? chosen?.verdict?.unscored?.reason ?? status
}

function usageOf({ fresh, cacheRead, cacheWrite, output }: AttemptRecord['usage']['agent']) {
  const prompt = fresh + cacheRead + cacheWrite
  return { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }
}
