/**
 * The names that it was given last: so many at least, and at most twice as many. One set of them all would have to look past
 * every place that was given up to find its oldest, which takes a hundred times as long.
 */
export class RecentNames {
  private readonly least: number
  private young = new Set<string>()
  private old = new Set<string>()

  constructor(least: number) {
    this.least = least
  }

  has(name: string): boolean {
    return this.young.has(name) || this.old.has(name)
  }

  add(name: string): void {
    if (this.young.size >= this.least) {
      this.old = this.young
      this.young = new Set()
    }
    this.young.add(name)
  }
}
