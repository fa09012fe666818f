/** Stretches of time, in order and apart from each other. */
export class Intervals {
  private held: { from: number; to: number }[] = []

  get empty(): boolean {
    return this.held.length === 0
  }

  add(from: number, to: number): void {
    if (!(to > from)) return
    const apart = (held: { from: number; to: number }): boolean => held.to < from || held.from > to
    const touched = this.held.filter((held) => !apart(held))
    const merged = {
      from: Math.min(from, ...touched.map((held) => held.from)),
      to: Math.max(to, ...touched.map((held) => held.to)),
    }
    this.held = [...this.held.filter(apart), merged].sort((a, b) => a.from - b.from)
  }

  /** How much of a stretch is in none of them. */
  free(from: number, to: number): number {
    let left = Math.max(0, to - from)
    for (const held of this.held) left -= Math.max(0, Math.min(to, held.to) - Math.max(from, held.from))
    return Math.max(0, left)
  }

  /** The same, to be added to. */
  copy(): Intervals {
    const copy = new Intervals()
    copy.held = [...this.held]
    return copy
  }

  clear(): void {
    this.held = []
  }
}
