import type { Message } from '../../core/message.ts'
import { type Fields, optional, optionalFields, requiredText } from './body-fields.ts'
import { DialectError } from './dialect.ts'
import { turnsOf } from './messages-blocks.ts'
import { type History, recordedReply } from './recorded-reply.ts'

/** What is said once, when a thread begins, by the first message of its conversation. */
const begun = new WeakMap<Message, Fields>()

/**
 * The body of a request without a thread, since the gateway keeps the conversation itself (the beta
 * `message-threads-2026-08-12`). A request that goes on with a thread gets `system` and `tools` of the one that began it,
 * and `earlier`, the conversation so far.
 */
export function unthreaded(
  body: Fields,
  history: History,
): { body: Fields; earlier: readonly Message[] | undefined } {
  const thread = optionalFields(body, 'thread')
  if (thread === undefined) return { body, earlier: undefined }
  const { thread: _thread, ...rest } = body
  if (requiredText(thread, 'type', 'thread.') === 'create') return { body: rest, earlier: undefined }
  const id = requiredText(thread, 'previous_message_id', 'thread.')
  const earlier = recordedReply(id, history) === undefined ? undefined : history(id)
  const first = earlier?.[0]
  const said = first && begun.get(first)
  if (earlier === undefined || said === undefined)
    throw new DialectError('invalid_request', `thread: no message '${id}' to go on from was found.`, 'thread')
  return { body: { ...said, ...rest }, earlier }
}

/** Notes what a later request may leave out. */
export function rememberThread(messages: readonly Message[], body: Fields): void {
  const [first] = messages
  if (first === undefined || begun.has(first)) return
  const said: Record<string, unknown> = {}
  for (const key of ['system', 'tools']) if (optional(body, key) !== undefined) said[key] = body[key]
  begun.set(first, said)
}

/** The conversation so far as turns of a body. */
export function earlierTurns(earlier: readonly Message[] | undefined): unknown[] {
  return earlier === undefined ? [] : turnsOf(earlier).turns
}
