import type { AssistantMessage, Message } from '../core/message.ts'
import { type Model, ModelFault } from '../core/model.ts'
import type { Cut, Fault } from '../core/records.ts'
import { cancelled } from './fault.ts'
import { promptKey, type RecordedCall } from './recorded-rollout.ts'

/**
 * Says recorded replies again, one per call, and ends when they run out: as `cut` says, or as `completed`. Without replies
 * every call is a fault `not_recorded`.
 *
 * With `calls` it stands behind an agent, which asks more than it says, and not always in one order: a call whose prompt
 * was recorded gets the reply that was given to it, or fails as it did; any other gets the first reply that nobody has had.
 */
export function createRecordedModel(options: {
  /** For records, such as `recorded:runs/7`. */
  id: string
  replies: readonly AssistantMessage[] | undefined
  calls?: readonly RecordedCall[] | undefined
  cut?: Cut | undefined
}): Model {
  const { id, replies, calls = [], cut } = options
  const inOrder = replies?.map((message) => ({ prompt: '', message }))
  const recorded = calls.length > 0 ? calls : inOrder
  const take = takerOf(recorded ?? [], { byPrompt: calls.length > 0 })
  return {
    id,
    async generate({ messages }, { signal, task, repeat }) {
      if (signal.aborted) throw cancelled()
      if (recorded === undefined) {
        const what = task === undefined ? 'this rollout' : `task ${task}, repeat ${repeat ?? 0}`
        throw new ModelFault({
          owner: 'platform',
          stage: 'model',
          code: 'not_recorded',
          message: `${id} has no recording of ${what}.`,
          retryable: false,
        })
      }
      const call = take(messages)
      if (call?.fault !== undefined) throw new ModelFault(call.fault, { outcome: outcomeOf(call.fault) })
      const { message = { role: 'assistant', content: '' } } = call ?? {}
      if (call === undefined) {
        const endedAs = cut === undefined ? {} : { endedAs: cut }
        return { message, finish: 'stop', costUsd: 0, ended: true, ...endedAs }
      }
      const finish =
        message.refusal !== undefined ? 'refusal' : message.toolCalls?.length ? 'tool_calls' : 'stop'
      return { message, finish, costUsd: 0 }
    },
  }
}

/** Failures that were the agent's own to see. */
function outcomeOf({ code }: Fault): 'context_overflow' | 'refused' | undefined {
  return code === 'context_overflow' || code === 'refused' ? code : undefined
}

/** Finds what was recorded for each call, once each; undefined when nothing is left. */
function takerOf(
  recorded: readonly RecordedCall[],
  options: { byPrompt: boolean },
): (messages: readonly Message[]) => RecordedCall | undefined {
  const left = new Set(recorded)
  const byPrompt = Map.groupBy(options.byPrompt ? recorded : [], ({ prompt }) => prompt)
  const isAnswered = ({ message }: RecordedCall) => message !== undefined
  return (messages) => {
    const asked = (options.byPrompt ? (byPrompt.get(promptKey(messages)) ?? []) : []).filter((one) =>
      left.has(one),
    )
    // An agent that asked until it had an answer has it at once.
    const call = asked.find(isAnswered) ?? asked[0] ?? [...left].find(isAnswered)
    if (call !== undefined) left.delete(call)
    return call
  }
}
