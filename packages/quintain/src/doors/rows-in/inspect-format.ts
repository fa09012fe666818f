import { isObject, readChatMessages } from '../../core/chat-messages.ts'
import { type Outcome, QuintainError, type Usage } from '../../core/index.ts'
import type { Conversation, ConversationFormat } from '../conversation.ts'
import { isTrial } from '../tau-bench-format.ts'
import { foreignFault } from './foreign-error.ts'
import { toolsOf } from './foreign-values.ts'
import { inspectValues, isInspectLog, type LoggedSample } from './inspect-log.ts'

type Loose = Record<string, unknown>
type Read = Omit<Conversation, 'place'>

/**
 * Logs of Inspect AI, `.json` or `.eval`: a sample in an epoch is an attempt. The reward is the first scorer's (`score`
 * names another), and the others are metrics; grades are numbers as Inspect counts them, C 1, P 0.5, I and N 0. A sample
 * with an error is a fault, scored or not, and one that the log says was planned and does not hold is one too. Targets are
 * secret.
 *
 * Source: UKGovernmentBEIS/inspect_ai, log/_log.py and scorer/_metric.py (0.3.285).
 */
export function inspectFormat(score?: string): ConversationFormat {
  return {
    name: 'inspect',
    rubric: `${score === undefined ? 'the first score' : `the score ${score}`} as recorded, C 1, P 0.5, I and N 0`,
    metrics: [],
    needsReward: false,
    values: inspectValues,
    knows: isInspectLog,
    read: (value) => readSample(value as LoggedSample, score),
  }
}

function readSample({ sample, log }: LoggedSample, wanted: string | undefined): Read | string {
  const { id, epoch, messages, target, scores, error, limit, attachments, events, input: _, ...rest } = sample
  if (typeof id !== 'string' && typeof id !== 'number') return 'it has no id'
  const trial = typeof epoch === 'number' ? epoch - 1 : 0
  if (!isTrial(trial)) return 'its epoch is no number from 1'
  const facts = isObject(log['eval']) ? log['eval'] : {}
  const model = facts['model']
  const config = isObject(facts['model_generate_config']) ? facts['model_generate_config'] : {}
  const shared = {
    task: String(id),
    trial,
    ...(typeof model === 'string' && model !== '' ? { policy: model } : {}),
    ...(typeof facts['task'] === 'string' && facts['task'] !== '' ? { measured: facts['task'] } : {}),
    ...(Object.keys(config).length === 0 ? {} : { sampling: config }),
  }
  if (sample['absent'] === true) {
    const fault = foreignFault(undefined)
    fault.code = 'not_in_file'
    fault.message = 'The log planned this sample and does not hold it.'
    return { ...shared, messages: [], notes: [], outcome: 'cancelled', fault }
  }
  const attached = isObject(attachments) ? attachments : {}
  const given = Array.isArray(messages) ? (messages as unknown[]) : []
  const read = readChatMessages(given.map((message) => chatMessage(message, attached)))
  if (typeof read === 'string') return read
  for (const [at, message] of read.messages.entries())
    if (message.role === 'tool' && isObject((given[at] as Loose)['error'])) message.error = 'original_error'
  const all = scoresOf(scores, facts)
  const first = wanted ?? [...all.keys()][0]
  const chosen = first === undefined ? undefined : all.get(first)
  // A slip of who asks, and nothing of the file's: leaving out every sample would be no answer to it.
  if (wanted !== undefined && all.size > 0 && chosen === undefined) {
    const known = [...all.keys()].join(', ')
    throw new QuintainError('import_invalid', `A sample has no score "${wanted}". Its scores: ${known}.`, {
      facts: { wanted, known },
    })
  }
  const others = [...all].filter(([name]) => name !== first)
  const conversation: Read = {
    ...shared,
    messages: read.messages,
    sampled: read.messages.map(
      ({ role }, at) => role === 'assistant' && (given[at] as Loose)['source'] !== 'input',
    ),
    notes: read.notes,
    reward: chosen?.value ?? null,
    metrics: Object.fromEntries(others.map(([name, { value }]) => [name, value])),
    ...endOf(limit),
    rest: { ...rest, scores, error },
    secret: { target },
  }
  if (chosen?.success !== undefined) conversation.success = chosen.success
  for (const [name, key] of [
    ['start', 'started_at'],
    ['end', 'completed_at'],
  ] as const) {
    const time = Date.parse(String(sample[key]))
    if (Number.isFinite(time)) conversation[name] = new Date(time).toISOString()
  }
  const offered = toolsOf(toolsOfEvents(events))
  if (offered.length > 0) conversation.tools = offered
  const usage = usageOf(sample['model_usage'], model)
  if (usage !== undefined) conversation.usage = usage
  if (error !== undefined && error !== null) {
    const text = isObject(error) ? error['message'] : error
    conversation.fault = foreignFault(text)
  }
  return conversation
}

