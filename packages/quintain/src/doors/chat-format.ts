import { isObject, readChatMessages } from '../core/chat-messages.ts'
import { type Outcome, outcomes, type Usage } from '../core/index.ts'
import type { Conversation, ConversationFormat } from './conversation.ts'
import { toolsOf } from './rows-in/foreign-values.ts'
import { isTrial } from './tau-bench-format.ts'

type Loose = Record<string, unknown>

const samplingNames = [
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'seed',
  'stop',
  'frequency_penalty',
  'presence_penalty',
  'reasoning_effort',
] as const

/** Names under which one fact is found, the first that is there; looked for in the value itself, then in its metadata. */
const names = {
  task: ['task_id', 'task', 'taskId'],
  trial: ['trial', 'repeat', 'attempt'],
  reward: ['reward', 'score'],
  success: ['success', 'is_correct', 'passed'],
  policy: ['model', 'policy'],
  split: ['split'],
  start: ['start', 'created_at', 'started_at'],
  end: ['end', 'ended_at', 'completed_at'],
  outcome: ['outcome', 'finish_reason'],
  costUsd: ['cost_usd', 'costUsd'],
  usage: ['usage'],
  tags: ['tags'],
  secret: ['secret', 'gold', 'expected', 'ideal'],
} as const

/**
 * Conversations in OpenAI's chat shape: a list of messages, or an object with `messages` and, all optional, `tools` (or
 * `functions`), `completion` (a last message apart from the others), and what is known of it: `task_id`, `trial`,
 * `reward`, `success`, `model`, `temperature`, `usage`, `split`, `tags`, `created_at`, `secret`, … These may stand in
 * `metadata` as well. Nothing that is not named here is lost: it is kept, in private.
 *
 * Source: OpenAI API reference, chat completions and stored completions; fine-tuning files have the same lines.
 */
export const chatFormat: ConversationFormat = {
  name: 'chat',
  rubric: 'reward and success as recorded',
  metrics: [],
  needsReward: false,

  knows: (value) => Array.isArray(value) || (isObject(value) && Array.isArray(value['messages'])),

  read(value) {
    const line: Loose = Array.isArray(value) ? { messages: value } : isObject(value) ? value : {}
    if (!Array.isArray(line['messages']))
      return 'it is neither a list of messages nor an object with "messages"'
    const { messages: given, tools, functions, completion, metadata, ...others } = line
    const last = completion === undefined ? [] : [isObject(completion) ? completion : said(completion)]
    const read = readChatMessages([...(given as unknown[]), ...last])
    if (typeof read === 'string') return read
    const fields = new Fields(others, isObject(metadata) ? metadata : {})
    const conversation: Omit<Conversation, 'place'> = {
      messages: read.messages,
      notes: read.notes,
      outcome: 'completed',
    }
    const problem = readFacts(conversation, fields)
    if (problem !== undefined) return problem
    const offered = toolsOf(tools ?? functions)
    if (offered.length > 0) conversation.tools = offered
    const rest = fields.rest()
    if (metadata !== undefined && !isObject(metadata)) rest['metadata'] = metadata
    if (Object.keys(rest).length > 0) conversation.rest = rest
    return conversation
  },
}

function said(text: unknown): Loose {
  return { role: 'assistant', content: text }
}

/** The fields of a line and of its metadata, and which of them nobody has asked for. */
class Fields {
  readonly #line: Loose
  readonly #metadata: Loose
  readonly #taken = new Set<string>()

  constructor(line: Loose, metadata: Loose) {
    this.#line = line
    this.#metadata = metadata
  }

