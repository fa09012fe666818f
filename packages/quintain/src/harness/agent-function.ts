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
 * One that throws ends the rollout as `agent_error`, which is graded on what was left behind.
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
      for (;;) {
        const text = await agent({
          task: context.task as PublicTask<Data>,
          messages,
          input: textOf(messages.at(-1)?.content),
          tools: context.tools.specs,
          endpoints: context.endpoints,
          signal: context.signal,
          async call(tool, args = {}) {
            const call = { id: `call_${calls++}`, name: tool, arguments: JSON.stringify(args) }
            messages.push({ role: 'assistant', content: '', toolCalls: [call] })
            const result = await context.tools.run([call], { truncated: false })
            messages.push(...result.messages)
            done ??= result.done
            const message = result.messages[0]
            const said = textOf(message?.content)
            return message?.error === undefined ? said : `error: ${message.error}: ${said}`
          },
        })
        messages.push({ role: 'assistant', content: String(text) })
        context.model.record(messages)
        if (done !== undefined) return { outcome: 'env_done', stop: done }
        if (context.reply === undefined) return { outcome: 'completed' }
        const turn = await context.reply(String(text))
        if (turn.done !== undefined) return { outcome: 'env_done', stop: turn.done }
        messages.push({ role: 'user', content: turn.content })
      }
    },
  }
}
