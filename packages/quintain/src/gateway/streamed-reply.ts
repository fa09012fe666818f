import type { ModelRequest, ModelResponse, ReplyDelta } from '../core/index.ts'
import type { Dialect, ReplyContext, ReplyError, ReplyWriter } from '../models/dialects/dialect.ts'
import type { Rendered } from './recipient.ts'

/** A request that came through the gateway. */
export type WiredRequest = ModelRequest & Required<Pick<ModelRequest, 'wire'>>

/** How a call ended: with a reply, or with what a program is told instead. */
export type CallEnd = { response: ModelResponse } | { error: ReplyError }

/** Writes one reply as a stream, from its first piece on. */
export class StreamedReply {
  private readonly writer: ReplyWriter
  private started = false

  constructor(dialect: Dialect, context: ReplyContext) {
    this.writer = dialect.replyWriter(context)
  }

  delta(delta: ReplyDelta): string {
    return this.head() + this.writer.delta(delta)
  }

  /** The end, and what no piece has told. */
  end(response: ModelResponse): string {
    return this.head() + this.writer.end(response)
  }

  /** What breaks it off. */
  error(error: ReplyError): string {
    return this.writer.error(error)
  }

  private head(): string {
    if (this.started) return ''
    this.started = true
    return this.writer.start()
  }
}

/** A whole reply, or an error, as it is sent to one who has been told nothing of it. */
export function render(dialect: Dialect, context: ReplyContext, end: CallEnd): Rendered {
  if ('error' in end) {
    const text = JSON.stringify(end.error.body ?? dialect.errorBody(end.error))
    return { status: end.error.status, stream: false, text }
  }
  const { stream } = context.request.wire
  const text = stream
    ? new StreamedReply(dialect, context).end(end.response)
    : wholeText(end.response, dialect.writeReply(end.response, context))
  return { status: 200, stream, text }
}

/** A body as JSON: as the upstream wrote it, where nothing is other than it came. */
function wholeText({ wire }: ModelResponse, body: Record<string, unknown>): string {
  return (body === wire?.body ? wire.text : undefined) ?? JSON.stringify(body)
}
