import { durationText, scoreText } from '../../number-text.ts'
import { printableLine } from '../../printable.ts'
import { orderName } from '../filter-rows.ts'
import { type PageIndex, rowKinds } from '../page-data.ts'
import { byId, element } from './element.ts'
import { VirtualList } from './virtual-list.ts'

const rowHeight = 46

/** Marks that tell the kinds apart without colour. */
export const kindMarks = {
  success: '✓',
  failure: '✗',
  scored: '•',
  unscored: '?',
  faulted: '!',
  cancelled: '–',
  pending: '…',
} as const

/** The rollouts that match, one line each. Tells `open` which one somebody wants to read. */
export class RolloutList {
  private readonly box = byId('list', HTMLElement)
  private readonly list: VirtualList
  private readonly index: PageIndex
  private readonly open: (row: number) => void
  private rows: readonly number[] = []
  /** Place in `rows`; -1 is none. */
  private at = -1

  constructor(index: PageIndex, open: (row: number) => void) {
    this.index = index
    this.open = open
    this.list = new VirtualList(this.box, (place) => this.draw(place))
    this.box.addEventListener('click', (event) => {
      const row = event.target instanceof Element ? event.target.closest('[data-row]') : null
      if (row instanceof HTMLElement) this.select(Number(row.dataset['row']))
    })
    this.box.addEventListener('keydown', (event) => this.key(event))
  }

  show(rows: readonly number[], selected: number | undefined): void {
    this.rows = rows
    this.at = selected === undefined ? -1 : rows.indexOf(selected)
    this.list.reset(rows.length, () => rowHeight)
    this.mark()
    if (this.at >= 0) this.list.reveal(this.at)
  }

  /** Opens the row that lies so many places further down. */
  step(by: number): void {
    if (this.rows.length === 0) return
    this.select(Math.min(this.rows.length - 1, Math.max(0, this.at < 0 ? 0 : this.at + by)))
  }

  private select(place: number): void {
    const row = this.rows[place]
    if (row === undefined) return
    this.at = place
    this.list.reveal(place)
    this.list.redraw()
    this.mark()
    this.open(row)
  }

  private mark(): void {
    if (this.at >= 0) this.box.setAttribute('aria-activedescendant', `rollout-${this.at}`)
    else this.box.removeAttribute('aria-activedescendant')
  }

  private key(event: KeyboardEvent): void {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: this.list.page,
      PageUp: -this.list.page,
      Home: -this.rows.length,
      End: this.rows.length,
    }
    const by = steps[event.key]
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    this.step(by)
  }

  private draw(place: number): HTMLElement {
    const { index, rows } = this
    const row = rows[place]!
    const kind = rowKinds[index.rows.kind[row]!]!
    const ending = index.endings[index.rows.ending[row]!] ?? (kind === 'pending' ? 'no attempt yet' : '')
    const reward = index.rows.reward[row] ?? null
    const wallMs = index.rows.wallMs[row] ?? null
    return element(
      'div',
      {
        id: `rollout-${place}`,
        role: 'option',
        class: `rollout ${kind}`,
        'aria-selected': place === this.at ? 'true' : 'false',
        'aria-posinset': place + 1,
        'aria-setsize': rows.length,
      },
      element('span', { class: 'mark', 'aria-hidden': 'true' }, kindMarks[kind]),
      element('span', { class: 'name' }, printableLine(orderName(index, row), 200)),
      element('span', { class: 'reward' }, reward === null ? '' : scoreText(reward)),
      element('span', { class: 'ending' }, `${kind} · ${printableLine(ending, 80)}`),
      element('span', { class: 'took' }, wallMs === null ? '' : durationText(wallMs)),
    )
  }
}
