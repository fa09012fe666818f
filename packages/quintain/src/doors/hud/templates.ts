import type { ServedSplit, SessionCore, TaskChoice } from '../session/session.ts'
import { RpcError, rpc, shown } from './frames.ts'

/** Every split is a task of HUD, and its arguments say which of its tasks: `hud eval --task-ids train` is a whole split. */
export function listTemplates({ environment, splits }: SessionCore): object[] {
  return splits.map(({ name, tasks }) => ({
    id: name,
    description: `${environment.description === '' ? environment.name : environment.description} (split "${name}", ${tasks} tasks)`,
    args: argsSchema(tasks),
  }))
}

function argsSchema(tasks: number): object {
  return {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'Id of a task of this split.' },
      index: {
        type: 'integer',
        minimum: 0,
        maximum: Math.max(0, tasks - 1),
        description: 'Its place in the split.',
      },
    },
    additionalProperties: false,
  }
}

/** Which task `tasks.start` means. Throws `RpcError` for what means none. */
export async function chooseTask(core: SessionCore, params: Record<string, unknown>): Promise<TaskChoice> {
  const { id: template, args = {} } = params
  if (typeof template !== 'string') throw bad("tasks.start: 'id' must be a string: a split")
  const split = core.splits.find(({ name }) => name === template)
  if (split === undefined) {
    const names = core.splits.map(({ name }) => name).join(', ')
    throw bad(`unknown task: ${shown(template)}; this environment has ${names}`)
  }
  if (args === null || typeof args !== 'object' || Array.isArray(args))
    throw bad("tasks.start: 'args' must be an object")
  return choiceOf(core, split, args as Record<string, unknown>)
}

async function choiceOf(
  core: SessionCore,
  split: ServedSplit,
  args: Record<string, unknown>,
): Promise<TaskChoice> {
  const { id = null, index = null, ...others } = args
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw bad(`unknown argument ${shown(unknown)}; a task is named by id or by index`)
  if ((id === null) === (index === null)) throw bad('args must hold id or index: which task of the split')
  if (index !== null) {
    // Values that were typed into a form or a shell come as texts.
    const place = typeof index === 'string' && /^\d{1,15}$/.test(index) ? Number(index) : index
    if (typeof place !== 'number' || !Number.isSafeInteger(place) || place < 0)
      throw bad("'index' must be a whole number from 0")
    if (place >= split.tasks)
      throw bad(`split "${split.name}" has ${split.tasks} tasks; there is no index ${place}`)
    return { split: split.name, index: place }
  }
  if (typeof id !== 'string') throw bad("'id' must be a string")
  const task = await core.task({ id })
  if (task.split !== split.name)
    throw bad(`task ${shown(id)} is of split "${task.split}", not of "${split.name}"`)
  return { id }
}

function bad(message: string): RpcError {
  return new RpcError(rpc.badParams, message)
}
