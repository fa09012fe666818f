import { FaultError, isThrown, type JudgeReply, messageOf, QuintainError } from '../../core/index.ts'
import type { GraderResult, LabelModelGrader, ScoreModelGrader } from './grader.ts'
import { failed } from './grader-failure.ts'
import { readLabelReply, readScoreReply } from './judge-reply.ts'
import { judgeRequest } from './judge-request.ts'
import type { RunGraderOptions } from './run-grader.ts'

/** Asks the model of a grader, and makes of its reply a score or the reason why there is none. */
export async function runModelGrader(
  grader: ScoreModelGrader | LabelModelGrader,
  { item, sample, means = {}, policy = {}, signal }: Omit<RunGraderOptions, 'grader'>,
): Promise<GraderResult> {
  const asked = judgeRequest(grader, { item, sample })
  if (!asked.ok) return failed(grader, asked.code, asked.message)
  if (means.ask === undefined)
    return failed(grader, 'model_grader_server_error', 'there is no model to ask; name one for this judge')
  let reply: JudgeReply
  try {
    reply = await means.ask(grader.model, asked.request, signal === undefined ? {} : { signal })
  } catch (thrown) {
    signal?.throwIfAborted()
    // An environment that names no such judge is a slip of its author, and no reply.
    if (QuintainError.isInstance(thrown)) throw thrown
    const result = failed(grader, 'model_grader_server_error', messageOf(thrown))
    return isThrown(thrown, FaultError) ? { ...result, fault: thrown.fault } : result
  }
  const heard = { reply: reply.text, by: { model: reply.model ?? grader.model } }
  if (reply.refusal !== undefined || reply.finish === 'refusal' || reply.finish === 'content_filter')
    return { ...failed(grader, 'model_grader_refusal_error', 'the judge refused'), ...heard }
  const read =
    grader.type === 'score_model' ? scored(grader, reply.text, policy) : labelled(grader, reply.text)
  // A verdict that is whole counts, however the reply ended.
  if (read.error !== undefined && reply.finish === 'length')
    return {
      ...failed(grader, 'model_grader_exceeded_max_tokens_error', 'the reply of the judge was cut'),
      ...heard,
    }
  return { ...read, ...heard }
}

function scored(
  grader: ScoreModelGrader,
  reply: string,
  { outOfRange = 'fault' }: NonNullable<RunGraderOptions['policy']>,
): GraderResult {
  const said = readScoreReply(reply)
  if (said === null)
    return failed(grader, 'model_grader_parse_error', 'the judge was to say a number, and said none')
  const [low, high] = grader.range
  const { raw } = said
  if ((raw < low || raw > high) && outOfRange === 'fault') {
    const message = `the judge said ${raw}, and the range is ${low} to ${high}`
    return { ...failed(grader, 'out_of_range', message), raw }
  }
  const score = Math.min(high, Math.max(low, raw))
  return { name: grader.name, type: grader.type, score, raw, normalised: (score - low) / (high - low) }
}

function labelled(grader: LabelModelGrader, reply: string): GraderResult {
  const label = readLabelReply(reply, grader.labels)
  if (label === null) {
    const message = `the judge was to say one of ${grader.labels.join(', ')}, and said none of them`
    return { ...failed(grader, 'model_grader_parse_error', message), label }
  }
  const passed = grader.passingLabels.includes(label)
  return { name: grader.name, type: grader.type, score: passed ? 1 : 0, passed, label }
}
