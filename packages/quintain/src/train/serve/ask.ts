import { didYouMean } from '../../core/index.ts'
import {
  type Fields,
  optional,
  optionalFields,
  optionalFlag,
  optionalNumber,
  wrong,
} from '../../models/dialects/body-fields.ts'
import { invalid } from './problem.ts'
import { readTokenIds } from './token-ids.ts'

/** How replies are sampled and told, whichever way a request says it. */
export interface Ask {
  /** Replies to each prompt. */
  choices: number
  /** Absent: as many tokens as the context leaves. */
  maxTokens: number | undefined
  temperature: number | undefined
  topP: number | undefined
  topK: number | undefined
  stopTexts: readonly string[]
  /** Beside those by which every reply ends. */
  stopIds: readonly number[]
  /** The same seed and weights give the same replies. */
  seed: number | undefined
  stream: boolean
  /** Usage at the end of a stream. */
  usage: boolean
  logprobs: boolean
  tokenIds: boolean
  /** Texts of tokens as `token_id:N`. */
  idsAsTokens: boolean
}

/** Most replies to one prompt, as OpenAI has it. */
export const mostChoices = 128
const mostStops = 16
/** Characters of a text that ends a reply. */
const longestStop = 1_000
const mostStopIds = 1_024

/** Fields of both endpoints that are read here. */
const read: readonly string[] = [
  ...['model', 'n', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop', 'stop_token_ids', 'seed'],
  ...['stream', 'stream_options', 'logprobs', 'return_token_ids', 'return_tokens_as_token_ids'],
]

/** Fields that change nothing of what is sampled or told. */
const ignored: ReadonlySet<string> = new Set([
  ...['user', 'metadata', 'store', 'service_tier', 'safety_identifier', 'priority', 'request_id'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'cache_prompt', 'cache_salt'],
  ...['include_reasoning', 'usage', 'add_special_tokens', 'skip_special_tokens'],
])

/** What a field is worth where it asks for nothing, as some programs always send it. */
const neutral: Readonly<Record<string, (value: unknown) => boolean>> = {
  frequency_penalty: (value) => value === 0,
  presence_penalty: (value) => value === 0,
  repetition_penalty: (value) => value === 1,
  length_penalty: (value) => value === 1,
  min_p: (value) => value === 0,
  min_tokens: (value) => value === 0,
  best_of: (value) => value === 1,
  echo: (value) => value === false,
  suffix: (value) => value === '',
  logit_bias: isEmpty,
  chat_template_kwargs: isEmpty,
  functions: isEmpty,
  response_format: (value) => isObject(value) && value['type'] === 'text',
  modalities: (value) => JSON.stringify(value) === '["text"]',
  verbosity: (value) => value === 'medium',
  parallel_tool_calls: (value) => value === true,
  add_generation_prompt: (value) => value === true,
  continue_final_message: (value) => value === false,
  ignore_eos: (value) => value === false,
  include_stop_str_in_output: (value) => value === false,
  use_beam_search: (value) => value === false,
  spaces_between_special_tokens: (value) => typeof value === 'boolean',
}

/**
 * Reads what both endpoints know of sampling, for a policy of a vocabulary. `own`: fields that the endpoint reads beside.
 * Throws for a value that is wrong, and for a field that asks for what is not done here: a reply that ignored it would not
 * be the one asked for.
 */
export function readAsk(body: Fields, own: readonly string[], vocabulary: number): Ask {
  refuseUnheeded(body, [...read, ...own])
  const streamOptions = optionalFields(body, 'stream_options')
  const topK = whole(body, 'top_k', -1)
  return {
    choices: bounded(whole(body, 'n', 1) ?? 1, 'n', mostChoices),
    maxTokens: whole(body, 'max_tokens', 1),
    temperature: between(body, 'temperature', 0, 100),
    topP: above(between(body, 'top_p', 0, 1), 'top_p'),
    // vLLM's word for no such bound is -1, or 0.
    topK: topK === undefined || topK < 1 ? undefined : topK,
    stopTexts: readStops(body),
    stopIds: readStopIds(body, vocabulary),
    seed: whole(body, 'seed', Number.MIN_SAFE_INTEGER),
    stream: optionalFlag(body, 'stream') === true,
    usage:
      streamOptions !== undefined && optionalFlag(streamOptions, 'include_usage', 'stream_options.') === true,
    logprobs: false,
    tokenIds: optionalFlag(body, 'return_token_ids') === true,
    idsAsTokens: optionalFlag(body, 'return_tokens_as_token_ids') === true,
  }
}

/** Refuses to tell of alternatives, which the sampler does not give. */
export function refuseAlternatives(param: string, count: number | undefined): void {
  if (count === undefined || count === 0) return
  throw invalid(
    param,
    `'${param}' must be 0 here: the log-probability of the token that was sampled is known, and that of no other.`,
  )
}

/** A whole number of at least `least`. */
export function whole(body: Fields, key: string, least: number): number | undefined {
  const value = optionalNumber(body, key)
  if (value === undefined) return undefined
  if (!Number.isSafeInteger(value)) throw wrong(key, 'an integer')
  if (value < least) throw invalid(key, `'${key}' must be at least ${least}.`)
  return value
}

function bounded(value: number, key: string, most: number, of = ''): number {
  if (value > most) throw invalid(key, `'${key}' must be at most ${most}${of && ` ${of}`}.`)
  return value
}

function between(body: Fields, key: string, least: number, most: number): number | undefined {
  const value = optionalNumber(body, key)
  if (value !== undefined && !(value >= least && value <= most))
    throw invalid(key, `'${key}' must be between ${least} and ${most}.`)
  return value
}

function above(value: number | undefined, key: string): number | undefined {
  if (value === 0) throw invalid(key, `'${key}' must be above 0.`)
  return value
}

function readStops(body: Fields): string[] {
  const value = optional(body, 'stop')
  if (value === undefined) return []
  const stops: readonly unknown[] = Array.isArray(value) ? value : [value]
  bounded(stops.length, 'stop', mostStops, 'texts')
  return stops.map((stop) => {
    if (typeof stop !== 'string') throw wrong('stop', 'a string or an array of strings')
    if (stop === '') throw invalid('stop', "'stop' must not hold an empty text, which every reply holds.")
    bounded(stop.length, 'stop', longestStop, 'characters')
    return stop
  })
}

function readStopIds(body: Fields, vocabulary: number): number[] {
  const value = optional(body, 'stop_token_ids')
  if (value === undefined) return []
  if (!Array.isArray(value)) throw wrong('stop_token_ids', 'an array of integers')
  bounded(value.length, 'stop_token_ids', mostStopIds, 'ids')
  return [...readTokenIds(value, 'stop_token_ids', vocabulary)]
}

function refuseUnheeded(body: Fields, known: readonly string[]): void {
  for (const field of Object.keys(body)) {
    const value = optional(body, field)
    if (value === undefined || known.includes(field) || ignored.has(field)) continue
    const asksNothing = Object.hasOwn(neutral, field) ? neutral[field] : undefined
    if (asksNothing?.(value) === true) continue
    throw invalid(
      field,
      asksNothing === undefined
        ? `'${field}' is not known here.${didYouMean(field, known)} Leave it out.`
        : `'${field}' is not heeded here, so a reply would not be what it asks for. Leave it out.`,
    )
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0
}