  take(keys: readonly string[]): unknown {
    for (const [under, where] of [
      ['', this.#line],
      ['metadata.', this.#metadata],
    ] as const) {
      for (const key of keys) {
        if (!Object.hasOwn(where, key) || where[key] === undefined) continue
        this.#taken.add(`${under}${key}`)
        return where[key]
      }
    }
    return undefined
  }

  /** Gives back what was taken and is of no use, so that it is kept with the rest. */
  putBack(keys: readonly string[]): void {
    for (const key of keys) for (const under of ['', 'metadata.']) this.#taken.delete(`${under}${key}`)
  }

  rest(): Loose {
    const left = (under: string, where: Loose) =>
      Object.entries(where).filter(([key]) => !this.#taken.has(`${under}${key}`))
    const metadata = left('metadata.', this.#metadata)
    return {
      ...Object.fromEntries(left('', this.#line)),
      ...(metadata.length === 0 ? {} : { metadata: Object.fromEntries(metadata) }),
    }
  }
}

/** Fills in what the line says beside its messages. Gives a text for a fact that counts and makes no sense. */
function readFacts(conversation: Omit<Conversation, 'place'>, fields: Fields): string | undefined {
  const task = fields.take(names.task)
  if (typeof task === 'string' || typeof task === 'number') conversation.task = String(task)
  else if (task !== undefined) fields.putBack(names.task)

  const trial = fields.take(names.trial)
  if (isTrial(trial)) conversation.trial = trial
  else if (trial !== undefined && trial !== null)
    return `its trial is ${JSON.stringify(trial)}; trials are whole numbers from 0`

  const reward = fields.take(names.reward)
  if (reward === null || (typeof reward === 'number' && Number.isFinite(reward))) conversation.reward = reward
  else if (reward !== undefined) return `its reward is ${JSON.stringify(reward)}, which is no number`

  const success = fields.take(names.success)
  if (typeof success === 'boolean') conversation.success = success
  else if (success !== undefined && success !== null)
    return `its success is ${JSON.stringify(success)}; write true or false`

  for (const name of ['policy', 'split'] as const) {
    const value = fields.take(names[name])
    if (typeof value === 'string' && value !== '') conversation[name] = value
    else if (value !== undefined) fields.putBack(names[name])
  }
  for (const name of ['start', 'end'] as const) {
    const time = timeOf(fields.take(names[name]))
    if (time !== undefined) conversation[name] = time
    else fields.putBack(names[name])
  }
  const sampling: Loose = {}
  for (const name of samplingNames) {
    const value = fields.take([name])
    if (value !== undefined && value !== null) sampling[name] = value
  }
  if (Object.keys(sampling).length > 0) conversation.sampling = sampling

  const ended = fields.take(names.outcome)
  const outcome = outcomeOf(ended)
  if (outcome !== undefined) conversation.outcome = outcome
  if (typeof ended === 'string' && ended !== outcome) conversation.stop = ended

  const cost = fields.take(names.costUsd)
  if (typeof cost === 'number' && Number.isFinite(cost)) conversation.costUsd = { agent: cost }
  else fields.putBack(names.costUsd)
  const usage = usageOf(fields.take(names.usage))
  if (usage !== undefined) conversation.usage = usage
  else fields.putBack(names.usage)

  const tags = fields.take(names.tags)
  if (Array.isArray(tags) && tags.every((tag) => typeof tag === 'string')) conversation.tags = tags
  else fields.putBack(names.tags)
  const secret = fields.take(names.secret)
  if (secret !== undefined) conversation.secret = secret
  return undefined
}

/** An ISO time, from one or from seconds or milliseconds since 1970. */
function timeOf(value: unknown): string | undefined {
  const ms =
    typeof value === 'string'
      ? Date.parse(value)
      : typeof value === 'number'
        ? value * (value < 1e11 ? 1000 : 1)
        : Number.NaN
  // Beyond this a Date has no text.
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : undefined
}

function outcomeOf(value: unknown): Outcome | undefined {
  if (value === 'length') return 'truncated'
  if (value === 'content_filter') return 'refused'
  if (value === 'stop' || value === 'tool_calls') return 'completed'
  return outcomes.find((known) => known === value)
}

function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = value
  if (!isTrial(input) || !isTrial(output)) return undefined
  const cached = isObject(details) && isTrial(details['cached_tokens']) ? details['cached_tokens'] : 0
  const cacheRead = Math.min(cached, input)
  return { fresh: input - cacheRead, cacheRead, cacheWrite: 0, output }
}
