import type { ModelRequest, Sampling, ToolSpec, WireRequest, WireSettings } from '../../core/index.ts'
import { chatMessage, providersFields } from '../request-body.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  listOf,
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
import { readHistory } from './chat-history.ts'
import type { History } from './recorded-reply.ts'

/** Fields that other dialects know too, or that change nothing that is sampled. Any other is of this dialect alone. */
const carried = new Set([
  ...['model', 'messages', 'tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'n'],
  ...[
    'temperature',
    'top_p',
    'top_k',
    'min_p',
    'frequency_penalty',
    'presence_penalty',
    'seed',
    'stop',
    'verbosity',
  ],
  ...['max_tokens', 'max_completion_tokens', 'reasoning_effort', 'logprobs', 'top_logprobs', 'modalities'],
  ...['stream', 'stream_options', 'user', 'metadata', 'store', 'service_tier'],
  ...[
    'safety_identifier',
    'prompt_cache_key',
    'prompt_cache_retention',
    'prompt_cache_options',
    'cache_prompt',
  ],
  ...['priority', 'request_id', 'cache_salt', 'include_reasoning', 'usage'],
])

/** What a field is worth where it changes nothing, as some packages always send it. */
const neutral: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  logit_bias: (value) => isFields(value) && Object.keys(value).length === 0,
}

function isNeutral(field: string, value: unknown): boolean {
  return Object.hasOwn(neutral, field) && neutral[field]!(value)
}

/** Reads the body of a chat completion request. Throws `DialectError`, and nothing else, whatever it is given. */
export function readChatRequest(
  body: unknown,
  options: { history?: History } = {},
): ModelRequest & { wire: WireRequest } {
  const given = unmarked(fieldsOf(body, 'body'))
  refuseUncarried(given)
  requiredText(given, 'model')
  const messages = readHistory(listOf(given['messages'], 'messages'), options.history)
  const legacy = (given['functions'] ?? given['function_call'] ?? undefined) !== undefined
  const fields = legacy || hasFirstForm(given) ? modern(given, messages) : given
  const tools = readTools(optionalList(fields, 'tools') ?? [])
  const sampling = readSampling(fields)
  const streamOptions = optionalFields(fields, 'stream_options')
  return {
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    ...(Object.keys(sampling).length === 0 ? {} : { sampling }),
    wire: {
      dialect: 'chat',
      body: fields,
      stream: optionalFlag(fields, 'stream') === true,
      settings: readSettings(fields),
      wants: {
        logprobs: sampling.logprobs === true,
        tokenIds: fields['return_token_ids'] === true,
        usage: streamOptions?.['include_usage'] === true,
        ...(legacy ? { functionCall: true } : {}),
      },
    },
  }
}

/** The body without fields of messages that are named as our own notes are: by those, items would reach an upstream unread. */
function unmarked(body: Fields): Fields {
  const { messages } = body
  const isMarked = (message: unknown): message is Fields =>
    isFields(message) && Object.keys(message).some((key) => key.startsWith('quintain.'))
  if (!Array.isArray(messages) || !messages.some(isMarked)) return body
  const kept = messages.map((message: unknown) => (isMarked(message) ? providersFields(message) : message))
  return { ...body, messages: kept }
}

function refuseUncarried(body: Fields): void {
  const n = optionalNumber(body, 'n')
  if (n !== undefined && n !== 1) throw unsupported('More than one answer to a request (or none)', 'n')
  const modalities = optionalList(body, 'modalities') ?? []
  if (modalities.some((kind) => kind !== 'text')) throw unsupported('Output other than text', 'modalities')
  for (const [field, what] of [
    ['audio', 'Audio'],
    ['prediction', 'A predicted output'],
    ['web_search_options', "The provider's own web search"],
  ] as const) {
    if (body[field] !== undefined && body[field] !== null) throw unsupported(what, field)
  }
}

/** Whether the history holds calls in the protocol's first form. */
function hasFirstForm(body: Fields): boolean {
  const { messages } = body
  return (
    Array.isArray(messages) &&
    messages.some(
      (entry) => isFields(entry) && (isFields(entry['function_call']) || entry['role'] === 'function'),
    )
  )
}

/** A request in the protocol's first form (`functions`), which most servers no longer read, in the form that they do. */
function modern(body: Fields, messages: ModelRequest['messages']): Fields {
  const { functions: _functions, function_call: choice, ...rest } = body
  const functions = optionalList(body, 'functions') ?? []
  const named = isFields(choice) ? requiredText(choice, 'name', 'function_call.') : undefined
  return {
    ...rest,
    messages: messages.map((message) => chatMessage(message, true)),
    ...(functions.length === 0
      ? {}
      : { tools: functions.map((entry) => ({ type: 'function', function: entry })) }),
    ...(choice === undefined || choice === null
      ? {}
      : { tool_choice: named === undefined ? choice : { type: 'function', function: { name: named } } }),
  }
}

