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
  return {
    ...sent(asked),
    ...(response.model === undefined ? {} : { model: response.model }),
    finish: response.finish,
    ...(response.finishRaw === undefined ? {} : { finishRaw: response.finishRaw }),
    ...(response.responseId === undefined ? {} : { responseId: response.responseId }),
    ...(response.usage === undefined ? {} : { usage: response.usage }),
    ...(response.costUsd === undefined ? {} : { costUsd: response.costUsd }),
    ...rounded(times, response.timing?.firstByteMs),
    ...(response.retries?.length ? { retries: response.retries } : {}),
    ...(response.flags?.length ? { flags: response.flags } : {}),
    ...(spans === undefined ? {} : { policySpans: spans }),
  }
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
  return {
    ...sent(asked),
    ...rounded(times),
    ...(retries.length > 0 ? { retries } : {}),
    ...(fault === undefined ? {} : { fault }),
    ...(flags === undefined ? {} : { flags }),
    ...(usage === undefined ? {} : { usage }),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

function sent({ model, sampling, settings, tools }: CallAsked) {
  const all = { ...sampling, ...(settings === undefined ? {} : said(settings)) }
  return {
    model,
    ...(Object.keys(all).length === 0 ? {} : { sampling: all }),
    ...(tools === undefined ? {} : { tools }),
  }
}

/** Settings of a program as they are recorded: what moves the sampling, without the schemas of its formats. */
function said({ own, responseFormat, ...settings }: WireSettings): Record<string, unknown> {
  return {
    ...settings,
    ...(responseFormat === undefined ? {} : { responseFormat: responseFormat.type }),
    ...(own.length === 0 ? {} : { own }),
  }
}

function rounded({ atMs, latencyMs, waitMs }: CallTimes, firstByteMs?: number) {
  return {
    atMs: round(atMs),
    latencyMs: round(latencyMs),
    ...(firstByteMs === undefined ? {} : { firstByteMs: round(firstByteMs) }),
    waitMs: round(waitMs),
  }
}

function round(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
