import {
  createRng,
  type Journal,
  type ManifestRecord,
  type OrderRecord,
  type PublicTask,
} from '../core/index.ts'
import { now, setTimeout } from '../core/own-time.ts'
import type { OpenedRun } from './open-run.ts'
import { closeRun } from './run.ts'
import type { TaskSummary } from './taskset.ts'

/** Of what an order is made, beside its task. */
export interface OrderOptions {
  /** The rollouts that are looked at together; those of the task when absent. */
  group?: string
}

/** Milliseconds between one write of orders and the next. */
const gatherMs = 5

/** Places of looks at tasks, above those of any plan. */
const firstPreview = 2 ** 40

/**
 * A run whose plan grows while it goes on: what is ordered is decided as it goes. Otherwise it is an ordinary run, and
 * its folder one that every reader takes.
 */
export class GrowingRun {
  readonly opened: OpenedRun
  protected readonly journal: Journal
  private seq = 0
  private previews = 0
  /** Orders of each task so far. */
  private readonly repeats = new Map<string, number>()
  /** Orders that are written together, once `lastWritten` are. */
  private batch: { orders: OrderRecord[]; written: Promise<void> } | undefined
  private lastWritten: Promise<void> = Promise.resolve()
  private lastWriteAt = Number.NEGATIVE_INFINITY

  /** `orders` are those that the plan has already. */
  constructor(opened: OpenedRun, journal: Journal, orders: Iterable<OrderRecord> = []) {
    this.opened = opened
    this.journal = journal
    for (const { seq, task, repeat } of orders) {
      this.seq = Math.max(this.seq, seq + 1)
      this.repeats.set(task, Math.max(this.repeats.get(task) ?? 0, repeat + 1))
    }
  }

  get dir(): string {
    return this.journal.dir
  }

  get manifest(): ManifestRecord {
    return this.journal.manifest
  }

  get tasks(): readonly TaskSummary[] {
    return this.opened.tasks
  }

  /** Public parts of the tasks in these places. */
  async publicTasks(places: readonly number[]): Promise<PublicTask[]> {
    const found: PublicTask[] = []
    for await (const page of this.opened.executor.list({ at: places })) {
      for (const { open } of page) if (open !== undefined) found.push(open)
    }
    return found
  }

  /** A further order of a task. It is part of the plan once it is written down. */
  order(task: TaskSummary, { group = task.id }: OrderOptions = {}): OrderRecord {
    const repeat = this.repeats.get(task.id) ?? 0
    this.repeats.set(task.id, repeat + 1)
    return this.made(task, { id: `${task.id}#${repeat}`, seq: this.seq++, repeat, group })
  }

  /** An order that is none of the plan: a look at a task. */
  protected glimpse(task: TaskSummary): OrderRecord {
    const place = this.previews++
    const repeat = this.repeats.get(task.id) ?? 0
    return this.made(task, {
      id: `${task.id}#preview-${place}`,
      seq: firstPreview + place,
      repeat,
      group: task.id,
    })
  }

  /** Writes out what was played. Rejects as `Journal.flush`. */
  flush(): Promise<void> {
    return this.journal.flush()
  }

  /** Ends the workers and closes the records. */
  close(): Promise<void> {
    return closeRun({ opened: this.opened, journal: this.journal })
  }

  /** Writes orders down; those that come together are written together. */
  protected async plan(...orders: OrderRecord[]): Promise<void> {
    await this.journal.ready()
    this.batch ??= this.nextBatch()
    this.batch.orders.push(...orders)
    await this.batch.written
  }

  private made(
    task: TaskSummary,
    { id, ...place }: Pick<OrderRecord, 'id' | 'seq' | 'repeat' | 'group'>,
  ): OrderRecord {
    return {
      schema: 'quintain.order',
      v: 1,
      id,
      seq: place.seq,
      task: task.id,
      index: task.index,
      split: task.split,
      repeat: place.repeat,
      group: place.group,
      seed: createRng(`${this.manifest.seed}/${id}`).int(2 ** 31),
      taskDigest: task.digest,
      contentDigest: task.content,
      ...(task.tags === undefined ? {} : { tags: task.tags }),
    }
  }

  /** Lets orders gather where many come: until a few milliseconds after the last were written, and not at all where few do. */
  private async gathered(): Promise<void> {
    const early = this.lastWriteAt + gatherMs - now()
    if (early > 0) await new Promise<void>((resolve) => setTimeout(resolve, early))
    this.lastWriteAt = now()
  }

  private nextBatch(): { orders: OrderRecord[]; written: Promise<void> } {
    const orders: OrderRecord[] = []
    const written = this.lastWritten.then(async () => {
      await this.gathered()
      this.batch = undefined
      return this.journal.appendOrders(orders)
    })
    this.lastWritten = written.catch(() => {})
    return { orders, written }
  }
}
