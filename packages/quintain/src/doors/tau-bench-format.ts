import { isObject, readChatMessages } from '../core/chat-messages.ts'
import type { Message, Outcome, ToolMessage } from '../core/index.ts'
import type { Conversation, ConversationFormat } from './conversation.ts'

/** The simulated customer's last word, by which it ends the conversation. */
const customerStop = '###STOP###'
/** A tool by which the agent hands the customer over; the original ends the conversation there. */
const handOver = 'transfer_to_human_agents'

/**
 * Results as tau-bench's `run.py` writes them: a JSON array of `{ task_id, trial, reward, info, traj }`. The reward is 1
 * when the database ends as the gold actions leave it and every required text was told. `info.task` (the customer's
 * instructions, gold actions, required texts) is secret; the rest of `info` is evidence.
 *
 * An exception of the original is written as reward 0 with an empty `traj`. That was no attempt of the agent: here it is a
 * fault, and not in the rates, so a file that has any gives other figures than the original's.
 *
 * A conversation without `reward_info` was stopped by the step limit: `reward_info` is written when an episode ends. The
 * original scores it 0, and so does this.
 *
 * Source: sierra-research/tau-bench, `run.py` and `tau_bench/envs/base.py`.
 */
export const tauBenchFormat: ConversationFormat = {
  name: 'tau-bench',
  rubric: 'reward as recorded, success within 1e-6 of 1',
  isSuccess: (reward) => Math.abs(reward - 1) <= 1e-6,
  metrics: ['r_actions', 'r_outputs'],
  needsReward: true,

  knows: (value) => isObject(value) && 'traj' in value && 'task_id' in value,

  read(value) {
    if (!isObject(value)) return 'it is no object with task_id, trial, reward, info and traj'
    const { task_id: task, trial, reward, info, traj, ...rest } = value
    if (typeof task !== 'string' && typeof task !== 'number') return 'it names no task (task_id)'
    if (reward !== undefined && reward !== null && typeof reward !== 'number')
      return `its reward is ${JSON.stringify(reward)}, which is no number`
    if (typeof reward === 'number' && !(reward >= 0 && reward <= 1))
      return `its reward is ${reward}; rewards of tau-bench lie between 0 and 1`
    const read = readChatMessages(traj)
    if (typeof read === 'string') return `traj: ${read}`
    for (const message of read.messages) if (isToolError(message)) message.error = 'original_error'
    const facts = isObject(info) ? info : {}
    const { task: secret, reward_info: rewardInfo, user_cost: userCost, ...others } = facts
    const conversation: Omit<Conversation, 'place'> = {
      task: String(task),
      messages: read.messages,
      notes: read.notes,
      metrics: metricsOf(rewardInfo),
      costUsd: { simulator: typeof userCost === 'number' ? userCost : null },
      rest: { ...rest, info: { ...others, reward_info: rewardInfo ?? null } },
      ...endOf(read.messages, rewardInfo),
    }
    if (trial !== undefined && trial !== null) {
      if (!isTrial(trial)) return `its trial is ${JSON.stringify(trial)}; trials are whole numbers from 0`
      conversation.trial = trial
    }
    if (reward !== undefined) conversation.reward = reward
    if (secret !== undefined) conversation.secret = secret
    if (read.messages.length === 0 && 'error' in facts) {
      conversation.fault = {
        owner: 'platform',
        stage: 'import',
        code: 'original_exception',
        message:
          'The original run wrote down an exception in place of a conversation, and called it reward 0.',
        retryable: false,
      }
    }
    return conversation
  },
}

/** The original gives a tool's failure to the agent as a text that begins so. */
function isToolError(message: Message): message is ToolMessage {
  return (
    message.role === 'tool' && typeof message.content === 'string' && message.content.startsWith('Error:')
  )
}

/** True for a number of an attempt. */
export function isTrial(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function metricsOf(rewardInfo: unknown): Record<string, number | null> {
  const inner = isObject(rewardInfo) && isObject(rewardInfo['info']) ? rewardInfo['info'] : {}
  return Object.fromEntries(
    tauBenchFormat.metrics.map((name) => {
      const value = inner[name]
      return [name, typeof value === 'boolean' || typeof value === 'number' ? Number(value) : null]
    }),
  )
}

function endOf(messages: Conversation['messages'], rewardInfo: unknown): { outcome: Outcome; stop?: string } {
  if (!isObject(rewardInfo)) return { outcome: 'turn_limit' }
  const last = messages.at(-1)
  if (last?.role === 'user' && String(last.content).includes(customerStop))
    return { outcome: 'env_done', stop: 'customer_done' }
  if (last?.role === 'tool' && last.name === handOver) return { outcome: 'env_done', stop: 'handed_over' }
  return { outcome: 'completed' }
}
