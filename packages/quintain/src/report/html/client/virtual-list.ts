import { RowOffsets } from '../row-offsets.ts'
import { element } from './element.ts'

/** Rows that are drawn above and below what is seen. */
const margin = 6

/** A list of any length of which only the rows in sight are in the document. Rows may be of different heights. */
export class VirtualList {
  private readonly offsets = new RowOffsets()
  private readonly space = element('div', { class: 'space' })
  private readonly rows = new Map<number, HTMLElement>()
  private readonly sizes: ResizeObserver
  private waiting = false
  private readonly view: HTMLElement
  private readonly draw: (row: number) => HTMLElement

  constructor(view: HTMLElement, draw: (row: number) => HTMLElement) {
    this.view = view
    this.draw = draw
    view.append(this.space)
    view.addEventListener('scroll', () => this.soon(), { passive: true })
    this.sizes = new ResizeObserver((entries) => this.measured(entries))
    new ResizeObserver(() => this.soon()).observe(view)
  }

  get count(): number {
    return this.offsets.count
  }

  /** Shows another list, from its beginning. */
  reset(count: number, guess: (row: number) => number): void {
    this.clear()
    this.offsets.reset(count, guess)
    this.view.scrollTop = 0
    this.update()
  }

  /** Draws the rows in sight anew. */
  redraw(): void {
    this.clear()
    this.update()
  }

  /** Scrolls as little as is needed to have a row in sight. */
  reveal(row: number): void {
    const [top, height] = [this.offsets.top(row), this.offsets.heightOf(row)]
    if (top < this.view.scrollTop) this.view.scrollTop = top
    else if (top + height > this.view.scrollTop + this.view.clientHeight)
      this.view.scrollTop = top + height - this.view.clientHeight
    this.update()
  }

  /** Rows that fit into the view, for moving by pages. */
  get page(): number {
    const first = this.offsets.rowAt(this.view.scrollTop)
    return Math.max(1, this.offsets.rowAt(this.view.scrollTop + this.view.clientHeight) - first - 1)
  }

  private clear(): void {
    this.sizes.disconnect()
    for (const drawn of this.rows.values()) drawn.remove()
    this.rows.clear()
  }

  private soon(): void {
    if (this.waiting) return
    this.waiting = true
    requestAnimationFrame(() => {
      this.waiting = false
      this.update()
    })
  }

  private measured(entries: readonly ResizeObserverEntry[]): void {
    let above = 0
    let changed = false
    for (const { target } of entries) {
      if (!(target instanceof HTMLElement) || !target.isConnected) continue
      const row = Number(target.dataset['row'])
      const before = this.offsets.top(row)
      const change = this.offsets.setHeight(row, target.offsetHeight)
      if (change === 0) continue
      changed = true
      if (before < this.view.scrollTop) above += change
    }
    if (!changed) return
    // What is being read stays where it is when something above it turns out to be of another height.
    if (above !== 0) this.view.scrollTop += above
    this.update()
  }

  private update(): void {
    const { offsets, view } = this
    this.space.style.height = `${offsets.total}px`
    const first = Math.max(0, offsets.rowAt(view.scrollTop) - margin)
    const last = Math.min(offsets.count - 1, offsets.rowAt(view.scrollTop + view.clientHeight) + margin)
    for (const [row, drawn] of this.rows) {
      if (row >= first && row <= last) continue
      this.sizes.unobserve(drawn)
      drawn.remove()
      this.rows.delete(row)
    }
    // From the last to the first, so that each is put before the one that follows it: the document is in reading order.
    for (let row = last; row >= first; row--) {
      let drawn = this.rows.get(row)
      if (drawn === undefined) {
        drawn = this.draw(row)
        drawn.classList.add('row')
        drawn.dataset['row'] = String(row)
        this.rows.set(row, drawn)
        this.space.insertBefore(drawn, this.rows.get(row + 1) ?? null)
        this.sizes.observe(drawn)
      }
      drawn.style.transform = `translateY(${offsets.top(row)}px)`
    }
  }
}
