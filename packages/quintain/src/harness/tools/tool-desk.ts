import type { Content, Message, ToolBox, ToolSpec } from '../../core/index.ts'

/** What came of one tool call. */
export interface ToolAnswer {
  content: Content
  /** Why it failed: one of `toolErrorCodes`, or the tool's own code. */
  error?: string
  /** The environment's word for the end of the episode, when this call ended it. */
  done?: string
}

/**
 * The tools of a seat for an agent that holds its own conversation. Calls are carried out one after the other in the
 * order in which they came, whichever way they came; the first that ends the episode is the last that is run.
 */
export class ToolDesk {
  readonly specs: readonly ToolSpec[]
  /** The environment's word for the end, once a call has ended the episode. */
  done: string | undefined
  /** Told once, when a call has ended the episode. */
  onDone: (() => void) | undefined
  private readonly tools: ToolBox
  private readonly messages: Message[]
  private queue: Promise<unknown> = Promise.resolve()
  private count = 0
  private closed = false

  /** `messages` is the conversation; calls and their results are added to it. */
  constructor(tools: ToolBox, messages: Message[]) {
    this.specs = tools.specs
    this.tools = tools
    this.messages = messages
  }

  /**
   * Carries out a call. `args` is an object, or the text of one as a model wrote it. What the agent got wrong is in the
   * answer; rejects when the world failed or the attempt is over.
   */
  call(name: string, args: unknown): Promise<ToolAnswer> {
    const answer = this.queue.then(() => this.run(name, args))
    this.queue = answer.catch(() => {})
    // A call that nobody waits for must not end the process when the rollout is over before it.
    answer.catch(() => {})
    return answer
  }

  /** Refuses every later call. */
  close(): void {
    this.closed = true
  }

  private async run(name: string, args: unknown): Promise<ToolAnswer> {
    if (this.closed || this.done !== undefined)
      return { content: 'the episode has ended; answer now', error: 'episode_over' }
    const text = typeof args === 'string' ? args : (JSON.stringify(args) ?? '')
    const call = { id: `call_${this.count++}`, name, arguments: text }
    this.messages.push({ role: 'assistant', content: '', toolCalls: [call] })
    const { messages, done } = await this.tools.run([call], { truncated: false })
    this.messages.push(...messages)
    const [said] = messages
    const answer: ToolAnswer = { content: said?.content ?? '' }
    if (said?.error !== undefined) answer.error = said.error
    if (done !== undefined) {
      answer.done = done
      this.done = done
      this.onDone?.()
    }
    return answer
  }
}
