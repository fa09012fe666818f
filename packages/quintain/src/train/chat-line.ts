import { isObject, readChatMessages } from '../core/chat-messages.ts'
import { type Message, message, QuintainError, readJsonlFile, type ToolSpec } from '../core/index.ts'
import { parseJsonAt } from '../core/json-parse.ts'

/** Messages to train on: which of them, and what the model was told of tools. */
export interface TrainedMessages {
  messages: Message[]
  /** One for each message. */
  trained: boolean[]
  tools?: readonly ToolSpec[]
}

/**
 * The messages of a list in OpenAI's chat shape, or in ours (lines of `quintain rows --text-only`). Trained on is what the
 * model said, but for messages with `weight` 0. Throws `import_invalid`, beginning with `from`, for what is none, and where
 * no message is trained on.
 */
export function trainedMessages(
  list: unknown,
  options: { from: string; tools?: unknown; trained?: unknown },
): TrainedMessages {
  const { from } = options
  const messages = messagesOf(list, from)
  const trained = Array.isArray(options.trained)
    ? (options.trained as unknown[]).map((one) => one === true || one === 1)
    : messages.map(({ role }, at) => role === 'assistant' && !hasNoWeight(list, at))
  if (trained.length !== messages.length) {
    throw refuse(from, `"trained" is of ${trained.length} messages, and there are ${messages.length}.`)
  }
  const other = trained.findIndex((one, at) => one && messages[at]!.role !== 'assistant')
  if (other >= 0)
    throw refuse(
      from,
      `message ${other + 1} is of the ${messages[other]!.role}, and only what the model said is learned.`,
    )
  if (!trained.includes(true)) throw refuse(from, 'no message of the assistant is there to be learned.')
  const tools = toolsOf(options.tools, from)
  return { messages, trained, ...(tools === undefined ? {} : { tools }) }
}

function messagesOf(list: unknown, from: string): Message[] {
  const ours = message.array().safeParse(list)
  // What OpenAI calls `tool_calls` would be dropped from it as unknown.
  if (ours.success && !(list as unknown[]).some((one) => isObject(one) && 'tool_calls' in one))
    return ours.data
  const read = readChatMessages(list)
  if (typeof read === 'string') throw refuse(from, `${read}.`)
  return read.messages
}

function hasNoWeight(list: unknown, at: number): boolean {
  const raw: unknown = Array.isArray(list) ? list[at] : undefined
  return isObject(raw) && raw['weight'] === 0
}

function toolsOf(given: unknown, from: string): ToolSpec[] | undefined {
  if (given === undefined || given === null) return undefined
  if (!Array.isArray(given)) throw refuse(from, '"tools" is no list.')
  const tools = (given as unknown[]).map((raw, at): ToolSpec => {
    const inner = isObject(raw) && isObject(raw['function']) ? raw['function'] : raw
    if (!isObject(inner) || typeof inner['name'] !== 'string')
      throw refuse(from, `tool ${at + 1} names no function.`)
    const { name, description, parameters } = inner
    return {
      name,
      description: typeof description === 'string' ? description : '',
      parameters: isObject(parameters) ? parameters : { type: 'object', properties: {} },
    }
  })
  return tools.length === 0 ? undefined : tools
}

/** A task as a line names it; null for what names none. */
export function taskOf(raw: unknown): string | null {
  return typeof raw === 'string' && raw !== '' ? raw : null
}

/**
 * What a line says its conversation was worth; null where it says nothing. Throws `import_invalid` for what would otherwise
 * be taken for nothing: `"1"`, `"yes"`, a number beyond what a number can be.
 */
export function measureOf({
  from,
  reward = null,
  success = null,
}: {
  from: string
  reward?: unknown
  success?: unknown
}): { reward: number | null; success: boolean | null } {
  if (reward !== null && (typeof reward !== 'number' || !Number.isFinite(reward)))
    throw refuse(
      from,
      `its reward is ${saidAs(reward)}, and must be a number, or null where nobody scored it.`,
    )
  if (success !== null && typeof success !== 'boolean')
    throw refuse(
      from,
      `its success is ${saidAs(success)}, and must be true or false, or null where it is not known.`,
    )
  return { reward, success }
}

function saidAs(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

/** True for a line in which something is said twice: a reader of JSON drops the first in silence. */
function saysTwice(raw: Buffer): boolean {
  const read = parseJsonAt(raw.toString())
  return !read.ok && read.failure === 'duplicate_key'
}

/**
 * The objects of a file of JSON lines, each with where it stands. Throws `import_invalid` for a file that cannot be read and
 * at the first line that is none: what is learned from is whole, or not learned from.
 */
export async function* readObjects(
  path: string,
): AsyncGenerator<{ value: Record<string, unknown>; from: string }> {
  const place = (line: number) => `${path}:${line + 1}`
  const broken: string[] = []
  const lines = readJsonlFile(path, {
    onIssue: ({ kind, line, message: what }) => {
      if (kind !== 'nul_padding') broken.push(`${place(line)}: ${what}`)
    },
  })
  try {
    for await (const { value, line, raw } of lines) {
      if (broken.length > 0) break
      if (!isObject(value)) throw refuse(place(line), 'this line is no object.')
      if (saysTwice(raw)) throw refuse(place(line), 'an object in this line has one key twice.')
      yield { value, from: place(line) }
    }
  } catch (thrown) {
    if (QuintainError.isInstance(thrown)) throw thrown
    const code = (thrown as NodeJS.ErrnoException | null)?.code
    if (code === undefined) throw thrown
    throw refuse(path, code === 'ENOENT' ? 'there is no such file.' : `it cannot be read (${code}).`, thrown)
  }
  if (broken[0] !== undefined) {
    throw new QuintainError('import_invalid', `${broken[0]}. Mend the line, or take it out.`, {
      facts: { path },
    })
  }
}

/** An error about data to learn from: where it stands, and what is wrong. */
export function refuse(from: string, what: string, cause?: unknown): QuintainError {
  return new QuintainError('import_invalid', `${from}: ${what}`, { cause, facts: { from } })
}
