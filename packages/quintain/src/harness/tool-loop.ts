import type { Harness, HarnessResult, Message } from '../core/index.ts'
import { countTruncation } from '../models/index.ts'
import { endOf } from './end-of.ts'
import { escalateTool, escalationReason } from './escalate.ts'

export interface ToolLoopOptions {
  /** Offer a tool `escalate` by which the agent says "this task is broken" (outcome `escalated`). Off when absent. */
  escalate?: boolean
  /** Replies in a row whose every tool call failed, after which the loop ends as `agent_error`. 10 when absent. */
  mostToolErrors?: number
}

/**
 * The usual agent loop: the model calls tools until it answers without one. An answer goes to the world where that
 * gives turns, else the rollout is complete. A reply that was cut off runs none of its calls.
 */
export function toolLoop(options: ToolLoopOptions = {}): Harness {
  const escalate = options.escalate ?? false
  const mostToolErrors = options.mostToolErrors ?? 10
  return {
    name: escalate ? 'tool-loop@1+escalate' : 'tool-loop@1',
    carries: { turns: true, tools: true, images: true },
    async run({ messages: opening, model, tools, reply }): Promise<HarnessResult> {
      const messages: Message[] = opening.slice()
      const specs = escalate ? [...tools.specs, escalateTool] : tools.specs
      let cutInARow = 0
      let failedInARow = 0
      for (;;) {
        const response = await model.generate({ messages, tools: specs })
        const calls = response.message.toolCalls ?? []
        if (response.ended && calls.length === 0 && response.message.content === '') return endOf(response)
        if (response.finish === 'refusal' || response.finish === 'content_filter')
          return { outcome: 'refused' }
        messages.push(response.message)
        const truncated = response.finish === 'length'

        if (calls.length > 0) {
          const escalation =
            escalate && !truncated ? calls.find((call) => call.name === escalateTool.name) : undefined
          if (escalation !== undefined) return { outcome: 'escalated', stop: escalationReason(escalation) }
          const results = await tools.run(calls, { truncated })
          // Not spread: a reply may hold more calls than a function takes arguments.
          for (const result of results.messages) messages.push(result)
          if (results.done !== undefined) return { outcome: 'env_done', stop: results.done }
          if (response.ended) return endOf(response)
          const cut = countTruncation(cutInARow, results.truncated)
          if (cut.stop) return { outcome: 'truncated' }
          cutInARow = cut.inARow
          failedInARow = results.messages.every((result) => result.error !== undefined) ? failedInARow + 1 : 0
          if (failedInARow >= mostToolErrors) return { outcome: 'agent_error', stop: 'too_many_tool_errors' }
          continue
        }

        if (reply === undefined) return { outcome: truncated ? 'truncated' : 'completed' }
        const turn = await reply(response.message.content)
        if (turn.done !== undefined) return { outcome: 'env_done', stop: turn.done }
        if (response.ended) return endOf(response)
        const cut = countTruncation(cutInARow, truncated)
        if (cut.stop) return { outcome: 'truncated' }
        cutInARow = cut.inARow
        messages.push({ role: 'user', content: turn.content })
      }
    },
  }
}
