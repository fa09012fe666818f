import type { ReplyDelta } from '../core/index.ts'

/** A piece of a reply in words of no dialect. */
export type ReplyPiece = Exclude<ReplyDelta, { type: 'event' }>

/**
 * Pieces of a streamed reply, whatever form they came in: an upstream that speaks the dialect of the request tells its
 * events as they came, and those are chat completion chunks here.
 */
export class ReplyPieces {
  private readonly calls = new Set<number>()

  read(delta: ReplyDelta): ReplyPiece[] {
    if (delta.type !== 'event') return [delta]
    const pieces: ReplyPiece[] = []
    const said = record(record(list(delta.json?.['choices'])[0])?.['delta'])
    if (said === undefined) return pieces
    const reasoning = text(said['reasoning_content']) ?? text(said['reasoning'])
    if (reasoning !== undefined) pieces.push({ type: 'reasoning', text: reasoning })
    const content = text(said['content'])
    if (content !== undefined) pieces.push({ type: 'text', text: content })
    for (const entry of list(said['tool_calls'])) {
      const call = record(entry)
      const named = record(call?.['function'])
      const index = call?.['index']
      const at = typeof index === 'number' ? index : 0
      if (!this.calls.has(at)) {
        this.calls.add(at)
        pieces.push({
          type: 'call',
          call: at,
          id: text(call?.['id']) ?? `call_${at + 1}`,
          name: text(named?.['name']) ?? '',
        })
      }
      const args = text(named?.['arguments'])
      if (args !== undefined) pieces.push({ type: 'arguments', call: at, text: args })
    }
    return pieces
  }
}

function record(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
