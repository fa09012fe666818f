import { type Content, type HarnessContext, type HarnessResult, type Message, textOf } from '../core/index.ts'
import { ToolDesk } from './tools/tool-desk.ts'

/** What an agent that holds its own conversation is asked, once per turn of the environment. */
export interface Question {
  /** The conversation so far, tool calls included; the last message is what to answer. It grows. */
  messages: readonly Message[]
  /** Those of it that the agent has not been told of. */
  news: readonly Message[]
  /** Text of the last message. */
  input: string
  /** Turns of the environment before this one. */
  turn: number
  tools: ToolDesk
}

/** What an agent answers: something to say, an end of its own, or neither, which ends its part as `no_answer`. */
export interface Answer {
  content?: Content
  end?: HarnessResult
}

/**
 * Plays a seat with an agent that is asked once per turn of the environment and makes its model calls by itself.
 *
 * An answer behind which no model call of its turn stood is recorded as a turn, so that asking once does not lift the
 * limit from what is said after. Where a model is there to be asked, only what the world is told counts so: an agent that
 * ends without having asked has taken no turn.
 */
export async function converse(
  context: HarnessContext,
  ask: (question: Question) => Promise<Answer>,
): Promise<HarnessResult> {
  const messages: Message[] = context.messages.slice()
  const tools = new ToolDesk(context.tools, messages, () => context.model.lastReply?.()?.toolCalls)
  const mostTurns = context.limits.turns ?? Number.POSITIVE_INFINITY
  let told = 0
  try {
    for (let turn = 0; ; turn++) {
      // Before the agent is asked: a turn beyond the limit would still use tools.
      const before = context.model.turns
      if (Math.max(turn, before) >= mostTurns) return { outcome: 'turn_limit' }
      const news = messages.slice(told)
      const question = { messages, news, input: textOf(messages.at(-1)?.content), turn, tools }
      const { content: answer, end } = await ask(question)
      context.signal.throwIfAborted()
      if (answer !== undefined) messages.push({ role: 'assistant', content: answer })
      told = messages.length
      const handsOver =
        context.reply !== undefined && answer !== undefined && end === undefined && tools.done === undefined
      const asked = context.model.turns > before
      if (!asked && context.model.present !== true) context.model.record(messages)
      else if (!asked && handsOver) context.model.record(messages, { costUsd: 0 })
      const said = answer === undefined ? {} : { answer }
      if (tools.done !== undefined) return { outcome: 'env_done', stop: tools.done, ...said }
      if (end !== undefined) return { ...said, ...end }
      if (answer === undefined) return { outcome: 'completed', stop: 'no_answer' }
      if (context.reply === undefined) return { outcome: 'completed', answer }
      const reply = await context.reply(answer)
      if (reply.done !== undefined) return { outcome: 'env_done', stop: reply.done }
      messages.push({ role: 'user', content: reply.content })
    }
  } finally {
    tools.close()
  }
}
