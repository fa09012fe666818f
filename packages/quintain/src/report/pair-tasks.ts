import type { TaskPair } from './difference.ts'
import type { ScoredRun, ScoredTask } from './scored-run.ts'

/** Which tasks two runs share, and what became of the others. */
export interface TaskMatch {
  /** Tasks that both ordered, scored or not. */
  both: number
  /** Ids of tasks that one of them ordered alone; renamed ones are not among them. */
  onlyFrom: string[]
  onlyTo: string[]
  /** Tasks of the same content under two names. They are not compared: an id is what says that a task is the same. */
  renamed: { from: string; to: string }[]
  /** Tasks of one name whose public part is another. */
  changed: string[]
}

/** Pairs the tasks of two runs by id. */
export function pairTasks(from: ScoredRun, to: ScoredRun): { pairs: TaskPair[]; match: TaskMatch } {
  const pairs: TaskPair[] = []
  const changed: string[] = []
  const alone: ScoredTask[] = []
  for (const task of from.tasks.values()) {
    const other = to.tasks.get(task.id)
    if (other === undefined) {
      alone.push(task)
      continue
    }
    pairs.push([task, other])
    if (isChanged(task, other)) changed.push(task.id)
  }
  const others = [...to.tasks.values()].filter(({ id }) => !from.tasks.has(id))
  const renamed = renamedTasks(alone, others)
  const gone = new Set(renamed.map((pair) => pair.from))
  const come = new Set(renamed.map((pair) => pair.to))
  return {
    pairs,
    match: {
      both: pairs.length,
      onlyFrom: alone.map(({ id }) => id).filter((id) => !gone.has(id)),
      onlyTo: others.map(({ id }) => id).filter((id) => !come.has(id)),
      renamed,
      changed,
    },
  }
}

/** A task that only moved to another split is the same task. */
function isChanged(a: ScoredTask, b: ScoredTask): boolean {
  if (a.digest === b.digest) return false
  return a.content === undefined || b.content === undefined || a.content !== b.content
}

/** Pairs by content what is without a partner by name; a content that is there twice names no one. */
function renamedTasks(
  from: readonly ScoredTask[],
  to: readonly ScoredTask[],
): { from: string; to: string }[] {
  const [before, after] = [byContent(from), byContent(to)]
  const renamed: { from: string; to: string }[] = []
  for (const [content, id] of before) {
    const other = after.get(content)
    if (id !== undefined && other !== undefined) renamed.push({ from: id, to: other })
  }
  return renamed
}

/** Id by content; undefined for a content that several share. */
function byContent(tasks: readonly ScoredTask[]): Map<string, string | undefined> {
  const ids = new Map<string, string | undefined>()
  for (const { id, content } of tasks) {
    if (content !== undefined) ids.set(content, ids.has(content) ? undefined : id)
  }
  return ids
}
