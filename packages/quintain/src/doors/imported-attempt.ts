import {
  type AttemptEntry,
  linePart,
  type MessageNode,
  noUsage,
  type OrderRecord,
  type PrivateRecord,
  sha256,
  type TrajectoryRecord,
  type VerdictRecord,
  type VerdictSummary,
} from '../core/index.ts'
import type { Conversation, ConversationFormat } from './conversation.ts'
import type { Survey } from './import-survey.ts'

/** The name of the one reward of an imported run: it was given by somebody else. */
export const component = 'recorded'

/** The rubric of an imported run: who gave the rewards, what they mean, and a digest of both. */
export function importedRubric(format: ConversationFormat): string {
  const meaning = `imported:${format.name}: ${format.rubric}`
  return `${meaning} (${sha256(meaning).slice(0, 12)})`
}

/** What the records of all attempts of an import share. */
export interface Importing {
  survey: Survey
  format: ConversationFormat
  policy: string
}

/** A conversation as the attempt at an order: its line, trajectory, verdict and private record. `now` is the time of the import. */
export function attemptOf(
  order: OrderRecord,
  conversation: Conversation,
  { survey, format, policy }: Importing,
  now: string,
): AttemptEntry {
  const id = crypto.randomUUID()
  const trajectory = trajectoryOf(id, order, conversation, policy)
  const verdict = conversation.fault === undefined ? verdictOf(conversation, survey, format) : undefined
  const start = conversation.start ?? conversation.end ?? now
  const end = conversation.end ?? start
  const { agent = null, simulator } = conversation.costUsd ?? {}
  let toolCalls = 0
  const toolErrors: Record<string, number> = {}
  for (const { message } of trajectory.nodes) {
    if (message.role === 'assistant') toolCalls += message.toolCalls?.length ?? 0
    else if (message.role === 'tool' && message.error !== undefined)
      toolErrors[message.error] = (toolErrors[message.error] ?? 0) + 1
  }
  const wallMs = Math.max(0, Date.parse(end) - Date.parse(start))
  const whole: VerdictRecord | undefined = verdict && {
    schema: 'quintain.verdict',
    v: 1,
    attempt: id,
    order: order.id,
    rubric: importedRubric(format),
    at: now,
    reward: verdict.reward,
    success: verdict.success,
    components: componentsOf(verdict),
    ...(verdict.unscored === undefined ? {} : { unscored: verdict.unscored }),
  }
  return {
    attempt: {
      schema: 'quintain.attempt',
      v: 1,
      id,
      order: order.id,
      seq: order.seq,
      task: order.task,
      repeat: order.repeat,
      try: 1,
      final: true,
      start,
      end,
      outcome: conversation.fault === undefined ? conversation.outcome : null,
      ...(conversation.stop === undefined ? {} : { stop: conversation.stop }),
      fault: conversation.fault ?? null,
      verdict: verdict ?? null,
      usage: { agent: conversation.usage ?? noUsage },
      costUsd: { agent, ...(simulator === undefined ? {} : { simulator }) },
      counts: {
        turns: trajectory.calls.length,
        toolCalls,
        ...(Object.keys(toolErrors).length === 0 ? {} : { toolErrors }),
        modelRetries: 0,
      },
      timing: { wallMs, agentMs: 0, modelMs: 0, waitMs: 0, gradeMs: 0 },
    },
    trajectory: linePart(trajectory),
    verdict: whole && linePart(whole),
    private: linePart(privateOf(id, order, conversation)),
  }
}

function componentsOf({ reward, metrics, unscored }: VerdictSummary): VerdictRecord['components'] {
  const reason = unscored === undefined ? {} : { reason: unscored.reason }
  return {
    [component]: { kind: 'reward', value: reward, weight: 1, ...reason },
    ...Object.fromEntries(
      Object.entries(metrics).map(([name, value]) => [name, { kind: 'metric' as const, value, weight: 0 }]),
    ),
  }
}

function verdictOf(conversation: Conversation, survey: Survey, format: ConversationFormat): VerdictSummary {
  const reward = conversation.reward ?? null
  const metrics = conversation.metrics ?? {}
  const rewards = { [component]: reward }
  if (reward === null && conversation.success === undefined) {
    const unscored = { component, reason: 'no_reward_in_file' }
    return { reward, success: null, rewards, metrics, unscored }
  }
  const success = conversation.success ?? format.isSuccess?.(reward ?? 0) ?? reward === 1
  // A file that says only whether it went well has said a reward of 1 or 0.
  const value = reward ?? Number(success)
  return {
    reward: value,
    success: survey.success ? success : null,
    rewards: { [component]: value },
    metrics,
  }
}

/** Messages one after the other. What the assistant said before anybody asked was not sampled but put there. */
function trajectoryOf(
  attempt: string,
  order: OrderRecord,
  { messages, sampled: known, policy: model, sampling, tools }: Conversation,
  policy: string,
): TrajectoryRecord {
  const asked = messages.findIndex(({ role }) => role === 'user')
  const nodes = messages.map((message, at): MessageNode => {
    return {
      parent: at - 1,
      seat: 'agent',
      message,
      sampled: message.role === 'assistant' && (known?.[at] ?? at > asked),
    }
  })
  const calls = nodes.flatMap(({ message, sampled, parent }, output): TrajectoryRecord['calls'] => {
    if (!sampled || message.role !== 'assistant') return []
    return [
      {
        seat: 'agent',
        prompt: parent,
        output,
        model: model ?? policy,
        ...(sampling === undefined ? {} : { sampling }),
        finish:
          message.refusal !== undefined ? 'refusal' : message.toolCalls === undefined ? 'stop' : 'tool_calls',
        costUsd: null,
        atMs: 0,
        latencyMs: 0,
        waitMs: 0,
      },
    ]
  })
  return {
    schema: 'quintain.trajectory',
    v: 1,
    attempt,
    order: order.id,
    task: order.task,
    seats: {
      agent: {
        policy: model ?? policy,
        harness: 'imported',
        ...(tools === undefined ? {} : { tools: [...tools] }),
      },
    },
    nodes,
    calls,
  }
}

function privateOf(
  attempt: string,
  order: OrderRecord,
  { secret, rest, notes, place }: Conversation,
): PrivateRecord {
  const evidence = {
    ...(place === '' ? {} : { place }),
    ...(rest === undefined ? {} : { rest }),
    ...(notes.length === 0 ? {} : { notes }),
  }
  return {
    schema: 'quintain.private',
    v: 1,
    attempt,
    order: order.id,
    task: order.task,
    ...(secret === undefined ? {} : { secret }),
    ...(Object.keys(evidence).length === 0 ? {} : { evidence }),
  }
}
