import {
  canonicalJson,
  createRng,
  type ErasedDefinition,
  type IndexedTasks,
  isThrown,
  type PublicTask,
  placeOf,
  QuintainError,
  refuseProblems,
  sha256,
  type Task,
  type TaskInput,
  taskProblems,
} from '../core/index.ts'
import { kindOf } from './given.ts'
import { freezePlain, plainCopy } from './plain.ts'

/** What the plan needs of a task: nothing secret. */
export interface TaskSummary {
  id: string
  index: number
  split: string
  /** Digest of the public part, 32 hex digits. */
  digest: string
  /** Digest of the same without id and split. */
  content: string
  tags?: string[]
  /** The public part, where it was asked for. */
  open?: PublicTask
}

/** The tasks of an environment with given options, by place, each checked when it is first read. */
export interface Taskset {
  /** How many there are, where that is known before they are read; Infinity for generated ones without an end. */
  readonly size?: number
  at(index: number): Promise<Task>
  /** Every task in order; ends early when nobody asks for more, so that endless sources are fine. */
  list(): AsyncGenerator<Task, void, undefined>
}

/** Opened tasks are kept up to this many; generated ones beyond it are made again. */
const keptTasks = 4096

/** Reads tasks from whatever source the environment gives. Throws `tasks_invalid` naming the task and the field. */
export async function openTaskset(
  definition: ErasedDefinition,
  options: unknown,
  seed: string,
): Promise<Taskset> {
  const given = definition.tasks
  const source = await ofAuthor('tasks()', () =>
    typeof given === 'function' ? given({ options: options as never }) : given,
  )
  if (isIndexed(source)) return indexed(source, seed)
  if (
    typeof source === 'object' &&
    source !== null &&
    (Symbol.iterator in source || Symbol.asyncIterator in source)
  ) {
    return sequential(source)
  }
  throw new QuintainError(
    'tasks_invalid',
    'tasks is neither an array, an iterable nor { size, at(index) }; see the contract in docs/contract.md.',
  )
}

/** Runs code that makes tasks. Throws `tasks_invalid` with kind and place; the text may quote a secret, and stays in `cause`. */
async function ofAuthor<T>(what: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    if (QuintainError.isInstance(cause)) throw cause
    throw new QuintainError(
      'tasks_invalid',
      `${what} threw ${kindAndPlace(cause)}. Its text may quote a task and is not shown here.`,
      { cause, facts: { what } },
    )
  }
}

function kindAndPlace(thrown: unknown): string {
  let kind = kindOf(thrown)
  try {
    if (isThrown(thrown, Error)) {
      const { code } = thrown as NodeJS.ErrnoException
      kind = thrown.constructor.name
      // A code of the system, such as ENOENT, says what to mend and nothing of any task.
      if (typeof code === 'string' && /^E[A-Z0-9]+$/.test(code)) kind += ` ${code}`
    }
  } catch {
    // An error that throws when it is looked at is something all the same.
  }
  const place = placeOf(thrown)
  return place === undefined ? kind : `${kind} (${place})`
}

function isIndexed(source: unknown): source is IndexedTasks<unknown, unknown> {
  return (
    typeof source === 'object' &&
    source !== null &&
    'at' in source &&
    'size' in source &&
    !Array.isArray(source)
  )
}

function indexed(source: IndexedTasks<unknown, unknown>, seed: string): Taskset {
  if (!(source.size >= 0)) {
    throw new QuintainError('tasks_invalid', `tasks.size is ${source.size}; give a count or Infinity.`)
  }
  const kept = new Map<number, Promise<Task>>()
  const at = (index: number): Promise<Task> => {
    let task = kept.get(index)
    if (task === undefined) {
      task = ofAuthor(`tasks.at(${index})`, () =>
        source.at(index, { rng: createRng(`${seed}/task/${index}`) }),
      ).then((input) => checkedTask(input, index))
      if (kept.size >= keptTasks) kept.delete(kept.keys().next().value!)
      kept.set(index, task)
    }
    return task
  }
  return {
    size: source.size,
    at,
    async *list() {
      for (let index = 0; index < source.size; index++) yield await at(index)
    },
  }
}

function sequential(source: Iterable<unknown> | AsyncIterable<unknown>): Taskset {
  const read: Task[] = []
  const iterator =
    Symbol.asyncIterator in source
      ? source[Symbol.asyncIterator]()
      : (source as Iterable<unknown>)[Symbol.iterator]()
  let ended = false
  let turn: Promise<unknown> = Promise.resolve()
  const readTo = (index: number): Promise<unknown> => {
    // One reader at a time: two attempts may ask for tasks of one iterator together.
    turn = turn.then(async () => {
      while (!ended && read.length <= index) {
        const next = await ofAuthor(`reading task ${read.length}`, () => iterator.next())
        if (next.done === true) ended = true
        else read.push(checkedTask(next.value, read.length))
      }
    })
    return turn
  }
  return {
    async at(index) {
      if (index >= read.length) await readTo(index)
      const task = read[index]
      if (task === undefined) {
        throw new QuintainError(
          'unknown_task',
          `There is no task in place ${index}; the taskset has ${read.length}.`,
        )
      }
      return task
    },
    async *list() {
      for (let index = 0; ; index++) {
        if (index >= read.length) await readTo(index)
        if (index >= read.length) return
        yield read[index]!
      }
    },
  }
}

function checkedTask(input: unknown, index: number): Task {
  const problems = taskProblems(input, index)
  if (problems.length > 0) refuseProblems(problems, 'the environment')
  // Attempts of a task share it: nobody may write into it, and its author's own data stays writable.
  const task = freezePlain(plainCopy(input as TaskInput))
  return Object.freeze({ ...task, split: task.split ?? 'test', data: task.data, secret: task.secret })
}

/** What the plan keeps of a task. */
export function summaryOf(task: Task, index: number): TaskSummary {
  const { id, split, tags } = task
  return {
    id,
    index,
    split,
    digest: publicDigest(task),
    content: contentDigest(task),
    ...(tags === undefined ? {} : { tags: [...tags] }),
  }
}

/** The same with the public part. */
export function openSummaryOf(task: Task, index: number): TaskSummary {
  const { secret: _, ...open } = task
  return { ...summaryOf(task, index), open }
}

interface TaskDigests {
  open: string
  whole: string
}
const digests = new WeakMap<Task, TaskDigests>()

/** Worked out once a task. */
function digestsOf(task: Task): TaskDigests {
  let found = digests.get(task)
  if (found === undefined) {
    const { id, split, prompt, data, limits, ...rest } = task
    // Named in the order of the alphabet, which spares their sorting.
    const open = sha256(canonicalJson({ data, id, limits, prompt, split }))
    // The first digest has one length, so that the two parts cannot be taken for two others.
    found = { open: open.slice(0, 32), whole: sha256(open + canonicalJson(rest)) }
    digests.set(task, found)
  }
  return found
}

/** Digest of a task's public part, 32 hex digits. */
export function publicDigest(task: Task): string {
  return digestsOf(task).open
}

/** Digest of what stays when a task is renamed or moved to another split: its public part without both, 16 hex digits. */
function contentDigest({ prompt, data, limits }: Task): string {
  return sha256(canonicalJson({ data, limits, prompt })).slice(0, 16)
}

/** Digest of the whole task, secret included; for the private records only. */
export function fullDigest(task: Task): string {
  return digestsOf(task).whole
}
