import type { DialectName, Message, ModelRequest, ModelResponse, ReplyDelta } from '../../core/index.ts'
import type { RawCompletion, RawMessage } from '../completion.ts'
import type { RequestBodyOptions } from '../request-body.ts'
import type { StreamEnd } from '../stream-assembly.ts'
import type { ThinkTags } from '../thinking.ts'

/**
 * One protocol in which models are asked, seen from both sides: as we speak it to an upstream, and as programs speak it
 * to the gateway. Requests meet in `ModelRequest` (with `wire`), replies in `RawCompletion` and `ModelResponse`.
 */
export interface Dialect {
  readonly name: DialectName
  /** After the base URL: `/chat/completions`, `/responses`, `/messages`. */
  readonly path: string

  /* Towards an upstream. */

  /** Headers of a request, the credential among them. */
  headers(apiKey: string | undefined): Record<string, string>
  /**
   * The JSON text to send. A request whose `wire` is of this dialect is sent as it was written, with the model, the
   * limits of the run and what the records need put in; any other is written from messages, tools, sampling and
   * settings. Throws `DialectError` with code `unsupported` for what this dialect cannot express. Keys of a message's
   * `extra` that begin with `quintain.` are a dialect's own notes; no other dialect sends them.
   */
  requestBody(request: ModelRequest, options: RequestBodyOptions): string
  /** The reply in a body, in the shape of a chat completion; undefined when it holds none. */
  readReply(body: RawMessage): RawCompletion | undefined
  /** Reads the events of one streamed reply. */
  replyReader(options: ReaderOptions): ReplyReader

  /* Towards a program. */

  /**
   * Reads what a program asks. `history` finds the conversation that an earlier reply of this address ended, that reply
   * last, by any id of `replyIds`: for `previous_response_id`, for references to its items, and for reasoning that a
   * program sends back without being able to read it. Throws `DialectError`.
   */
  readRequest(
    body: unknown,
    options?: { history?: (id: string) => readonly Message[] | undefined },
  ): ModelRequest & Required<Pick<ModelRequest, 'wire'>>
  /** The body of a whole reply. What the program did not ask to see is not in it. */
  writeReply(response: ModelResponse, context: ReplyContext): Record<string, unknown>
  /** Writes one streamed reply as the text of server-sent events. */
  replyWriter(context: ReplyContext): ReplyWriter
  /** Ids by which a program may name this reply later: its own, those of its items and of its tool calls. */
  replyIds?(response: ModelResponse, context: ReplyContext): readonly string[]
  /** An error in this protocol's own form. */
  errorBody(error: ReplyError): Record<string, unknown>
}

export interface ReaderOptions {
  /** Makes texts of the server free of secrets before they are cut for a message. */
  redact?: (text: string) => string
  /**
   * Told each piece of the reply as it comes. What says that the reply is broken is not told, nor is `[DONE]`. An event
   * that ends a reply (`response.completed`, `message_stop`) is; the writer holds it back until the reply is recorded.
   */
  onDelta?: (delta: ReplyDelta) => void
  /** What is told: `events` as they came, for a program of this dialect; or `pieces`, in words of no dialect (when absent). */
  as?: 'events' | 'pieces'
  /** Ids of tool calls of earlier turns; `call` pieces are told with the ids that the whole reply will have. */
  taken?: ReadonlySet<string>
  /** Where reasoning in tags is looked for in the text of the reply. */
  thinkTags?: ThinkTags
}

export interface ReplyReader {
  /** One event. False once the stream has said that it is over. */
  push(data: string, event?: string): boolean
  /** What came, given that no more will. */
  end(): StreamEnd
  /** Events that held no JSON. */
  readonly warnings: number
}

/** What a reply to a program is written from, beside the response. */
export interface ReplyContext {
  request: ModelRequest & Required<Pick<ModelRequest, 'wire'>>
  /** Name of the model for replies that name none. */
  model: string
  /** Id of the reply, for those that have none. Unique within an attempt. */
  id: string
  /** Seconds since 1970. */
  created: number
}

export interface ReplyWriter {
  /** Text to send before the first piece; may be empty. */
  start(): string
  delta(delta: ReplyDelta): string
  /** The end of a reply that is whole. What no delta told (a script's reply, which was not streamed) is written here. */
  end(response: ModelResponse): string
  /** What is sent when the reply breaks: an event by which an SDK knows that it is not whole, and no end. */
  error(error: ReplyError): string
}

/** An error as a program is told of it. */
export interface ReplyError {
  /** HTTP status. */
  status: number
  /** Stable word, such as `turn_limit`, `unsupported`, `invalid_request`. */
  code: string
  message: string
  /** The field that is wrong, where it is one. */
  param?: string
  /** The whole body, where a provider of the same protocol wrote it. */
  body?: Record<string, unknown>
}

/** What a program asked for cannot be read, or cannot be had from this upstream. */
export class DialectError extends Error {
  override readonly name = 'DialectError'
  readonly code: 'invalid_request' | 'unsupported'
  readonly param: string | undefined

  constructor(code: 'invalid_request' | 'unsupported', message: string, param?: string) {
    super(message)
    this.code = code
    this.param = param
  }
}
