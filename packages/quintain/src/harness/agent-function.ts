import {
  type Harness,
  type HarnessResult,
  type Message,
  type PublicTask,
  type ToolSpec,
  textOf,
} from '../core/index.ts'

/** What a function that is an agent gets for one turn. */
export interface AgentTurn<Data = unknown> {
  task: PublicTask<Data>
  /** The conversation so far; the last message is what to answer. */
  messages: readonly Message[]
  /** Text of the last message. */
  input: string
  /** Tools on offer, as a model would be told of them. */
  tools: readonly ToolSpec[]
  /** Carries out a tool of the world and gives its text; a failure that a model would see is text that begins with `error:`. */
  call(name: string, args?: Record<string, unknown>): Promise<string>
  /** Addresses of the world for tools that the agent brings itself (`World.endpoints`). */
  endpoints: Readonly<Record<string, string>>
  signal: AbortSignal
}

/**
 * An agent passed as a function: the text it answers with. It is called once per turn of the environment.
 * One that throws, or answers with something else than text, ends the rollout as `agent_error`, which is graded on
 * what was left behind.
 */
export type AgentFunction<Data = unknown> = (turn: AgentTurn<Data>) => string | Promise<string>

/** The harness of an agent passed as a function. It carries out its own tool calls through `call`. */
export function agentFunction<Data>(agent: AgentFunction<Data>, name = 'agent'): Harness {
  return {
    name: `${name}@function`,
    carries: { turns: true, tools: true, images: true },
    async run(context): Promise<HarnessResult> {
      const messages: Message[] = context.messages.slice()
      let calls = 0
      let done: string | undefined
      const call = async (tool: string, args: Record<string, unknown>): Promise<string> => {
        if (done !== undefined) return 'error: episode_over: the episode has ended; answer now'
        const made = { id: `call_${calls++}`, name: tool, arguments: JSON.stringify(args) }
        messages.push({ role: 'assistant', content: '', toolCalls: [made] })
        const result = await context.tools.run([made], { truncated: false })
        messages.push(...result.messages)
        done ??= result.done
        const message = result.messages[0]
        const said = textOf(message?.content)
        return message?.error === undefined ? said : `error: ${message.error}: ${said}`
      }
      for (let turns = 0; ; turns++) {
        // Before the agent is asked: a turn beyond the limit would still use tools.
        if (turns >= (context.limits.turns ?? Number.POSITIVE_INFINITY)) return { outcome: 'turn_limit' }
        const text: unknown = await agent({
          task: context.task as PublicTask<Data>,
          messages,
          input: textOf(messages.at(-1)?.content),
          tools: context.tools.specs,
          endpoints: context.endpoints,
          signal: context.signal,
          call(tool, args = {}) {
            const said = call(tool, args)
            // A call that nobody waits for must not end the process when the rollout is over before it.
            said.catch(() => {})
            return said
          },
        })
        if (typeof text !== 'string') {
          const kind = text === null ? 'null' : typeof text
          throw new TypeError(`the agent answered with ${kind}; an agent function returns text`)
        }
        messages.push({ role: 'assistant', content: text })
        context.model.record(messages)
        if (done !== undefined) return { outcome: 'env_done', stop: done }
        if (context.reply === undefined) return { outcome: 'completed' }
        const turn = await context.reply(text)
        if (turn.done !== undefined) return { outcome: 'env_done', stop: turn.done }
        messages.push({ role: 'user', content: turn.content })
      }
    },
  }
}
