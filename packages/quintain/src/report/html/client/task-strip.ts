import { countText, plural, scoreText, shareText } from '../../number-text.ts'
import { printableLine } from '../../printable.ts'
import type { PageIndex } from '../page-data.ts'
import { shadeOf, stripLayout, type TaskCell, taskCells } from '../task-cells.ts'
import { byId, drawing } from './element.ts'

function describe({ tasks, success }: PageIndex, cell: TaskCell): string {
  const name = printableLine(tasks[cell.task] ?? '', 120)
  const rest = [
    cell.faulted > 0 ? `${countText(cell.faulted)} faulted` : '',
    cell.unscored > 0 ? `${countText(cell.unscored)} unscored` : '',
    cell.orders > cell.scored + cell.faulted + cell.unscored
      ? `${countText(cell.orders - cell.scored - cell.faulted - cell.unscored)} without a result`
      : '',
  ].filter((text) => text !== '')
  const end = rest.length > 0 ? `; ${rest.join(', ')}` : ''
  if (cell.value === null) return `${name}: no score of ${plural(cell.orders, 'order')}${end}`
  return success
    ? `${name}: ${countText(cell.successes)} of ${countText(cell.scored)} scored orders succeeded (${shareText(cell.value)})${end}`
    : `${name}: mean reward ${scoreText(cell.value)} of ${plural(cell.scored, 'scored order')}${end}`
}

function summaryOf({ success, tasks }: PageIndex, cells: readonly TaskCell[]): string {
  const scored = cells.filter(({ value }) => value !== null)
  const without = cells.length - scored.length
  const none = without > 0 ? ` ${plural(without, 'task')} without a score.` : ''
  if (!success) return `${plural(scored.length, 'task')} with a score, of ${countText(tasks.length)}.${none}`
  const always = scored.filter(({ value }) => value === 1).length
  const never = scored.filter(({ value }) => value === 0).length
  const sometimes = scored.length - always - never
  return `${countText(always)} always succeeded, ${countText(sometimes)} sometimes, ${countText(never)} never, of ${plural(scored.length, 'task')} with a score.${none}`
}

/** Every task as a cell, by how it came out. Choosing one tells `choose`; the same again, or Escape, takes it back. */
export class TaskStrip {
  private readonly box = byId('strip', HTMLElement)
  private readonly said = byId('strip-said', HTMLElement)
  private readonly index: PageIndex
  private readonly cells: TaskCell[]
  private readonly scale: [number, number]
  private readonly choose: (task: number | undefined) => void
  private layout = { pitch: 10, columns: 1, lines: 1 }
  private at = -1
  private chosen: number | undefined
  private readonly svg = drawing('svg', { 'aria-hidden': 'true' })

  constructor(index: PageIndex, choose: (task: number | undefined) => void) {
    this.index = index
    this.choose = choose
    this.cells = taskCells(index)
    const values = this.cells.flatMap(({ value }) => (value === null ? [] : [value]))
    // Sorted: the ends are the lowest and the highest.
    this.scale = index.success ? [0, 1] : [Math.min(0, values[0] ?? 0), Math.max(1, values.at(-1) ?? 1)]
    this.box.append(this.svg)
    this.said.textContent = summaryOf(index, this.cells)
    this.box.addEventListener('pointermove', (event) => this.move(this.cellAt(event)))
    this.box.addEventListener('pointerleave', () => this.move(-1))
    this.box.addEventListener('click', (event) => this.pick(this.cellAt(event)))
    this.box.addEventListener('keydown', (event) => this.key(event))
    this.box.addEventListener('blur', () => this.move(-1))
    new ResizeObserver(() => this.draw()).observe(this.box)
  }

  /** Marks the task that the list is filtered by. */
  mark(task: number | undefined): void {
    this.chosen = task
    this.drawMarks()
  }

  private cellAt(event: MouseEvent): number {
    const { left, top } = this.svg.getBoundingClientRect()
    const { pitch, columns } = this.layout
    const column = Math.floor((event.clientX - left) / pitch)
    const cell = Math.floor((event.clientY - top) / pitch) * columns + column
    return column >= 0 && column < columns && cell >= 0 && cell < this.cells.length ? cell : -1
  }

  private move(to: number): void {
    if (to === this.at) return
    this.at = to
    const cell = this.cells[to]
    this.said.textContent =
      cell === undefined ? summaryOf(this.index, this.cells) : describe(this.index, cell)
    this.drawMarks()
  }

  private pick(at: number): void {
    const cell = this.cells[at]
    if (cell !== undefined) this.choose(cell.task === this.chosen ? undefined : cell.task)
  }

  private key(event: KeyboardEvent): void {
    const last = this.cells.length - 1
    const from = Math.max(0, this.at)
    const steps: Record<string, number> = {
      ArrowRight: this.at < 0 ? 0 : from + 1,
      ArrowLeft: from - 1,
      ArrowDown: this.at < 0 ? 0 : from + this.layout.columns,
      ArrowUp: from - this.layout.columns,
      Home: 0,
      End: last,
    }
    const to = steps[event.key]
    if (to !== undefined) this.move(Math.min(last, Math.max(0, to)))
    else if (event.key === 'Enter' || event.key === ' ') this.pick(this.at)
    else if (event.key === 'Escape') this.choose(undefined)
    else return
    event.preventDefault()
  }

  private draw(): void {
    const width = this.box.clientWidth
    if (width === 0) return
    this.layout = stripLayout(this.cells.length, width)
    const { pitch, columns, lines } = this.layout
    const size = pitch - (pitch > 9 ? 2 : 1)
    // One path a shade: ten thousand cells are a dozen elements.
    const paths = new Map<number, string[]>()
    for (const [i, { value }] of this.cells.entries()) {
      const shade = shadeOf(value, this.scale)
      const path = paths.get(shade) ?? []
      paths.set(shade, path)
      path.push(`M${(i % columns) * pitch} ${Math.floor(i / columns) * pitch}h${size}v${size}h-${size}z`)
    }
    this.svg.setAttribute('width', String(width))
    this.svg.setAttribute('height', String(lines * pitch))
    this.svg.replaceChildren(
      ...[...paths].map(([shade, path]) =>
        drawing('path', { class: shade < 0 ? 'cell none' : `cell shade${shade}`, d: path.join('') }),
      ),
      drawing('rect', { class: 'hover', rx: 2 }),
      drawing('rect', { class: 'chosen', rx: 2 }),
    )
    this.drawMarks()
  }

  private drawMarks(): void {
    const { pitch, columns } = this.layout
    const chosen = this.chosen === undefined ? -1 : this.cells.findIndex(({ task }) => task === this.chosen)
    for (const [name, cell] of [
      ['hover', this.at],
      ['chosen', chosen],
    ] as const) {
      const rect = this.svg.querySelector(`.${name}`)
      if (rect === null) continue
      const edge = pitch > 9 ? 0 : 1
      rect.setAttribute('x', String((Math.max(0, cell) % columns) * pitch - 1 - edge))
      rect.setAttribute('y', String(Math.floor(Math.max(0, cell) / columns) * pitch - 1 - edge))
      rect.setAttribute('width', String(cell < 0 ? 0 : pitch + 2 * edge))
      rect.setAttribute('height', String(cell < 0 ? 0 : pitch + 2 * edge))
    }
  }
}
