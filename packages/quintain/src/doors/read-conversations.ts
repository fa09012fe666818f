import { didYouMean, QuintainError } from '../core/index.ts'
import { chatFormat } from './chat-format.ts'
import { isObject } from './chat-messages.ts'
import type { ConversationFormat, ReadConversation } from './conversation.ts'
import { type RecordedValue, recordedValues } from './recorded-values.ts'
import { tauBenchFormat } from './tau-bench-format.ts'

const formats = [tauBenchFormat, chatFormat]

/** The format of a name, `tau-bench` or `chat`. Throws `usage` for another. */
export function formatNamed(name: string): ConversationFormat {
  const found = formats.find((format) => format.name === name)
  if (found !== undefined) return found
  const known = formats.map((format) => format.name)
  throw new QuintainError(
    'usage',
    `There is no format "${name}"${didYouMean(name, known)} Formats: ${known.join(', ')}.`,
    {
      facts: { name, known },
    },
  )
}

/**
 * The format of a file, as its first readable value shows it. Throws `import_invalid` when that is none of ours, or when
 * nothing in the file can be read.
 */
export async function formatOf(path: string): Promise<ConversationFormat> {
  let problem: string | undefined
  for await (const found of recordedValues(path)) {
    if ('problem' in found) {
      problem ??= `${found.place}: ${found.problem}`
      continue
    }
    const format = formats.find((one) => one.knows(found.value))
    if (format !== undefined) return format
    if (isMessage(found.value)) return chatFormat
    problem ??= `${found.place}: it is neither a list of messages, nor an object with "messages", nor a result of tau-bench`
  }
  throw new QuintainError('import_invalid', `${path} holds no conversation. ${problem ?? ''}`.trim(), {
    facts: { path },
  })
}

/** An element of a file that is one conversation: an array of messages. */
function isMessage(value: unknown): boolean {
  return isObject(value) && typeof value['role'] === 'string' && !('messages' in value) && !('traj' in value)
}

/**
 * The conversations of a file, in its order, one at a time; what cannot be read has a `problem` in its place. A file that
 * is one list of messages is one conversation.
 *
 * Throws `import_invalid` as `recordedValues` does.
 */
export async function* readConversations(
  path: string,
  format: ConversationFormat,
): AsyncGenerator<ReadConversation, void, undefined> {
  const values = recordedValues(path)
  const first = await values.next()
  if (first.done) return
  if (format === chatFormat && 'value' in first.value && isMessage(first.value.value)) {
    yield* oneConversation(first.value.value, values)
    return
  }
  yield conversationOf(first.value, format)
  for await (const found of values) yield conversationOf(found, format)
}

async function* oneConversation(
  first: unknown,
  rest: AsyncIterable<RecordedValue>,
): AsyncGenerator<ReadConversation, void, undefined> {
  const messages = [first]
  const problems: ReadConversation[] = []
  for await (const found of rest) {
    if ('problem' in found) problems.push(found)
    else messages.push(found.value)
  }
  yield conversationOf({ place: 'conversation 1', value: messages }, chatFormat)
  yield* problems
}

function conversationOf(found: RecordedValue, format: ConversationFormat): ReadConversation {
  if ('problem' in found) return found
  const read = format.read(found.value)
  return typeof read === 'string' ? { place: found.place, problem: read } : { place: found.place, ...read }
}
