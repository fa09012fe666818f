import { type ModelResponse, type ReplyDelta, textOf } from '../../core/index.ts'
import { ReplyPieces } from '../reply-pieces.ts'
import type { AiStreamPart } from './types.ts'
import { writeFinish, writeUsage } from './write-result.ts'

/** Writes the parts of one streamed reply. */
export class StreamParts {
  private readonly pieces = new ReplyPieces()
  private block: 'text' | 'reasoning' | undefined
  private blocks = 0
  private told = { text: '', reasoning: '' }

  /** Text and reasoning go on as they come; calls are told whole, at the end. */
  delta(delta: ReplyDelta): AiStreamPart[] {
    const parts: AiStreamPart[] = []
    for (const piece of this.pieces.read(delta))
      if (piece.type === 'text' || piece.type === 'reasoning') parts.push(...this.say(piece.type, piece.text))
    return parts
  }

  /** The end of a reply that is whole, with what no piece told. */
  end(response: ModelResponse): AiStreamPart[] {
    const { message } = response
    const parts: AiStreamPart[] = []
    const rest = {
      reasoning: message.reasoning ?? '',
      text: textOf(message.content) || (message.refusal ?? ''),
    }
    for (const kind of ['reasoning', 'text'] as const)
      if (this.told[kind] === '' && rest[kind] !== '') parts.push(...this.say(kind, rest[kind]))
    parts.push(...this.endBlock())
    for (const { id, name, arguments: input } of message.toolCalls ?? [])
      parts.push(
        { type: 'tool-input-start', id, toolName: name },
        { type: 'tool-input-delta', id, delta: input },
        { type: 'tool-input-end', id },
        { type: 'tool-call', toolCallId: id, toolName: name, input },
      )
    const { responseId, model, usage } = response
    parts.push({
      type: 'response-metadata',
      ...(responseId === undefined ? {} : { id: responseId }),
      ...(model === undefined ? {} : { modelId: model }),
    })
    parts.push({ type: 'finish', finishReason: writeFinish(response), usage: writeUsage(usage) })
    return parts
  }

  private say(kind: 'text' | 'reasoning', delta: string): AiStreamPart[] {
    const parts: AiStreamPart[] = []
    if (this.block !== kind) {
      parts.push(...this.endBlock())
      this.block = kind
      parts.push({ type: `${kind}-start`, id: `${++this.blocks}` })
    }
    this.told[kind] += delta
    parts.push({ type: `${kind}-delta`, id: `${this.blocks}`, delta })
    return parts
  }

  private endBlock(): AiStreamPart[] {
    if (this.block === undefined) return []
    const kind = this.block
    this.block = undefined
    return [{ type: `${kind}-end`, id: `${this.blocks}` }]
  }
}
