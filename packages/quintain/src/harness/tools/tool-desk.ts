import type { Content, Message, ToolBox, ToolCall, ToolSpec } from '../../core/index.ts'
import { CallOrder } from './call-order.ts'

/** What came of one tool call. */
export interface ToolAnswer {
  content: Content
  /** Why it failed: one of `toolErrorCodes`, or the tool's own code. */
  error?: string
  /** The environment's word for the end of the episode, when this call ended it. */
  done?: string
}

/**
 * The tools of a seat for an agent that holds its own conversation. Calls are carried out one after the other,
 * those of one reply in the order in which the model named them, others in the order in which they came, whichever way
 * they came; the first that ends the episode is the last that is run.
 */
export class ToolDesk {
  readonly specs: readonly ToolSpec[]
  /** The environment's word for the end, once a call has ended the episode. */
  done: string | undefined
  /** Told once, when a call has ended the episode; see `withGrace`. */
  onDone: (() => void) | undefined
  private readonly tools: ToolBox
  private readonly messages: Message[]
  private readonly order: CallOrder
  private queue: Promise<unknown> = Promise.resolve()
  private count = 0
  private closed = false

  /**
   * `messages` is the conversation; calls and their results are added to it. `lastCalls` gives the calls of the reply that
   * a model gave last, where that is known.
   */
  constructor(
    tools: ToolBox,
    messages: Message[],
    lastCalls: () => readonly ToolCall[] | undefined = () => undefined,
  ) {
    this.specs = tools.specs
    this.tools = tools
    this.messages = messages
    this.order = new CallOrder(lastCalls)
  }

  /**
   * Carries out a call. `args` is an object, or the text of one as a model wrote it. What the agent got wrong is in the
   * answer; rejects when the world failed or the attempt is over.
   */
  call(name: string, args: unknown): Promise<ToolAnswer> {
    const answer = new Promise<ToolAnswer>((resolve, reject) => {
      const text = typeof args === 'string' ? args : (JSON.stringify(args) ?? '')
      this.order.place(name, text, () => {
        const ran = this.queue.then(() => this.run(name, text))
        this.queue = ran.catch(() => {})
        ran.then(resolve, reject)
      })
    })
    // A call that nobody waits for must not end the process when the rollout is over before it.
    answer.catch(() => {})
    return answer
  }

  /** Refuses every later call. */
  close(): void {
    this.closed = true
    this.order.release()
  }

  private async run(name: string, text: string): Promise<ToolAnswer> {
    if (this.closed || this.done !== undefined)
      return { content: 'the episode has ended; answer now', error: 'episode_over' }
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
