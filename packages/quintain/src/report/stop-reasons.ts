/** Why agents failed, in the words of their errors, which are redacted already. */
export interface StopReason {
  reason: string
  count: number
}

/** Different texts that are told apart; an error that holds a number of its own is another text each time. */
const mostReasons = 1_000
const mostListed = 5

/** The commonest of many reasons, in little memory. */
export class StopReasons {
  private readonly byAttempt = new Map<number, string>()
  private readonly texts = new Map<string, string>()

  /** Keeps why the attempt of a row failed. */
  keep(row: number, stop = 'no reason given'): void {
    const text = this.texts.get(stop)
    if (text === undefined && this.texts.size < mostReasons) this.texts.set(stop, stop)
    this.byAttempt.set(row, text ?? (this.texts.has(stop) ? stop : 'another reason'))
  }

  /** Of the attempts that count. */
  list(rows: Iterable<number>): StopReason[] {
    const counts = new Map<string, number>()
    for (const row of rows) {
      const reason = this.byAttempt.get(row)
      if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1)
    }
    return [...counts]
      .map(([reason, count]) => ({ reason, count }))
      .sort((a, b) => b.count - a.count)
      .slice(0, mostListed)
  }
}
