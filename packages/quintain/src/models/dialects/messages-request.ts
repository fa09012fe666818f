import type { Message } from '../../core/message.ts'
import type { ModelRequest, ToolSpec } from '../../core/model.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  listOf,
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
import { messagesLayout } from './messages-blocks.ts'
import { blocksOf, readParts, readTurns } from './messages-input.ts'
import { readSampling, readSettings } from './messages-settings.ts'
import { earlierTurns, rememberThread, unthreaded } from './messages-threads.ts'
import { type History, recordedReply } from './recorded-reply.ts'
import { keptWhole } from './reply-layout.ts'
import { markedReply } from './reply-mark.ts'

/** Fields that are read, and those that change nothing of what is sampled. Any other is one that no other dialect knows. */
const known = new Set([
  'betas',
  'cache_control',
  'context_management',
  'diagnostics',
  'inference_geo',
  'max_tokens',
  'mcp_servers',
  'messages',
  'metadata',
  'model',
  'output_config',
  'output_format',
  'service_tier',
  'speed',
  'stop_sequences',
  'stream',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
  'user_profile_id',
  'workspace_id',
])

/** Tools whose schema the provider knows and which the program itself carries out. Only that provider's models know them. */
const clientTools = /^(bash|text_editor|memory|computer)_\d{8}$/

/** Reads the body of a Messages request. */
export function readMessagesRequest(
  given: unknown,
  options: { history?: History } = {},
): ModelRequest & Required<Pick<ModelRequest, 'wire'>> {
  const { history = () => undefined } = options
  const { body, earlier } = unthreaded(fieldsOf(given, 'body'), history)
  optionalText(body, 'model')
  const said = readTurns(listOf(optional(body, 'messages'), 'messages'), history)
  const turns = earlier === undefined ? [...readSystem(body), ...said] : [...earlier, ...said]
  if (!turns.some(({ role }) => role !== 'system'))
    throw new DialectError('invalid_request', 'messages: at least one message is required', 'messages')
  const own = unknownFields(body, known)
  if (optional(body, 'mcp_servers') !== undefined && optionalList(body, 'mcp_servers')?.length !== 0)
    throw unsupported('An MCP server at the provider', 'mcp_servers')
  if (!keepsThinking(optional(body, 'context_management'))) own.push('context_management')
  // Only this dialect goes on with a reply that has begun.
  if (turns.at(-1)?.role === 'assistant') own.push('a reply that has begun')
  const tools = readTools(body, own)
  rememberThread(turns, body)
  return {
    messages: turns,
    ...(tools.length === 0 ? {} : { tools }),
    sampling: readSampling(body),
    wire: {
      dialect: 'messages',
      body: { ...body, messages: [...earlierTurns(earlier), ...unmarked(body, history)] },
      stream: optionalFlag(body, 'stream') ?? false,
      settings: { ...readSettings(body, own), own },
      wants: { logprobs: false, tokenIds: false, usage: true },
    },
  }
}

/** Turns as the provider wrote them: it can read no mark of ours. */
function unmarked(body: Fields, history: History): unknown[] {
  return listOf(optional(body, 'messages'), 'messages').map((turn) => {
    const content = isFields(turn) && turn['role'] === 'assistant' ? turn['content'] : undefined
    if (!isFields(turn) || !Array.isArray(content) || !content.some(isMarked)) return turn
    return {
      ...turn,
      content: content.flatMap((block: unknown) =>
        isMarked(block)
          ? keptWhole(recordedReply(markedReply(block.signature), history), messagesLayout)
          : [block],
      ),
    }
  })
}

function isMarked(block: unknown): block is { signature: string } {
  return isFields(block) && markedReply(block['signature']) !== undefined
}

function readSystem(body: Fields): Message[] {
  if (optional(body, 'system') === undefined) return []
  const content = readParts(blocksOf(body, '', 'system'))
  return content === '' ? [] : [{ role: 'system', content }]
}

/** Whether edits of the context are only what happens without them: earlier thinking stays. */
function keepsThinking(edits: unknown): boolean {
  if (edits === undefined) return true
  const list = optionalList(fieldsOf(edits, 'context_management'), 'edits', 'context_management.') ?? []
  return list.every((value, index) => {
    const edit = fieldsOf(value, `context_management.edits.${index}`)
    return String(edit['type']).startsWith('clear_thinking_') && edit['keep'] === 'all'
  })
}

function readTools(body: Fields, own: string[]): ToolSpec[] {
  return (optionalList(body, 'tools') ?? []).map((value, index) => {
    const at = `tools.${index}`
    const tool = fieldsOf(value, at)
    const type = optionalText(tool, 'type', `${at}.`) ?? 'custom'
    if (clientTools.test(type)) own.push(`${at}.type (${type})`)
    else if (type !== 'custom') throw unsupported(`A tool of type '${type}'`, `${at}.type`)
    for (const field of ['input_examples', 'allowed_callers'])
      if (optional(tool, field) !== undefined) own.push(`${at}.${field}`)
    if (optionalFlag(tool, 'defer_loading', `${at}.`) === true) own.push(`${at}.defer_loading`)
    const strict = optionalFlag(tool, 'strict', `${at}.`)
    const schema = optionalFields(tool, 'input_schema', `${at}.`)
    if (schema === undefined && type === 'custom') throw wrong(`${at}.input_schema`, 'an object')
    return {
      name: requiredText(tool, 'name', `${at}.`),
      description: optionalText(tool, 'description', `${at}.`) ?? '',
      parameters: { ...(schema ?? { type: 'object' }) },
      ...(strict === undefined ? {} : { strict }),
    }
  })
}
