/** A place in the cache: which positions of which conversation are there. */
export interface Slot {
  readonly index: number
  /** Of the weights that computed what is there; 0 is none. */
  key: number
  session: number
  /** Tokens by position, of which the first `known` are those of what is here and the first `filled` are computed. */
  readonly tokens: Int32Array
  known: number
  filled: number
  isTaken: boolean
  /** Counts those that took it. */
  turn: number
  lastUsed: number
}

/** A slot that holds, or is about to hold, what a prompt begins with. */
export interface Lender {
  slot: Slot
  turn: number
  positions: number
}

/** Fewer positions are computed as quickly as they are copied. */
const leastLent = 16

/**
 * The slots of a thread's cache. A session finds what its earlier prompts left; when all slots hold something, the one that
 * was used longest ago gives way, and its session is computed anew when it comes back.
 */
export class SlotTable {
  private readonly slots: Slot[]
  private readonly bySession = new Map<number, Slot>()
  private clock = 0

  constructor(count: number, context: number) {
    this.slots = Array.from({ length: count }, (_, index) => ({
      index,
      key: 0,
      session: 0,
      tokens: new Int32Array(context),
      known: 0,
      filled: 0,
      isTaken: false,
      turn: 0,
      lastUsed: 0,
    }))
  }

  /**
   * A slot for a prompt, taken until it is given back; undefined when all are taken. Its first `filled` positions hold what
   * the prompt begins with. A session that is being sampled already gets a slot as if it had no name.
   */
  take(prompt: ArrayLike<number>, { key, session }: { key: number; session: number }): Slot | undefined {
    const own = session === 0 ? undefined : this.bySession.get(session)
    const slot = own !== undefined && !own.isTaken ? own : this.oldest()
    if (slot === undefined) return undefined
    if (slot !== own) {
      this.letGo(slot)
      if (session !== 0 && own === undefined) {
        slot.session = session
        this.bySession.set(session, slot)
      }
    }
    // The last token is always computed, since its logits are what is sampled from.
    slot.filled = slot.key === key ? commonLength(slot, prompt, Math.min(slot.filled, prompt.length - 1)) : 0
    slot.key = key
    slot.tokens.set(prompt)
    slot.known = prompt.length
    slot.isTaken = true
    slot.turn++
    return slot
  }

  /** The other slot from which most of what a slot lacks of its prompt can be copied, now or when it is computed there. */
  lenderTo(borrower: Slot): Lender | undefined {
    const most = borrower.known - 1
    let best: Lender | undefined
    let positions = borrower.filled + leastLent - 1
    if (positions >= most) return undefined
    for (const slot of this.slots) {
      if (slot === borrower || slot.key !== borrower.key || slot.known <= positions) continue
      const common = commonLength(slot, borrower.tokens, Math.min(slot.known, most))
      if (common <= positions) continue
      positions = common
      best = { slot, turn: slot.turn, positions }
      if (common === most) break
    }
    return best
  }

  giveBack(slot: Slot): void {
    slot.isTaken = false
    slot.known = slot.filled
    slot.lastUsed = slot.session === 0 ? 0 : ++this.clock
  }

  /** A session is over: its slot is the next to be given away. */
  forget(session: number): void {
    const slot = this.bySession.get(session)
    if (slot === undefined) return
    this.bySession.delete(session)
    slot.session = 0
    if (!slot.isTaken) slot.lastUsed = 0
  }

  private letGo(slot: Slot): void {
    if (slot.session !== 0) this.bySession.delete(slot.session)
    slot.session = 0
  }

  private oldest(): Slot | undefined {
    let oldest: Slot | undefined
    for (const slot of this.slots) {
      if (!slot.isTaken && (oldest === undefined || slot.lastUsed < oldest.lastUsed)) oldest = slot
    }
    return oldest
  }
}

function commonLength(slot: Slot, prompt: ArrayLike<number>, most: number): number {
  let at = 0
  while (at < most && slot.tokens[at] === prompt[at]) at++
  return at
}
