import { isObject, readChatMessages } from '../../core/chat-messages.ts'
import type { Usage } from '../../core/index.ts'
import type { Conversation, ConversationFormat } from '../conversation.ts'
import { isTrial } from '../tau-bench-format.ts'
import { foreignFault } from './foreign-error.ts'
import { isoOf, numbersOf, toolsOf } from './foreign-values.ts'
import { outcomeOfStop } from './original-stop.ts'
import { isTrace, readTraces } from './verifiers-traces.ts'

type Loose = Record<string, unknown>
type Read = Omit<Conversation, 'place'>

/** What stands beside the results of `verifiers` v0, in `metadata.json`. */
export interface VerifiersMetadata {
  /** A reward from here on is a success. */
  passThreshold?: number
}

/** What cannot be seen in a file of v0, whatever is done. */
const swallowed =
  'verifiers v0 gives 0.0 where a reward function raises, and writes it as any other: a reward of 0 here may be an error of the grader.'

/**
 * Results of `verifiers`: rows of v0 (`results.jsonl`) and traces of v1 (`traces.jsonl`), told apart by their shape, since
 * `version` was counted up and set back. A row with an error, and a trace that is not ok, is a fault, whatever reward was
 * written beside it. Answers, `info` and the data of tasks are secret.
 *
 * Source: PrimeIntellect-ai/verifiers, types.py and utils/save_utils.py (v0, 0.2.0), v1/trace.py (0.2.0, 0.3.1).
 */
export function verifiersFormat({ passThreshold }: VerifiersMetadata = {}): ConversationFormat {
  return {
    name: 'verifiers',
    rubric:
      passThreshold === undefined
        ? 'reward as recorded'
        : `reward as recorded, success from ${passThreshold} on`,
    ...(passThreshold === undefined ? {} : { isSuccess: (reward: number) => reward >= passThreshold }),
    metrics: [],
    needsReward: false,
    knows: (value) => isTrace(value) || isRow(value),
    read: () => 'it is neither a row of results nor a trace',
    readAll(value) {
      if (isTrace(value)) return readTraces(value)
      if (isRow(value)) return [readRow(value)]
      return ['it is neither a row of results (example_id, completion) nor a trace of verifiers']
    },
  }
}

function isRow(value: unknown): value is Loose {
  return isObject(value) && 'example_id' in value && ('completion' in value || 'prompt' in value)
}

function readRow(row: Loose): Read | string {
  const { example_id: task, prompt, completion, answer, info, reward, error, metrics, ...rest } = row
  if (typeof task !== 'string' && typeof task !== 'number')
    return 'its example_id is neither a number nor a text'
  if (reward !== undefined && reward !== null && typeof reward !== 'number')
    return `its reward is ${JSON.stringify(reward).slice(0, 40)}, which is no number`
  const read = readChatMessages([...messagesOf(prompt, 'user'), ...messagesOf(completion, 'assistant')])
  if (typeof read === 'string') return read
  const asked = messagesOf(prompt, 'user').length
  const { tool_defs: tools, token_usage: usage, timing, stop_condition: stop, is_truncated: truncated } = row
  const secret = { ...(answer === undefined ? {} : { answer }), ...(info === undefined ? {} : { info }) }
  const end = outcomeOfStop(stop)
  // An environment of one turn says so of every answer that it takes.
  if (end.outcome === 'turn_limit' && read.messages.length - asked === 1) end.outcome = 'completed'
  const conversation: Read = {
    task: String(task),
    messages: read.messages,
    sampled: read.messages.map(({ role }, at) => role === 'assistant' && at >= asked),
    notes: read.notes,
    caveats: [swallowed],
    reward: reward ?? null,
    metrics: numbersOf(metrics),
    ...end,
    ...(truncated === true && end.outcome === 'completed' ? { outcome: 'truncated' as const } : {}),
    rest: { ...rest, error },
    ...(Object.keys(secret).length === 0 ? {} : { secret }),
    ...timesOf(timing),
  }
  const offered = toolsOf(tools)
  if (offered.length > 0) conversation.tools = offered
  const counted = usageOf(usage)
  if (counted !== undefined) conversation.usage = counted
  if (error !== undefined && error !== null) conversation.fault = foreignFault(typeOf(error))
  return conversation
}

/** Messages as v0 has them: a list, or the text of a completion model. */
function messagesOf(value: unknown, role: 'user' | 'assistant'): unknown[] {
  if (typeof value === 'string') return [{ role, content: value }]
  return Array.isArray(value) ? value : []
}

/** The type in an error of v0: `{ error: 'ModelError', … }`, or the text of an exception, `ModelError('…')`. */
function typeOf(error: unknown): unknown {
  return isObject(error) ? (error['error'] ?? error['type']) : error
}

function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const { input_tokens: input, output_tokens: output } = value
  return isTrial(input) && isTrial(output) ? { fresh: input, cacheRead: 0, cacheWrite: 0, output } : undefined
}

function timesOf(timing: unknown): { start?: string; end?: string } {
  if (!isObject(timing)) return {}
  const scoring = isObject(timing['scoring']) ? timing['scoring'] : {}
  const [start, end] = [isoOf(timing['start_time']), isoOf(scoring['end'])]
  return { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) }
}
