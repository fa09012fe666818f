import { type HttpAnswer, type HttpCall, HttpProblem } from '../../core/http-port.ts'
import type { ServedEnvironment, SessionCore, Settled } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import type { Episode, Episodes } from './episodes.ts'
import { finalAnswer } from './final-answer.ts'
import { isObject, type JsonObject, onlyFields } from './json.ts'
import { unscoredHeader } from './paths.ts'
import { namesTask, readEpisode, taskOfRow } from './seed-request.ts'
import { lostSession, maskedProblem, maskedResponse, maskOf, verifyResponse } from './verify-response.ts'

/** All of an episode is its answer, so that any answer can be graded again without the session that it came from. */
export function isStateless({ needs }: ServedEnvironment): boolean {
  return needs.length === 0
}

/** What of a body is echoed, and what the agent put out. */
interface VerifyRequest {
  row: JsonObject
  output: readonly unknown[]
  /** Rollout and attempt, where the body names them. */
  episode: string | undefined
}

/** Who verifies: the episode that is held, and whether a cookie was shown that may be of another. */
export interface Verifier {
  episode: Episode | undefined
  cookie: string | undefined
  call: HttpCall
}

/** Answers `POST /verify`: grades the episode of the cookie by the agent's last word. Asked again it says the same. */
export async function verify(
  { core, episodes }: { core: SessionCore; episodes: Episodes },
  body: JsonObject,
  { episode, cookie, call }: Verifier,
): Promise<HttpAnswer> {
  const { row, output, episode: named } = readVerify(body)
  if (named !== undefined && episode?.episode !== undefined && named !== episode.episode)
    throw new HttpProblem(409, 'The cookie is of another episode than the one that is named.')
  // An answer without a session is graded in a new one, where the answer is all that there is to an episode.
  const again = episode === undefined && cookie === undefined && isStateless(core.environment)
  const held = again ? await episodes.begin(taskOfRow(row, core.environment)) : episode
  const settled = held === undefined ? undefined : await verdictOf(core, held, { row, output })
  if (settled?.kind === 'scored') return { json: verifyResponse(row, settled, core.environment) }
  const mask = settled === undefined ? lostSession : maskOf(settled)
  if (call.header(unscoredHeader) === 'error') throw maskedProblem(mask)
  return { json: maskedResponse(row, mask, core.environment) }
}

/** What an episode came to with an answer. Throws 409 for another answer than it was verified with, and for another task's row. */
async function verdictOf(
  core: SessionCore,
  held: Episode,
  { row, output }: Pick<VerifyRequest, 'row' | 'output'>,
): Promise<Settled | undefined> {
  const named = namesTask(row) ? await core.task(taskOfRow(row, core.environment)) : undefined
  if (named !== undefined && named.id !== held.session.task.id)
    throw new HttpProblem(409, `The session plays task "${held.session.task.id}", and the row is of another.`)
  if (failedWithoutWord(row, output)) return providerFailed
  const answer = finalAnswer(output)
  if (held.verified !== undefined && held.verified.answer !== answer)
    throw new HttpProblem(409, 'The session was verified with another answer, and an episode has one.')
  held.verified = { answer }
  return grade(held, answer)
}

/** The model's server failed, and the agent said nothing: that is not the agent's doing. */
function failedWithoutWord({ response }: JsonObject, output: readonly unknown[]): boolean {
  return isObject(response) && response['status'] === 'failed' && output.length === 0
}

const providerFailed: Settled = {
  kind: 'failed',
  fault: {
    owner: 'provider',
    stage: 'model',
    code: 'response_failed',
    message: 'the response that is to be verified failed, and says nothing',
    retryable: true,
  },
}

/** How it ended; undefined where it is held no more. */
async function grade({ session }: Episode, answer: string | undefined): Promise<Settled | undefined> {
  try {
    return await session.grade(answer === undefined ? {} : { answer })
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown
    if (thrown.code === 'session_gone' || thrown.code === 'session_unknown') return undefined
    if (thrown.code !== 'infrastructure' || thrown.fault === undefined) throw thrown
    return { kind: 'failed', fault: thrown.fault }
  }
}

function readVerify(body: JsonObject): VerifyRequest {
  const nested = body['verification_input']
  if (nested === undefined) return { row: body, output: outputOf(body), episode: undefined }
  onlyFields(body, ['episode_id', 'task_id', 'verification_input'])
  if (!isObject(nested)) throw new HttpProblem(422, 'verification_input: an object is expected.')
  return { row: nested, output: outputOf(nested), episode: readEpisode(body['episode_id']) }
}

function outputOf({ responses_create_params: params, response }: JsonObject): readonly unknown[] {
  if (!isObject(params)) throw new HttpProblem(422, 'responses_create_params: an object is expected.')
  if (!isObject(response) || !Array.isArray(response['output']))
    throw new HttpProblem(422, 'response: an object with a list "output" is expected.')
  return response['output']
}
