import type { PlayStart } from '../../engine/index.ts'

/** What is kept to be found again, however few sessions still hold it. */
const mostKept = 64

/** Tools and system messages with which many sessions begin, held in memory once: thousands of sessions have the same ones. */
export class SharedStarts {
  private readonly known = new Map<string, unknown>()

  /** The same start, of parts that are shared. */
  shared(start: PlayStart): PlayStart {
    return {
      ...start,
      tools: this.one(start.tools),
      // What else is said belongs to one task.
      messages: start.messages.map((message) => (message.role === 'system' ? this.one(message) : message)),
    }
  }

  private one<T>(value: T): T {
    const text = JSON.stringify(value)
    const known = this.known.get(text)
    if (known !== undefined) return known as T
    if (this.known.size >= mostKept) this.known.delete(this.known.keys().next().value!)
    this.known.set(text, value)
    return value
  }
}