/** Tools as a request lists them. Throws `DialectError`. */
export function readTools(tools: readonly unknown[]): ToolSpec[] {
  return tools.map((entry, index) => {
    const param = `tools[${index}]`
    const tool = fieldsOf(entry, param)
    if (tool['type'] !== undefined && tool['type'] !== 'function')
      throw unsupported(`A tool of type ${JSON.stringify(tool['type'])}`, `${param}.type`)
    const at = `${param}.function.`
    const spec = fieldsOf(tool['function'], `${param}.function`)
    const strict = optionalFlag(spec, 'strict', at)
    return {
      name: requiredText(spec, 'name', at),
      description: optionalText(spec, 'description', at) ?? '',
      parameters: { ...(optionalFields(spec, 'parameters', at) ?? { type: 'object', properties: {} }) },
      ...(strict === undefined ? {} : { strict }),
    }
  })
}

function readSampling(body: Fields): Sampling {
  const limit = optionalCount(body, 'max_tokens')
  const stop = readStop(body['stop'])
  return present({
    temperature: optionalNumber(body, 'temperature'),
    topP: optionalNumber(body, 'top_p'),
    maxTokens: optionalCount(body, 'max_completion_tokens') ?? limit,
    stop: stop?.length === 0 ? undefined : stop,
    seed: optionalNumber(body, 'seed'),
    reasoningEffort: optionalText(body, 'reasoning_effort'),
    logprobs: optionalFlag(body, 'logprobs') === true ? true : undefined,
  })
}

function readStop(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return [value]
  return listOf(value, 'stop').map((entry, index) => {
    if (typeof entry !== 'string') throw wrong(`stop[${index}]`, 'a string')
    return entry
  })
}

function readSettings(body: Fields): WireSettings {
  const own = unknownFields(body, carried).filter((field) => !isNeutral(field, body[field]))
  const choice = readToolChoice(body['tool_choice'])
  const verbosity = optionalText(body, 'verbosity')
  if (choice === 'allowed_tools') own.push('tool_choice.allowed_tools')
  const penalty = (field: string): number | undefined => {
    const value = optionalNumber(body, field)
    return isNeutral(field, value) ? undefined : value
  }
  return {
    ...present({
      toolChoice: choice === 'allowed_tools' ? undefined : choice,
      parallelToolCalls: optionalFlag(body, 'parallel_tool_calls'),
      responseFormat: readFormat(optionalFields(body, 'response_format')),
      topK: optionalNumber(body, 'top_k'),
      minP: optionalNumber(body, 'min_p'),
      frequencyPenalty: penalty('frequency_penalty'),
      presencePenalty: penalty('presence_penalty'),
      topLogprobs: optionalNumber(body, 'top_logprobs'),
      verbosity: verbosity === 'medium' ? undefined : verbosity,
    }),
    own,
  }
}

function readToolChoice(value: unknown): WireSettings['toolChoice'] | 'allowed_tools' {
  if (value === undefined || value === null) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (typeof value === 'string') throw wrong('tool_choice', 'one of none, auto and required, or an object')
  const choice = fieldsOf(value, 'tool_choice')
  if (choice['type'] === 'allowed_tools') return 'allowed_tools'
  if (choice['type'] !== 'function')
    throw unsupported(`A choice of type ${JSON.stringify(choice['type'])}`, 'tool_choice.type')
  const named = fieldsOf(choice['function'], 'tool_choice.function')
  return { tool: requiredText(named, 'name', 'tool_choice.function.') }
}

function readFormat(format: Fields | undefined): WireSettings['responseFormat'] {
  if (format === undefined || format['type'] === 'text') return undefined
  if (format['type'] === 'json_object') return { type: 'json' }
  if (format['type'] !== 'json_schema')
    throw unsupported(`A format of type ${JSON.stringify(format['type'])}`, 'response_format.type')
  const given = fieldsOf(format['json_schema'], 'response_format.json_schema')
  const at = 'response_format.json_schema.'
  return {
    type: 'schema',
    name: requiredText(given, 'name', at),
    schema: { ...(optionalFields(given, 'schema', at) ?? {}) },
    ...present({
      strict: optionalFlag(given, 'strict', at),
      description: optionalText(given, 'description', at),
    }),
  }
}

/** The same without the fields that are not there. */
function present<T extends Record<string, unknown>>(
  fields: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const found: { [Key in keyof T]?: Exclude<T[Key], undefined> } = {}
  for (const key in fields) {
    const value = fields[key]
    if (isPresent(value)) found[key] = value
  }
  return found
}

function isPresent<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined
}
