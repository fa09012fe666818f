import type {
  Fault,
  ModelResponse,
  RetryEntry,
  Sampling,
  ToolSpec,
  Usage,
  WireSettings,
} from '../core/index.ts'
import type { CallFacts } from '../core/recorder.ts'

/** When a call began, in milliseconds of its attempt, and how long it took. */
export interface CallTimes {
  atMs: number
  latencyMs: number
  waitMs: number
}

/** What was asked of a model. */
export interface CallAsked {
  model: string
  sampling: Sampling
  /** What a program asked for beyond that. */
  settings: WireSettings | undefined
  /** What the model was told of, where that is not what its seat has. */
  tools: readonly ToolSpec[] | undefined
}

/** What is written of a call that was answered. */
export function answeredCall(asked: CallAsked, response: ModelResponse, times: CallTimes): CallFacts {
  const spans =
    response.policySpans ??
    (response.policyVersion === undefined
      ? undefined
      : [{ start: 0, end: response.tokens?.outputIds?.length ?? 0, version: response.policyVersion }])
  const { model, finishRaw, responseId, usage, costUsd, timing, retries, flags } = response
  // Field by field: what is spread is copied once more, and this is written of every call.
  const facts: CallFacts = sent(asked)
  if (model !== undefined) facts.model = model
  facts.finish = response.finish
  if (finishRaw !== undefined) facts.finishRaw = finishRaw
  if (responseId !== undefined) facts.responseId = responseId
  if (usage !== undefined) facts.usage = usage
  if (costUsd !== undefined) facts.costUsd = costUsd
  addTimes(facts, times, timing?.firstByteMs)
  if (retries !== undefined && retries.length > 0) facts.retries = retries
  if (flags !== undefined && flags.length > 0) facts.flags = flags
  if (spans !== undefined) facts.policySpans = spans
  return facts
}

/** How a call ended that gave nothing: its fault, or the flag of a caller who left and what was used until then. */
export interface UnansweredEnd {
  fault?: Fault
  flags?: string[]
  usage?: Usage
  costUsd?: number | null
}

/** What is written of a call that gave nothing. */
export function unansweredCall(
  asked: CallAsked,
  times: CallTimes,
  end: UnansweredEnd & { retries: RetryEntry[] },
): CallFacts {
  const { retries, fault, flags, usage, costUsd } = end
  const facts: CallFacts = sent(asked)
  addTimes(facts, times)
  if (retries.length > 0) facts.retries = retries
  if (fault !== undefined) facts.fault = fault
  if (flags !== undefined) facts.flags = flags
  if (usage !== undefined) facts.usage = usage
  if (costUsd !== undefined) facts.costUsd = costUsd
  return facts
}

/** The beginning of what is written; its times follow what is known of the reply. */
function sent({ model, sampling, settings, tools }: CallAsked): CallFacts {
  const facts = { model } as CallFacts
  const all = { ...sampling, ...(settings === undefined ? {} : said(settings)) }
  if (Object.keys(all).length > 0) facts.sampling = all
  if (tools !== undefined) facts.tools = tools
  return facts
}

/** Settings of a program as they are recorded: what moves the sampling, without the schemas of its formats. */
function said({ own, responseFormat, ...settings }: WireSettings): Record<string, unknown> {
  return {
    ...settings,
    ...(responseFormat === undefined ? {} : { responseFormat: responseFormat.type }),
    ...(own.length === 0 ? {} : { own }),
  }
}

function addTimes(facts: CallFacts, { atMs, latencyMs, waitMs }: CallTimes, firstByteMs?: number): void {
  facts.atMs = round(atMs)
  facts.latencyMs = round(latencyMs)
  if (firstByteMs !== undefined) facts.firstByteMs = round(firstByteMs)
  facts.waitMs = round(waitMs)
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
