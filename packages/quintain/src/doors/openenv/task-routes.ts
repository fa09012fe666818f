import { type HttpAnswer, type HttpCall, HttpProblem } from '../../core/http-port.ts'
import { taskSpec } from '../ors/task-spec.ts'
import type { SessionCore } from '../session/session.ts'
import { SessionError } from '../session/session-error.ts'

/** Tasks of one answer. Who wants more asks for ranges. */
const mostTasks = 100_000

/** Routes that list tasks; undefined for another one. They show the public part alone. */
export async function taskAnswer(call: HttpCall, core: SessionCore): Promise<HttpAnswer | undefined> {
  const { method, path } = call
  const { slug } = core.environment
  if (path === '/list_environments' && method === 'GET') return { json: [slug] }
  const [, name = '', route = '', more] = path.split('/')
  const wanted = routes.get(route)
  if (more !== undefined || wanted === undefined) return undefined
  if (method !== wanted) throw new HttpProblem(405, 'Method Not Allowed', { allow: wanted })
  if (name.toLowerCase() !== slug) throw new HttpProblem(404, `unknown environment '${name.slice(0, 100)}'`)
  try {
    return { json: await listed(route, call, core) }
  } catch (thrown) {
    if (!(thrown instanceof SessionError)) throw thrown
    throw new HttpProblem(400, thrown.message)
  }
}

const routes: ReadonlyMap<string, 'GET' | 'POST'> = new Map([
  ['splits', 'GET'],
  ['tasks', 'POST'],
  ['num_tasks', 'POST'],
  ['task', 'POST'],
  ['task_range', 'POST'],
])

async function listed(route: string, call: HttpCall, core: SessionCore): Promise<unknown> {
  const { slug } = core.environment
  if (route === 'splits') return core.splits.map(({ name, type }) => ({ name, type }))
  const body = await bodyOf(call)
  const split = splitIn(body, core)
  if (route === 'num_tasks') return { num_tasks: split.tasks }
  if (route === 'task') {
    const index = body['index']
    if (!Number.isSafeInteger(index)) throw new HttpProblem(422, '"index" is a whole number.')
    if (Number(index) < 0 || Number(index) >= split.tasks) throw new HttpProblem(400, 'Invalid task index')
    const task = await core.task({ split: split.name, index: Number(index) })
    return { task: taskSpec(task), env_name: slug }
  }
  const [from, to] = route === 'tasks' ? [0, split.tasks] : rangeIn(body, split.tasks)
  if (to - from > mostTasks)
    throw new HttpProblem(400, `That is more than ${mostTasks} tasks; ask for ranges with task_range.`)
  const tasks = to <= from ? [] : await core.tasks(split.name, from, to)
  return { tasks: tasks.map(taskSpec), env_name: slug }
}

async function bodyOf(call: HttpCall): Promise<Record<string, unknown>> {
  const body = (await call.json()) ?? {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new HttpProblem(422, 'The body is a JSON object.')
  return body as Record<string, unknown>
}

function splitIn({ split }: Record<string, unknown>, core: SessionCore) {
  if (typeof split !== 'string') throw new HttpProblem(422, '"split" is the name of a split.')
  const found = core.splits.find(({ name }) => name === split)
  const all = core.splits.map(({ name }) => name).join(', ')
  if (found === undefined)
    throw new HttpProblem(400, `unknown split '${split.slice(0, 100)}'; there is ${all}`)
  return found
}

/** As Python cuts sequences: what lies before the first counts from the end, and no end is too far. */
function rangeIn({ start, stop }: Record<string, unknown>, size: number): [number, number] {
  const place = (value: unknown, absent: number) => {
    if (value === undefined || value === null) return absent
    if (!Number.isSafeInteger(value)) throw new HttpProblem(422, '"start" and "stop" are whole numbers.')
    const at = Number(value)
    return Math.min(size, Math.max(0, at < 0 ? at + size : at))
  }
  return [place(start, 0), place(stop, size)]
}
