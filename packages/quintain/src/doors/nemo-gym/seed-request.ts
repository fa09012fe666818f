import { HttpProblem } from '../../core/http-port.ts'
import type { ServedEnvironment, TaskChoice } from '../session/session.ts'
import { identifier, isObject, type JsonObject, onlyFields } from './json.ts'

/** What a session is begun with: a row of a data set, or the episode protocol's own request. */
export type SeedRequest =
  | { kind: 'row'; task: TaskChoice }
  | {
      kind: 'episode'
      task: TaskChoice
      /** What the caller calls the session; undefined where it leaves that to us. */
      sessionId: string | undefined
      episode: string
    }

/**
 * Reads the body of `POST /seed_session`. Throws `HttpProblem` 422 for a body that names no task, a task of another
 * environment, or what the episode protocol forbids.
 */
export function readSeed(body: JsonObject, environment: ServedEnvironment): SeedRequest {
  if (!isObject(body['episode_id'])) return { kind: 'row', task: taskOfRow(body, environment) }
  onlyFields(body, ['resources_session_id', 'episode_id', 'task_id', 'task_data'])
  const taskId = body['task_id']
  if (!isObject(taskId)) throw new HttpProblem(422, 'task_id: an object is expected.')
  onlyFields(taskId, ['taskset', 'task_id'])
  identifier(taskId, 'taskset')
  const data = body['task_data']
  if (!isObject(data)) throw new HttpProblem(422, 'task_data: an object is expected.')
  const named = referenceIn(data) === undefined ? { task_id: identifier(taskId, 'task_id') } : data
  return {
    kind: 'episode',
    task: taskOfRow(named, environment),
    sessionId: 'resources_session_id' in body ? identifier(body, 'resources_session_id') : undefined,
    episode: readEpisode(body['episode_id']),
  }
}

/** An episode's name as one text: rollout and attempt. Throws `HttpProblem` 422. */
export function readEpisode(value: unknown): string {
  if (!isObject(value)) throw new HttpProblem(422, 'episode_id: an object is expected.')
  onlyFields(value, ['rollout_id', 'attempt'])
  const rollout = identifier(value, 'rollout_id')
  const attempt = value['attempt'] ?? 0
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(rollout) || /-a[1-9][0-9]*$/.test(rollout))
    throw new HttpProblem(422, 'rollout_id: letters, digits, ".", "_" and "-", and no "-aN" at its end.')
  if (!Number.isSafeInteger(attempt) || (attempt as number) < 0)
    throw new HttpProblem(422, 'attempt: a number that is not negative is expected.')
  return attempt === 0 ? rollout : `${rollout}-a${String(attempt)}`
}

/** Whether a row says which task it is of. */
export function namesTask(row: JsonObject): boolean {
  return referenceIn(row) !== undefined || typeof row['task_id'] === 'string'
}

/** Which task a row is of. Throws `HttpProblem` 422. */
export function taskOfRow(row: JsonObject, environment: ServedEnvironment): TaskChoice {
  const reference = referenceIn(row)
  if (reference === undefined) {
    if (typeof row['task_id'] === 'string' && row['task_id'] !== '') return { id: row['task_id'] }
    throw new HttpProblem(
      422,
      'The row names no task. Rows come from: quintain export nemo-gym ENV --out FOLDER',
    )
  }
  const { environment: wanted, task, split, index } = reference
  if (wanted !== undefined && wanted !== environment.name && wanted !== environment.slug)
    throw new HttpProblem(422, `The row is of another environment than ${environment.name}, served here.`)
  if (typeof task === 'string' && task !== '') return { id: task }
  if (typeof split === 'string' && Number.isSafeInteger(index) && (index as number) >= 0)
    return { split, index: index as number }
  throw new HttpProblem(422, 'The row names no task: "quintain" of its verifier_metadata has none.')
}

/** Rows carry their task's name under `verifier_metadata`; newer tools of NeMo Gym move what is there up, or into `task_data`. */
function referenceIn(row: JsonObject): JsonObject | undefined {
  for (const holder of [row['verifier_metadata'], row['task_data'], row]) {
    if (isObject(holder) && isObject(holder['quintain'])) return holder['quintain']
  }
  return undefined
}
