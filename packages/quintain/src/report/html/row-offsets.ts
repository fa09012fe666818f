/** Where rows of different heights lie below one another, in pixels. Heights start as a guess and are corrected as they are seen. */
export class RowOffsets {
  private heights = new Float64Array(0)
  private tops = new Float64Array(1)
  /** First row whose top is not up to date. */
  private stale = 0

  reset(count: number, guess: (row: number) => number): void {
    this.heights = Float64Array.from({ length: count }, (_, row) => guess(row))
    this.tops = new Float64Array(count + 1)
    this.stale = 0
  }

  get count(): number {
    return this.heights.length
  }

  get total(): number {
    return this.top(this.count)
  }

  heightOf(row: number): number {
    return this.heights[row] ?? 0
  }

  /** How much taller the row has become. */
  setHeight(row: number, height: number): number {
    const change = height - this.heightOf(row)
    if (row < 0 || row >= this.count || change === 0) return 0
    this.heights[row] = height
    this.stale = Math.min(this.stale, row)
    return change
  }

  top(row: number): number {
    if (row > this.stale) {
      for (let i = this.stale; i < this.count; i++) this.tops[i + 1] = this.tops[i]! + this.heights[i]!
      this.stale = this.count
    }
    return this.tops[Math.min(Math.max(0, row), this.count)]!
  }

  /** The row at a distance from the top; the last one beyond the end, 0 when there is none. */
  rowAt(y: number): number {
    let [low, high] = [0, Math.max(0, this.count - 1)]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.top(middle) <= y) low = middle
      else high = middle - 1
    }
    return low
  }
}
