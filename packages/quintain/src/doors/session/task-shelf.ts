import { createRng, didYouMean, type PublicTask } from '../../core/index.ts'
import type { TaskSummary } from '../../engine/index.ts'
import type { ListedTask, ServedSplit, TaskChoice } from './session.ts'
import { SessionError } from './session-error.ts'

/** A place of a task within its split, beside what the run knows of it. */
export interface ShelvedTask {
  summary: TaskSummary
  index: number
}

/** Public parts that are kept; others are read again. */
const keptTasks = 4_096

/** The tasks of a served environment by split and place. */
export class TaskShelf {
  readonly splits: readonly ServedSplit[]
  private readonly bySplit = new Map<string, ShelvedTask[]>()
  private readonly byId = new Map<string, ShelvedTask>()
  private readonly kept = new Map<string, ListedTask>()
  private readonly read: (places: readonly number[]) => Promise<PublicTask[]>

  constructor(tasks: readonly TaskSummary[], read: (places: readonly number[]) => Promise<PublicTask[]>) {
    this.read = read
    for (const summary of tasks) {
      const within = this.bySplit.get(summary.split) ?? []
      this.bySplit.set(summary.split, within)
      const shelved = { summary, index: within.length }
      within.push(shelved)
      this.byId.set(summary.id, shelved)
    }
    this.splits = [...this.bySplit].map(([name, within]) => ({
      name,
      type: typeOf(name),
      tasks: within.length,
    }))
  }

  /** Throws `unknown_split`, `unknown_task`. */
  find(choice: TaskChoice): ShelvedTask {
    if ('id' in choice) {
      const found = this.byId.get(choice.id)
      if (found !== undefined) return found
      throw new SessionError('unknown_task', `There is no task "${choice.id.slice(0, 200)}".`)
    }
    const split = choice.split ?? this.trainingSplit()
    const within = this.within(split)
    const index = 'index' in choice ? choice.index : createRng(`choice/${choice.seed}`).int(within.length)
    const found = Number.isInteger(index) ? within[index] : undefined
    if (found !== undefined) return found
    throw new SessionError(
      'unknown_task',
      `Split "${split}" has ${within.length} tasks, in places 0 to ${within.length - 1}; there is none in place ${index}.`,
    )
  }

  async slice(split: string, from: number, to: number): Promise<ListedTask[]> {
    const wanted = this.within(split).slice(Math.max(0, from), Math.max(0, to))
    await this.fill(wanted)
    return Promise.all(wanted.map((one) => this.listed(one)))
  }

  async listed(one: ShelvedTask): Promise<ListedTask> {
    const found = this.kept.get(one.summary.id)
    if (found !== undefined) return found
    const [task] = await this.read([one.summary.index])
    return this.keep(one, task!)
  }

  /** Reads together what is not kept. */
  private async fill(wanted: readonly ShelvedTask[]): Promise<void> {
    const missing = wanted.filter(({ summary }) => !this.kept.has(summary.id)).slice(0, keptTasks)
    if (missing.length < 2) return
    const tasks = await this.read(missing.map(({ summary }) => summary.index))
    for (const [place, task] of tasks.entries()) this.keep(missing[place]!, task)
  }

  private keep({ summary, index }: ShelvedTask, task: PublicTask): ListedTask {
    const listed = { id: summary.id, split: summary.split, index, task }
    if (this.kept.size >= keptTasks) this.kept.delete(this.kept.keys().next().value!)
    this.kept.set(summary.id, listed)
    return listed
  }

  private within(split: string): ShelvedTask[] {
    const within = this.bySplit.get(split)
    if (within !== undefined) return within
    const names = [...this.bySplit.keys()]
    throw new SessionError(
      'unknown_split',
      `There is no split "${split.slice(0, 200)}"${didYouMean(split, names)} Splits: ${names.join(', ')}.`,
    )
  }

  private trainingSplit(): string {
    return (this.splits.find(({ type }) => type === 'train') ?? this.splits[0])?.name ?? 'train'
  }
}

function typeOf(split: string): ServedSplit['type'] {
  if (/^train/i.test(split)) return 'train'
  return /^(?:val|dev)/i.test(split) ? 'validation' : 'test'
}
