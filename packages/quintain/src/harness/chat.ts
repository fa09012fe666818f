import { type Harness, type HarnessResult, type Message, textOf } from '../core/index.ts'
import { countTruncation } from '../models/index.ts'
import { endOf } from './end-of.ts'
import { escalationIn, withEscalation } from './escalate.ts'

export interface ChatOptions {
  /** Tell the agent that it may say "this task is broken" (outcome `escalated`). Off when absent. */
  escalate?: boolean
}

/**
 * A conversation with the environment: each reply of the model goes to the world, whose answer is the next message.
 * Where the world gives no turns, it ends after one reply.
 */
export function chat(options: ChatOptions = {}): Harness {
  const escalate = options.escalate ?? false
  return {
    name: escalate ? 'chat@1+escalate' : 'chat@1',
    carries: { turns: true, tools: false, images: true },
    async run({ messages: opening, model, reply }): Promise<HarnessResult> {
      const messages: Message[] = escalate ? withEscalation(opening) : opening.slice()
      let cutInARow = 0
      for (;;) {
        const response = await model.generate({ messages })
        if (response.ended && response.message.content === '') return endOf(response)
        if (response.finish === 'refusal' || response.finish === 'content_filter')
          return { outcome: 'refused' }
        messages.push(response.message)
        const cut = countTruncation(cutInARow, response.finish === 'length')
        cutInARow = cut.inARow
        const reason = escalate ? escalationIn(textOf(response.message.content)) : undefined
        if (reason !== undefined) return { outcome: 'escalated', stop: reason }
        if (reply === undefined) return { outcome: response.finish === 'length' ? 'truncated' : 'completed' }
        const turn = await reply(response.message.content)
        if (turn.done !== undefined) return { outcome: 'env_done', stop: turn.done }
        if (response.ended) return endOf(response)
        if (cut.stop) return { outcome: 'truncated' }
        messages.push({ role: 'user', content: turn.content })
      }
    },
  }
}
