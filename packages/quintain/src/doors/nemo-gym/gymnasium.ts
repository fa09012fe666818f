import { randomUUID } from 'node:crypto'
import { HttpProblem } from '../../core/http-port.ts'
import type { Outcome } from '../../core/index.ts'
import type { SessionCore, Step } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'
import type { Episode } from './episodes.ts'
import { callsIn, saidIn } from './final-answer.ts'
import { isObject, type JsonObject } from './json.ts'
import { shownText } from './shown-text.ts'
import { maskedProblem, maskOf, measurements } from './verify-response.ts'

/*
 * The variant for agents that take steps (`gymnasium_agent` of nemo-gym): each turn of the model is sent, and what the
 * environment says comes back. The reward comes whole with the last step.
 */

/** Outcomes by which a limit ended the episode, and not the environment. */
const cutShort: ReadonlySet<Outcome> = new Set<Outcome>([
  'turn_limit',
  'token_limit',
  'cost_limit',
  'wall_limit',
  'context_overflow',
  'truncated',
])

/** The answer to `POST /reset`. What the agent sees first stands in its row already. */
export function reset({ session }: Episode): JsonObject {
  return {
    observation: null,
    info: { task_id: session.task.id, supports_step_idempotency: true, supports_explicit_close: true },
  }
}

/** The answer to `POST /step`: a turn of the model is carried out. Throws `HttpProblem` where there is no reward to tell. */
export async function step(
  body: JsonObject,
  episode: Episode | undefined,
  core: SessionCore,
): Promise<JsonObject> {
  const { response, _ng_step_request_id: id } = body
  if (!isObject(response) || !Array.isArray(response['output']))
    throw new HttpProblem(422, 'response: an object with a list "output" is expected.')
  if (episode === undefined) throw new HttpProblem(404, 'That session is not known here, or has gone.')
  const output = response['output']
  episode.played = true
  const stepId = typeof id === 'string' && id.length <= 128 ? id : undefined
  const { said, outputs, over } = await play(episode, output, stepId)
  const info = { tool_outputs: outputs }
  if (!over) return { observation: said ?? null, reward: 0, terminated: false, truncated: false, info }
  const settled = await episode.session.settled()
  // There is no mask in this variant: a step that fails fails the rollout, which has no reward then.
  if (settled.kind !== 'scored') throw maskedProblem(maskOf(settled))
  const truncated = cutShort.has(settled.outcome)
  return {
    observation: said ?? null,
    reward: settled.reward,
    terminated: !truncated,
    truncated,
    info: { ...info, ...measurements(settled, core.environment) },
  }
}

/** The answer to `POST /close`. */
export async function closeEnvironment(episode: Episode | undefined): Promise<JsonObject> {
  await episode?.session.close()
  return {}
}

interface Played {
  said?: string
  outputs: { call_id: string; output: string }[]
  over: boolean
}

async function play(
  { session }: Episode,
  output: readonly unknown[],
  stepId: string | undefined,
): Promise<Played> {
  const outputs: Played['outputs'] = []
  const batch = stepId ?? randomUUID()
  // A repeated step finds the results of the first by these names.
  const named = (part: string) => (stepId === undefined ? {} : { id: `${stepId}/${part}` })
  try {
    const calls = callsIn(output)
    const beside = saidIn(output)
    for (const [i, { callId, name, arguments: given }] of calls.entries()) {
      const done: Step = await session.call({
        ...named(`${i}`),
        name,
        arguments: given,
        batch,
        ...(i === 0 && beside !== '' ? { text: beside } : {}),
      })
      outputs.push({ call_id: callId, output: shownText(done.content) })
      if (done.done !== undefined) return { outputs, over: true }
    }
    if (calls.length > 0) return { outputs, over: false }
    const done = await session.act({ ...named('said'), content: beside })
    const said = shownText(done.content)
    return { ...(said === '' ? {} : { said }), outputs, over: done.done !== undefined }
  } catch (thrown) {
    // It ended between two steps, by a limit; or its end was told, and the answer was lost.
    if (thrown instanceof SessionError && thrown.code === 'episode_over') return { outputs, over: true }
    throw thrown
  }
}
