import {
  createRng,
  type Journal,
  type OrderRecord,
  QuintainError,
  type RequestRecord,
} from '../core/index.ts'
import type { ResumeOptions, RunOptions } from './run-options.ts'
import type { TaskSummary } from './taskset.ts'

/** Rollouts of each task. Throws `usage`. */
export function repeatsOf(repeats: number | undefined): number {
  const value = repeats ?? 1
  if (!Number.isInteger(value) || value < 1) {
    throw new QuintainError('usage', `repeats is ${value}; give a whole number from 1.`, {
      facts: { repeats: value },
    })
  }
  return value
}

/** What a user asks for, as a record. Throws `usage`. */
export function requestOf(options: Pick<RunOptions, 'tasks' | 'split' | 'repeats'>): RequestRecord {
  if (typeof options.tasks === 'number' && !(Number.isInteger(options.tasks) && options.tasks >= 0)) {
    throw new QuintainError('usage', `The number of tasks is ${options.tasks}; give a whole number from 0.`)
  }
  return {
    schema: 'quintain.request',
    v: 1,
    repeats: repeatsOf(options.repeats),
    ...(options.split === undefined ? {} : { split: options.split }),
    ...(typeof options.tasks === 'number' ? { limit: options.tasks } : {}),
    ...(typeof options.tasks === 'object' ? { tasks: [...options.tasks] } : {}),
  }
}

/** A request for more, on top of the last: what is not said stays as it was. */
export function extendedRequest(last: RequestRecord, options: ResumeOptions): RequestRecord {
  const kept = {
    split: last.split,
    ...(last.limit === undefined ? { ids: last.tasks } : { limit: last.limit }),
  }
  const split = options.split ?? kept.split
  const tasks = options.tasks ?? ('limit' in kept ? kept.limit : kept.ids)
  return requestOf({
    repeats: options.repeats ?? last.repeats,
    ...(split === undefined ? {} : { split }),
    ...(tasks === undefined ? {} : { tasks }),
  })
}

/** The tasks that a request speaks of. */
export function selectForRequest(tasks: readonly TaskSummary[], request: RequestRecord): TaskSummary[] {
  const wanted = request.tasks === undefined ? undefined : new Set(request.tasks)
  const selected = tasks.filter(
    ({ id, split }) =>
      (request.split === undefined || split === request.split) && (wanted === undefined || wanted.has(id)),
  )
  return request.limit === undefined ? selected : selected.slice(0, request.limit)
}

/** How far the taskset must be read to plan these requests again. */
export function limitOfPlan(requests: readonly RequestRecord[]): { limit?: number } {
  const open = requests.some(
    ({ limit, split, tasks }) => limit === undefined || split !== undefined || tasks !== undefined,
  )
  return open ? {} : { limit: Math.max(...requests.map(({ limit }) => limit!)) }
}

/**
 * Places in the plan, for orders that have none: first those whose order can no longer be read, then those behind the
 * last. A plan made again comes in the same sequence, so that a lost order gets its old place back, and its attempts.
 */
export class Places {
  /** Places in use, and holes: one behind the last of them. */
  end: number
  private readonly holes: number[] = []

  constructor(taken: readonly number[]) {
    this.end = taken.reduce((end, seq) => Math.max(end, seq + 1), 0)
    const used = new Set(taken)
    for (let seq = 0; used.size < this.end && seq < this.end; seq++) if (!used.has(seq)) this.holes.push(seq)
  }

  next(): number {
    return this.holes.shift() ?? this.end++
  }
}

/** Orders are appended in pages of this many. */
const pageOfOrders = 1_000

/** Appends what a request asks for and is not ordered yet. */
export async function appendPlan(
  journal: Journal,
  tasks: readonly TaskSummary[],
  request: RequestRecord,
  known: Map<string, OrderRecord>,
  places: Places,
  newRequest = true,
): Promise<void> {
  const { seed } = journal.manifest
  let page: (OrderRecord | RequestRecord)[] = newRequest ? [request] : []
  for (const task of tasks) {
    for (let repeat = 0; repeat < request.repeats; repeat++) {
      const id = `${task.id}#${repeat}`
      if (known.has(id)) continue
      const order: OrderRecord = {
        schema: 'quintain.order',
        v: 1,
        id,
        seq: places.next(),
        task: task.id,
        index: task.index,
        split: task.split,
        repeat,
        group: task.id,
        seed: createRng(`${seed}/${id}`).int(2 ** 31),
        taskDigest: task.digest,
        contentDigest: task.content,
        ...(task.tags === undefined ? {} : { tags: task.tags }),
      }
      known.set(id, order)
      page.push(order)
      if (page.length >= pageOfOrders) {
        await journal.appendOrders(page)
        page = []
      }
    }
  }
  if (page.length > 0) await journal.appendOrders(page)
}
