import type { Message } from '../../core/message.ts'
import type { ModelRequest, ToolSpec } from '../../core/model.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  optional,
  optionalFields,
  optionalFlag,
  optionalList,
  optionalText,
  requiredText,
  unknownFields,
  unsupported,
  wrong,
} from './body-fields.ts'
import { DialectError } from './dialect.ts'
import { type History, recordedReply } from './recorded-reply.ts'
import { keptWhole } from './reply-layout.ts'
import { markedReply } from './reply-mark.ts'
import { byItems, isReference, itemOf } from './responses-ids.ts'
import { readInput } from './responses-input.ts'
import { type Item, itemsOf, responsesLayout } from './responses-items.ts'
import { readSampling, readSettings } from './responses-settings.ts'

/** Fields that are read, and those that change nothing of what is sampled. Any other is one that no other dialect knows. */
const known = new Set([
  'background',
  'conversation',
  'frequency_penalty',
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'min_p',
  'model',
  'parallel_tool_calls',
  'presence_penalty',
  'previous_response_id',
  'prompt',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_k',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
])

/** Messages that came from `instructions`, which hold for one reply and are not carried over. */
const instructionMessages = new WeakSet<Message>()

/** Reads the body of a Responses request. */
export function readResponsesRequest(
  given: unknown,
  options: { history?: History } = {},
): ModelRequest & Required<Pick<ModelRequest, 'wire'>> {
  const history = byItems(options.history ?? (() => undefined))
  const body = fieldsOf(given, 'body')
  refuseOthers(body)
  optionalText(body, 'model')
  const earlier = earlierMessages(body, history)
  const items = inputItems(body, history)
  const read = readInput(items, history)
  const own = unknownFields(body, known)
  const tools = readTools(body, own)
  const settings = readSettings(body, tools, own)
  const include = optionalList(body, 'include') ?? []
  const logprobs = include.includes('message.output_text.logprobs')
  // No reply of another dialect brings the texts of its tokens.
  if (logprobs) own.push('include: message.output_text.logprobs')
  return {
    messages: [...instructionsOf(body), ...earlier, ...read],
    ...(tools.length === 0 ? {} : { tools }),
    sampling: { ...readSampling(body), ...(logprobs ? { logprobs } : {}) },
    wire: {
      dialect: 'responses',
      body: { ...body, input: [...itemsOf(earlier), ...unmarked(items, history)] },
      stream: optionalFlag(body, 'stream') ?? false,
      settings: { ...settings, own },
      wants: { logprobs, tokenIds: false, usage: true },
    },
  }
}

function refuseOthers(body: Fields): void {
  if (optional(body, 'conversation') !== undefined) throw unsupported('A stored conversation', 'conversation')
  if (optional(body, 'prompt') !== undefined) throw unsupported('A stored prompt template', 'prompt')
  if (optionalFlag(body, 'background') === true)
    throw unsupported('A response in the background', 'background')
}

function instructionsOf(body: Fields): Message[] {
  const instructions = optionalText(body, 'instructions')
  if (instructions === undefined || instructions === '') return []
  const message: Message = { role: 'system', content: instructions }
  instructionMessages.add(message)
  return [message]
}

function earlierMessages(body: Fields, history: History): Message[] {
  const id = optionalText(body, 'previous_response_id')
  if (id === undefined) return []
  const earlier = history(id)
  if (earlier === undefined)
    throw new DialectError(
      'invalid_request',
      `Previous response with id '${id}' not found.`,
      'previous_response_id',
    )
  return earlier.filter((message) => !instructionMessages.has(message))
}

/** The items of `input`, references followed, and reasoning whole that only its id was sent of. */
function inputItems(body: Fields, history: History): readonly unknown[] {
  const input = optional(body, 'input')
  if (input === undefined && optional(body, 'previous_response_id') !== undefined) return []
  if (input === undefined)
    throw new DialectError('invalid_request', "Missing required parameter: 'input'.", 'input')
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  if (!Array.isArray(input)) throw wrong('input', 'a string or an array')
  return input.map((item: unknown) => {
    if (isReference(item)) {
      const found = recordedItem(item.id, history)
      if (found === undefined)
        throw new DialectError('invalid_request', `Item with id '${item.id}' not found.`, 'input')
      return found
    }
    return isHollow(item) ? (recordedItem(item.id, history) ?? item) : item
  })
}

/** Items as the provider wrote them: it can read no mark of ours. */
function unmarked(items: readonly unknown[], history: History): unknown[] {
  return items.flatMap((item) => {
    const marked = isFields(item) ? markedReply(item['encrypted_content']) : undefined
    return marked === undefined ? [item] : keptWhole(recordedReply(marked, history), responsesLayout)
  })
}

/** A reasoning item without what a provider could read it by. */
function isHollow(item: unknown): item is { id: string } {
  if (typeof item !== 'object' || item === null) return false
  const { type, id, encrypted_content: encrypted } = item as Item
  return type === 'reasoning' && typeof id === 'string' && (encrypted === undefined || encrypted === null)
}

function recordedItem(id: string, history: History): Item | undefined {
  const message = recordedReply(id, history)
  return message && itemOf(message, id)
}

function readTools(body: Fields, own: string[]): ToolSpec[] {
  return (optionalList(body, 'tools') ?? []).map((value, index) => {
    const at = `tools[${index}]`
    const tool = fieldsOf(value, at)
    const type = requiredText(tool, 'type', `${at}.`)
    if (type !== 'function') throw unsupported(`A tool of type '${type}'`, `${at}.type`)
    for (const field of ['output_schema', 'allowed_callers'])
      if (optional(tool, field) !== undefined) own.push(`${at}.${field}`)
    for (const field of ['async', 'defer_loading'])
      if (optionalFlag(tool, field, `${at}.`) === true) own.push(`${at}.${field}`)
    const strict = optionalFlag(tool, 'strict', `${at}.`)
    return {
      name: requiredText(tool, 'name', `${at}.`),
      description: optionalText(tool, 'description', `${at}.`) ?? '',
      parameters: { ...(optionalFields(tool, 'parameters', `${at}.`) ?? { type: 'object', properties: {} }) },
      ...(strict === undefined ? {} : { strict }),
    }
  })
}
