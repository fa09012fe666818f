import { isObject } from '../core/chat-messages.ts'
import { didYouMean, QuintainError } from '../core/index.ts'
import { chatFormat } from './chat-format.ts'
import type { ConversationFormat, ReadConversation, RecordedValue } from './conversation.ts'
import { recordedValues } from './recorded-values.ts'
import { inspectFormat } from './rows-in/inspect-format.ts'
import { withoutNaN } from './rows-in/python-json.ts'
import { verifiersFormat } from './rows-in/verifiers-format.ts'
import { tauBenchFormat } from './tau-bench-format.ts'

/** As their names are told; what looks like another's is looked for before chat, whose shape is the loosest. */
const formats = [tauBenchFormat, chatFormat, verifiersFormat(), inspectFormat()]

/** The format of a name: `tau-bench`, `verifiers`, `inspect` or `chat`. Throws `usage` for another. */
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
  if (path.endsWith('.eval')) return formatNamed('inspect')
  for await (const found of recordedValues(path, { repair: withoutNaN })) {
    if ('problem' in found) {
      problem ??= `${found.place}: ${found.problem}`
      continue
    }
    const known = formats.filter((one) => one.knows(found.value))
    const format = known.find((one) => one !== chatFormat) ?? known[0]
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
  { lenient = false }: { lenient?: boolean } = {},
): AsyncGenerator<ReadConversation, void, undefined> {
  // What other platforms write is Python's JSON; of what people write, a number that is none is a slip to be told of.
  const strict = !lenient && (format === tauBenchFormat || format === chatFormat)
  const repair = strict ? {} : { repair: withoutNaN }
  const values = format.values?.(path) ?? recordedValues(path, repair)
  try {
    const first = await values.next()
    if (first.done) return
    if (format === chatFormat && 'value' in first.value && isMessage(first.value.value)) {
      yield* oneConversation(first.value.value, values)
      return
    }
    yield* conversationsOf(first.value, format)
    for await (const found of values) yield* conversationsOf(found, format)
  } finally {
    // Whoever stops at the first leaves no file open.
    await values.return()
  }
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
  yield* conversationsOf({ place: 'conversation 1', value: messages }, chatFormat)
  yield* problems
}

function* conversationsOf(found: RecordedValue, format: ConversationFormat): Generator<ReadConversation> {
  if ('problem' in found) {
    yield found
    return
  }
  const all = format.readAll?.(found.value) ?? [format.read(found.value)]
  for (const [at, read] of all.entries()) {
    const place = all.length === 1 ? found.place : `${found.place}, trace ${at + 1}`
    yield typeof read === 'string' ? { place, problem: read } : { place, ...read }
  }
}
