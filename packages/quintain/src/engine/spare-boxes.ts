import { availableParallelism } from 'node:os'
import type { Box, ExecResult } from '../core/index.ts'
import type { BoxSlots } from './box-slots.ts'

/** A grading box with an interpreter that has started. */
export interface WarmBox {
  box: Box
  /** How the interpreter ended; never rejects before somebody asks. */
  ended: Promise<ExecResult>
  /** Ends the interpreter. */
  end(): void
}

interface Kind {
  start(signal: AbortSignal): Promise<WarmBox>
  spares: Spare[]
}

interface Spare {
  warm: Promise<WarmBox>
  drop(): Promise<void>
  /** It is given out: its slot goes back, and nobody drops it any more. */
  take(): Promise<WarmBox>
}

/** Kinds of boxes that are kept ready at once: the graders of an environment, one a set of packages. */
const mostKinds = 8
/** A box that nobody has wanted for so long is stopped. */
const idleMs = 120_000

/**
 * Boxes that have started before they are wanted. Each is for one call and is given out once, to who asks for exactly what it
 * was started with; the next is then started in the background. They take slots of the run that nobody waits for, and give
 * them back as soon as somebody does.
 */
export class SpareBoxes {
  private readonly slots: BoxSlots
  private readonly each: number
  private readonly kinds = new Map<string, Kind>()
  private readonly dropping = new Set<Promise<void>>()
  private closed = false

  constructor(slots: BoxSlots, each = availableParallelism()) {
    this.slots = slots
    this.each = each
    slots.onShort = () => this.dropAll()
  }

  /** A spare of this kind if there is one, and from now on spares of it. Undefined: start one. */
  async take(key: string, start: Kind['start']): Promise<WarmBox | undefined> {
    const kind = this.kindOf(key, start)
    const spare = kind.spares.shift()
    // One that has failed meanwhile is as none.
    const warm = await spare?.take().catch(() => undefined)
    return warm
  }

  /** Keeps as many ready as may be. Called when a call is over, so that starting one takes no time from it. */
  refill(key: string): void {
    const kind = this.kinds.get(key)
    if (kind === undefined || this.closed) return
    while (kind.spares.length < this.each) {
      const release = this.slots.tryTake()
      if (release === undefined) {
        // Somebody may wait for the slots of boxes in use; those of kinds that were wanted longer ago are only ready.
        if (kind.spares.length === 0) void this.dropOldest(kind)?.then(() => this.refill(key))
        return
      }
      kind.spares.push(this.spareOf(kind, release))
    }
  }

  /** Stops all. Resolves when none is left. */
  async close(): Promise<void> {
    this.closed = true
    this.dropAll()
    while (this.dropping.size > 0) await Promise.all(this.dropping)
    this.kinds.clear()
  }

  private kindOf(key: string, start: Kind['start']): Kind {
    const known = this.kinds.get(key)
    const kind = known ?? { start, spares: [] }
    this.kinds.delete(key)
    this.kinds.set(key, kind)
    if (this.kinds.size > mostKinds) {
      for (const [oldest, { spares }] of this.kinds) {
        this.kinds.delete(oldest)
        for (const spare of spares.splice(0)) void spare.drop()
        break
      }
    }
    return kind
  }

  private spareOf(kind: Kind, release: () => void): Spare {
    const over = new AbortController()
    const warm = kind.start(over.signal)
    let settled: Promise<void> | undefined
    const leave = () => {
      clearTimeout(timer)
      kind.spares = kind.spares.filter((other) => other !== spare)
    }
    const drop = () => {
      settled ??= (async () => {
        leave()
        over.abort()
        await warm.then(({ box }) => box.stop()).catch(() => {})
        release()
      })()
      const ending = settled
      this.dropping.add(ending)
      void ending.finally(() => this.dropping.delete(ending))
      return ending
    }
    const spare: Spare = {
      warm,
      drop,
      take() {
        leave()
        settled ??= Promise.resolve()
        release()
        return warm
      },
    }
    const timer = setTimeout(drop, idleMs)
    timer.unref()
    // One that does not come up, or whose interpreter ends by itself, is no spare.
    warm.then(
      ({ ended }) => ended.then(() => this.forget(kind, spare)).catch(() => this.forget(kind, spare)),
      () => this.forget(kind, spare),
    )
    return spare
  }

  /** Drops a spare of the kind that was wanted longest ago. Undefined: there is none but of this one. */
  private dropOldest(wanting: Kind): Promise<void> | undefined {
    for (const kind of this.kinds.values()) {
      const [spare] = kind.spares
      if (kind !== wanting && spare !== undefined) return spare.drop()
    }
    return undefined
  }

  /** Drops a spare that nobody has taken. */
  private forget(kind: Kind, spare: Spare): void {
    if (kind.spares.includes(spare)) void spare.drop()
  }

  private dropAll(): void {
    for (const { spares } of this.kinds.values()) for (const spare of spares.splice(0)) void spare.drop()
  }
}
