import type { ListedTask } from '../session/session.ts'

/**
 * Fields of a task that mean something to clients or to us: `id`, `split` and `index` say which task it is; TRL makes a
 * column of every other one, puts its own prompt and index there, and gives `task_spec` a meaning when it resets.
 */
const taken: ReadonlySet<string> = new Set(['id', 'split', 'index', 'prompt', 'task_index', 'task_spec'])

/**
 * A task as listings show it: which one it is, its tags, and the fields of its public data, those of a name that is taken
 * as `data_NAME`. Data that is no object is the field `data`.
 */
export function taskSpec({ id, split, index, task }: ListedTask): Record<string, unknown> {
  const spec: Record<string, unknown> = { id, split, index }
  if (task.tags !== undefined) spec['tags'] = task.tags
  const { data } = task
  if (data === undefined || data === null) return spec
  if (typeof data !== 'object' || Array.isArray(data)) return { ...spec, data }
  for (const [name, value] of Object.entries(data)) {
    let free = taken.has(name) ? `data_${name}` : name
    while (Object.hasOwn(spec, free)) free = `data_${free}`
    spec[free] = value
  }
  return spec
}