/** A message in OpenAI's shape: reasoning apart from the text, calls with the text of their arguments, attachments in place. */
function chatMessage(message: unknown, attached: Loose): unknown {
  if (!isObject(message)) return message
  const { role, content, tool_calls: calls, tool_call_id: id, function: name, name: own } = message
  const parts = Array.isArray(content) ? (content as unknown[]) : undefined
  const isReasoning = (part: unknown) => isObject(part) && part['type'] === 'reasoning'
  const reasoning = parts
    ?.filter(isReasoning)
    .map((part) => textOr((part as Loose)['reasoning'], ''))
    .join('\n')
  const said = parts?.filter((part) => !isReasoning(part)).map((part) => partOf(part, attached))
  return {
    role,
    content: said ?? resolved(content, attached),
    ...(reasoning ? { reasoning_content: resolved(reasoning, attached) } : {}),
    ...(Array.isArray(calls) && calls.length > 0
      ? { tool_calls: (calls as unknown[]).map((call) => callOf(call, attached)) }
      : {}),
    ...(typeof id === 'string' ? { tool_call_id: id } : {}),
    ...(typeof name === 'string' ? { name } : typeof own === 'string' ? { name: own } : {}),
  }
}

function textOr(value: unknown, other: string): string {
  return typeof value === 'string' ? value : other
}

function partOf(part: unknown, attached: Loose): unknown {
  if (!isObject(part)) return part
  if (part['type'] === 'text') return { type: 'text', text: resolved(part['text'], attached) }
  if (part['type'] === 'image')
    return { type: 'image_url', image_url: { url: resolved(part['image'], attached) } }
  return part
}

function callOf(call: unknown, attached: Loose): unknown {
  if (!isObject(call)) return call
  const { id, function: name, arguments: given } = call
  // Inspect parses what the model wrote; its own text is not in the log.
  const text = typeof given === 'string' ? resolved(given, attached) : JSON.stringify(given ?? {})
  return { id, type: 'function', function: { name, arguments: text } }
}

/** What a text stands for: long ones are kept apart, and named `attachment://…` in its place. */
function resolved(value: unknown, attached: Loose): unknown {
  const [, name] = typeof value === 'string' ? (/^attachment:\/\/(\w{1,128})$/.exec(value) ?? []) : []
  return name !== undefined && Object.hasOwn(attached, name) ? attached[name] : value
}

interface Scored {
  value: number | null
  /** Where it was a grade. */
  success?: boolean
}

const grades: Record<string, number> = { C: 1, P: 0.5, I: 0, N: 0 }

/** Scores by name, in the order of the scorers; parts of one that is several as `name/part`. */
function scoresOf(scores: unknown, facts: Loose): Map<string, Scored> {
  const found = new Map<string, Scored>()
  if (!isObject(scores)) return found
  const planned = Array.isArray(facts['scorers']) ? (facts['scorers'] as unknown[]) : []
  const order = planned.flatMap((scorer) => (isObject(scorer) ? [String(scorer['name'])] : []))
  const names = Object.keys(scores)
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  for (const name of names.toSorted((a, b) => rank(a) - rank(b))) {
    const score = scores[name]
    const value = isObject(score) ? score['value'] : score
    if (!isObject(value)) found.set(name, scoredOf(value))
    else for (const [part, held] of Object.entries(value)) found.set(`${name}/${part}`, scoredOf(held))
  }
  return found
}

function scoredOf(value: unknown): Scored {
  if (typeof value === 'boolean') return { value: Number(value), success: value }
  if (typeof value === 'number') return { value: Number.isFinite(value) ? value : null }
  if (typeof value !== 'string') return { value: null }
  if (Object.hasOwn(grades, value)) return { value: grades[value]!, success: value === 'C' }
  const number = value.trim() === '' ? Number.NaN : Number(value)
  return { value: Number.isFinite(number) ? number : null }
}

const outcomesOfLimits: Record<string, Outcome> = {
  message: 'turn_limit',
  turn: 'turn_limit',
  time: 'wall_limit',
  working: 'wall_limit',
  token: 'token_limit',
  cost: 'cost_limit',
  context: 'context_overflow',
}

function endOf(limit: unknown): { outcome: Outcome; stop?: string } {
  const type = isObject(limit) ? limit['type'] : undefined
  if (typeof type !== 'string') return { outcome: 'completed' }
  const known = Object.hasOwn(outcomesOfLimits, type) ? outcomesOfLimits[type]! : 'env_done'
  return { outcome: known, stop: type.slice(0, 80) }
}

/** The tools that the model was told of in its first call. */
function toolsOfEvents(events: unknown): unknown {
  if (!Array.isArray(events)) return undefined
  const model = (events as unknown[]).find((event) => isObject(event) && event['event'] === 'model')
  return isObject(model) ? model['tools'] : undefined
}

function usageOf(usage: unknown, model: unknown): Usage | undefined {
  const own = isObject(usage) && typeof model === 'string' ? usage[model] : undefined
  if (!isObject(own)) return undefined
  const { input_tokens: input, output_tokens: output } = own
  if (!isTrial(input) || !isTrial(output)) return undefined
  const [read, write] = [own['input_tokens_cache_read'], own['input_tokens_cache_write']]
  return {
    fresh: input,
    cacheRead: isTrial(read) ? read : 0,
    cacheWrite: isTrial(write) ? write : 0,
    output,
  }
}
