import type { Fault, ModelResponse, RetryEntry, Sampling } from '../core/index.ts'
import type { Recorder } from '../core/recorder.ts'

/** What is written of a call beside its messages. */
export type CallFacts = Parameters<Recorder['call']>[3]

/** When a call began, in milliseconds of its attempt, and how long it took. */
export interface CallTimes {
  atMs: number
  latencyMs: number
  waitMs: number
}

/** What is written of a call that was answered. */
export function answeredCall(
  model: string,
  sampling: Sampling,
  response: ModelResponse,
  times: CallTimes,
): CallFacts {
  const spans =
    response.policySpans ??
    (response.policyVersion === undefined
      ? undefined
      : [{ start: 0, end: response.tokens?.outputIds?.length ?? 0, version: response.policyVersion }])
  return {
    model: response.model ?? model,
    ...asSent(sampling),
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

/** What is written of a call that gave nothing: its fault, or the flag of a caller who left. */
export function unansweredCall(
  model: string,
  sampling: Sampling,
  times: CallTimes,
  end: { retries: RetryEntry[]; fault?: Fault; flags?: string[] },
): CallFacts {
  const { retries, fault, flags } = end
  return {
    model,
    ...asSent(sampling),
    ...rounded(times),
    ...(retries.length > 0 ? { retries } : {}),
    ...(fault === undefined ? {} : { fault }),
    ...(flags === undefined ? {} : { flags }),
  }
}

function asSent(sampling: Sampling): { sampling?: Record<string, unknown> } {
  return Object.keys(sampling).length === 0 ? {} : { sampling: { ...sampling } }
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
