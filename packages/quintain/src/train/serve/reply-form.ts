import type { AssistantMessage } from '../../core/index.ts'
import type { Renderer } from '../renderer.ts'
import type { Ask } from './ask.ts'

/** A stretch of a reply, as a stream tells it. */
export interface ReplyPiece {
  /** Which of the replies to a request. */
  index: number
  /** The ids of the prompt, with the first piece of a reply. */
  prompt: Int32Array | undefined
  text: string
  ids: readonly number[]
  logprobs: readonly number[]
  /** Characters of its tokens that were told before. */
  offset: number
}

/** A reply that is over. */
export interface EndedReply {
  index: number
  prompt: Int32Array
  text: string
  message: AssistantMessage
  ids: readonly number[]
  logprobs: readonly number[]
  finish: 'stop' | 'length'
  /** The text or the id that ended it, where the request named it. */
  stoppedBy: string | number | null
}

/** How an endpoint writes replies; everything is the `choices` of a body. */
export interface ReplyForm {
  /** `object` of a whole body, and of a piece of a stream. */
  readonly object: string
  readonly chunkObject: string
  /** How ids of bodies begin. */
  readonly idPrefix: string
  whole(reply: EndedReply): Record<string, unknown>
  piece(piece: ReplyPiece): Record<string, unknown>
  /** The end of a stream's reply, with whatever no piece has told. */
  end(reply: EndedReply): Record<string, unknown>
  /** The ids of the prompt stand in the body and not in the choice. */
  readonly promptInBody: boolean
}

/** Texts of single tokens. */
export class TokenTexts {
  private readonly renderer: Pick<Renderer, 'text'>
  private readonly known = new Map<number, string>()

  constructor(renderer: Pick<Renderer, 'text'>) {
    this.renderer = renderer
  }

  of(id: number, { idsAsTokens }: Pick<Ask, 'idsAsTokens'>): string {
    if (idsAsTokens) return `token_id:${id}`
    let text = this.known.get(id)
    if (text === undefined) {
      text = this.renderer.text(Int32Array.of(id))
      this.known.set(id, text)
    }
    return text
  }
}
