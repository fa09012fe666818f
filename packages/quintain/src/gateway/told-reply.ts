import type { ReplyDelta } from '../core/index.ts'
import { tokensOfChars } from './guessed-tokens.ts'

/** Keys of pieces whose texts nobody has sampled. */
const notSampled = new Set(['role', 'type', 'id', 'object', 'status', 'signature'])

/** What the caller of a call was told of its reply, should nobody say any more how much it was. */
export class ToldReply {
  /** Pieces of any kind. */
  pieces = 0
  private saying = 0
  private chars = 0
  private ids = 0
  private stated = 0

  add(delta: ReplyDelta): void {
    this.pieces++
    const before = this.chars + this.ids
    if (delta.type !== 'event') this.chars += 'text' in delta ? delta.text.length : delta.name.length
    else if (delta.json !== undefined) this.addEvent(delta.json)
    if (this.chars + this.ids > before) this.saying++
  }

  /**
   * How many tokens were told. The count of their ids, or what the server said on its way; else a guess, which is a token
   * for four characters, and one at least for each piece. Reasoning that is not shown is not in it.
   */
  get tokens(): number {
    if (this.ids > 0) return Math.max(this.ids, this.stated)
    return Math.max(this.saying, tokensOfChars(this.chars), this.stated)
  }

  private addEvent(json: Record<string, unknown>): void {
    const { delta, choices, usage } = json
    this.chars += charsIn(delta)
    for (const choice of Array.isArray(choices) ? choices : []) {
      if (!isObject(choice)) continue
      this.chars += charsIn(choice['delta'])
      if (Array.isArray(choice['token_ids'])) this.ids += choice['token_ids'].length
    }
    if (!isObject(usage)) return
    for (const key of ['completion_tokens', 'output_tokens']) {
      const count = usage[key]
      if (typeof count === 'number' && count > this.stated) this.stated = count
    }
  }
}

function charsIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (!isObject(value)) return 0
  let chars = 0
  for (const key in value) if (!notSampled.has(key)) chars += charsIn(value[key])
  return chars
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
