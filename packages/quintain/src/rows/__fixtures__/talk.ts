import type { AssistantMessage, Message, ToolSpec, TrajectoryRecord } from '../../core/index.ts'
import { type CallFacts, Recorder } from '../../core/recorder.ts'

/** Ids that stand for no character. */
export const mark = { system: 1, user: 2, assistant: 3, tool: 4, end: 5, think: 6, thought: 7 } as const

const charactersOf = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)!)

/** A message as a history has it, in a template that never changes what stands before. */
export function plainTemplate(message: Message): number[] {
  const thinks =
    message.role === 'assistant' && message.reasoning !== undefined
      ? [mark.think, ...charactersOf(message.reasoning), mark.thought]
      : []
  return [mark[message.role], ...thinks, ...charactersOf(String(message.content)), mark.end]
}

export interface Asked extends Partial<CallFacts> {
  /** Ids of the prompt, where they are not what the template makes. */
  promptIds?: readonly number[]
  /** Ids of the reply, where it was not sampled a character at a time. */
  outputIds?: readonly number[]
  logprobs?: readonly number[] | undefined
  /** The server gave no ids. */
  withoutIds?: boolean
  tools?: readonly ToolSpec[]
}

/** A program that talks to a server which has a character for a token, and the record of it. */
export class Talk {
  readonly recorder = new Recorder()
  /** Each call's prompt and output, as they were. */
  readonly asked: { prompt: number[]; output: number[]; logprobs: number[] }[] = []
  private readonly template: (message: Message) => number[]

  constructor(template: (message: Message) => number[] = plainTemplate) {
    this.template = template
  }

  /** One call; gives what was said. */
  ask(
    history: readonly Message[],
    reply: string | AssistantMessage,
    { promptIds, outputIds, withoutIds, ...facts }: Asked = {},
  ): AssistantMessage {
    const message: AssistantMessage = typeof reply === 'string' ? says(reply) : reply
    const prompt = [...(promptIds ?? [...history.flatMap(this.template), mark.assistant])]
    const output = [...(outputIds ?? plainTemplate(message).slice(1))]
    const call = this.asked.length
    const logprobs = [
      ...('logprobs' in facts ? (facts.logprobs ?? []) : output.map((_, at) => -call - at / 1024)),
    ]
    const hasLogprobs = !('logprobs' in facts) || facts.logprobs !== undefined
    this.asked.push({ prompt, output, logprobs })
    const { logprobs: _, ...rest } = facts
    this.recorder.call(
      'agent',
      this.recorder.path('agent', history),
      message,
      { model: 'm', finish: 'stop', atMs: 0, latencyMs: 0, waitMs: 0, ...rest },
      withoutIds
        ? undefined
        : {
            promptIds: Int32Array.from(prompt),
            outputIds: Int32Array.from(output),
            ...(hasLogprobs ? { logprobs: Float32Array.from(logprobs) } : {}),
          },
    )
    return message
  }

  /** A call that gave nothing. */
  fail(history: readonly Message[], facts: Partial<CallFacts> = {}): void {
    this.asked.push({ prompt: [], output: [], logprobs: [] })
    const all = { model: 'm', atMs: 0, latencyMs: 0, waitMs: 0, ...facts }
    this.recorder.call('agent', this.recorder.path('agent', history), undefined, all)
  }

  get trajectory(): TrajectoryRecord {
    const { nodes, calls, toolSets } = this.recorder
    return {
      schema: 'quintain.trajectory',
      v: 1,
      attempt: 'attempt-1',
      order: 'task#0',
      task: 'task',
      seats: { agent: { policy: 'm', harness: 'outside@1' } },
      nodes,
      calls,
      ...(toolSets.length === 0 ? {} : { toolSets }),
    }
  }

  get tokens(): Buffer | undefined {
    return this.recorder.tokenChunk()
  }
}

export const user = (content: string): Message => ({ role: 'user', content })
export const system = (content: string): Message => ({ role: 'system', content })
export const result = (content: string, toolCallId = 'c'): Message => ({ role: 'tool', toolCallId, content })
export const says = (content: string, rest: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: 'assistant',
  content,
  ...rest,
})
