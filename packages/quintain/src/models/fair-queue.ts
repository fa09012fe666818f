/** Who waits, and how much of what is waited for they have already. */
interface Party<T> {
  has: number
  entries: Set<T>
}

/**
 * A queue of parties that each may wait with many entries. Next is the party that has least, of those that have the same
 * the one that has waited longest since it was last served; its entries go in the order in which they came. So one party
 * with a thousand entries makes another with one wait for one place, not for a thousand.
 */
export class FairQueue<T> {
  /** Entries that wait. */
  size = 0
  private readonly parties = new Map<string, Party<T>>()
  private readonly waiting = new Set<Party<T>>()

  add(party: string, entry: T): void {
    const known = this.party(party)
    known.entries.add(entry)
    this.waiting.add(known)
    this.size++
  }

  /** Takes an entry out that waits no longer. */
  delete(party: string, entry: T): void {
    const known = this.parties.get(party)
    if (known?.entries.delete(entry) !== true) return
    this.size--
    if (known.entries.size === 0) this.waiting.delete(known)
    this.tidy(party)
  }

  /** Takes the entry that is next out. */
  next(): T | undefined {
    let least: Party<T> | undefined
    for (const party of this.waiting) {
      if (least === undefined || party.has < least.has) least = party
      if (least.has === 0) break
    }
    const [entry] = least?.entries ?? []
    if (least === undefined || entry === undefined) return undefined
    least.entries.delete(entry)
    this.size--
    // Behind the others.
    this.waiting.delete(least)
    if (least.entries.size > 0) this.waiting.add(least)
    return entry
  }

  /** A party has one more of what is waited for, or one less. */
  count(party: string, by: 1 | -1): void {
    this.party(party).has += by
    if (by < 0) this.tidy(party)
  }

  private party(name: string): Party<T> {
    let party = this.parties.get(name)
    if (party === undefined) {
      party = { has: 0, entries: new Set() }
      this.parties.set(name, party)
    }
    return party
  }

  private tidy(name: string): void {
    const party = this.parties.get(name)
    if (party?.has === 0 && party.entries.size === 0) this.parties.delete(name)
  }
}
