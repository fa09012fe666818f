import type { Message } from '../../core/message.ts'
import type { ModelRequest, Sampling, ToolSpec } from '../../core/model.ts'
import type { WireSettings } from '../../core/wire.ts'
import {
  type Fields,
  fieldsOf,
  listOf,
  optional,
  optionalCount,
  optionalFields,
  optionalFlag,
  optionalList,
  optionalNumber,
  optionalText,
  requiredText,
  unknownFields,
  unsupported,
  wrong,
} from './body-fields.ts'
import { DialectError } from './dialect.ts'
import { blocksOf, readParts, readTurns } from './messages-input.ts'
import { rememberThread, unthreaded, wholeTurns } from './messages-threads.ts'
import type { History } from './recorded-reply.ts'

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
      body: earlier === undefined ? body : { ...body, messages: wholeTurns(earlier, body) },
      stream: optionalFlag(body, 'stream') ?? false,
      settings: { ...readSettings(body, own), own },
      wants: { logprobs: false, tokenIds: false, usage: true },
    },
  }
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

function readSampling(body: Fields): Sampling {
  const maxTokens = optionalCount(body, 'max_tokens')
  if (maxTokens === undefined)
    throw new DialectError('invalid_request', 'max_tokens: Field required', 'max_tokens')
  const temperature = optionalNumber(body, 'temperature')
  const topP = optionalNumber(body, 'top_p')
  const stop = optionalList(body, 'stop_sequences')?.map((text, index) => {
    if (typeof text !== 'string') throw wrong(`stop_sequences.${index}`, 'a string')
    return text
  })
  const effort = optionalText(optionalFields(body, 'output_config') ?? {}, 'effort', 'output_config.')
  return {
    maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop }),
    ...(effort === undefined ? {} : { reasoningEffort: effort }),
  }
}

function readSettings(body: Fields, own: string[]): Omit<WireSettings, 'own'> {
  const topK = optionalNumber(body, 'top_k')
  const format =
    optionalFields(optionalFields(body, 'output_config') ?? {}, 'format', 'output_config.') ??
    optionalFields(body, 'output_format')
  const responseFormat = readFormat(format)
  const reasoningTokens = readThinking(optionalFields(body, 'thinking'), own)
  return {
    ...readToolChoice(optionalFields(body, 'tool_choice')),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(topK === undefined ? {} : { topK }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

function readFormat(format: Fields | undefined): WireSettings['responseFormat'] {
  if (format === undefined) return undefined
  const at = 'output_config.format.'
  const type = requiredText(format, 'type', at)
  if (type !== 'json_schema') throw unsupported(`An output format of type '${type}'`, `${at}type`)
  const schema = { ...fieldsOf(optional(format, 'schema'), `${at}schema`) }
  return { type: 'schema', name: 'output', schema, strict: true }
}

/** Tokens of thinking at most; undefined where the model decides, as it does without being told so. */
function readThinking(thinking: Fields | undefined, own: string[]): number | undefined {
  if (thinking === undefined) return undefined
  const type = requiredText(thinking, 'type', 'thinking.')
  if (type === 'enabled') {
    const budget = optionalCount(thinking, 'budget_tokens', 'thinking.')
    if (budget === undefined) throw wrong('thinking.budget_tokens', 'a positive integer')
    return budget
  }
  if (type === 'disabled') return 0
  if (type !== 'adaptive') own.push(`thinking.type (${type})`)
  return undefined
}

function readToolChoice(choice: Fields | undefined): Pick<WireSettings, 'toolChoice' | 'parallelToolCalls'> {
  if (choice === undefined) return {}
  const type = requiredText(choice, 'type', 'tool_choice.')
  const alone = optionalFlag(choice, 'disable_parallel_tool_use', 'tool_choice.')
  const parallel = alone === undefined ? {} : { parallelToolCalls: !alone }
  switch (type) {
    case 'auto':
    case 'none':
      return { toolChoice: type, ...parallel }
    case 'any':
      return { toolChoice: 'required', ...parallel }
    case 'tool':
      return { toolChoice: { tool: requiredText(choice, 'name', 'tool_choice.') }, ...parallel }
    default:
      throw wrong('tool_choice.type', "'auto', 'any', 'tool' or 'none'")
  }
}
