import { countText, plural, shareText } from '../../number-text.ts'
import { printableLine } from '../../printable.ts'
import { filterRows, orderName, type RowFilter, type SortName, sortNames, sortRows } from '../filter-rows.ts'
import { type PageIndex, rowKinds } from '../page-data.ts'
import { byId, element } from './element.ts'
import { Reader } from './reader.ts'
import { kindMarks, RolloutList } from './rollout-list.ts'
import { TaskStrip } from './task-strip.ts'
import { Transcripts } from './transcripts.ts'

/** Waits this long after a key before it searches, in milliseconds. */
const typingPause = 200

/** The part of the page that is looked through: tasks, filters, the list and one trajectory. */
export class Explorer {
  private readonly index: PageIndex
  private readonly filter: RowFilter = {}
  private sort: SortName = 'plan'
  private opened: number | undefined
  private searching: AbortController | undefined
  private readonly transcripts = new Transcripts()
  private readonly list: RolloutList
  private readonly reader: Reader
  private readonly strip: TaskStrip
  private readonly kinds = byId('kinds', HTMLElement)
  private readonly ending = byId('ending', HTMLSelectElement)
  private readonly sortBox = byId('sort', HTMLSelectElement)
  private readonly text = byId('text', HTMLInputElement)
  private readonly deep = byId('deep', HTMLInputElement)
  private readonly count = byId('count', HTMLElement)

  constructor(index: PageIndex) {
    this.index = index
    for (const id of ['tasks-box', 'filters', 'panes']) byId(id, HTMLElement).hidden = false
    this.reader = new Reader(index, this.transcripts, (by) => this.list.step(by))
    this.list = new RolloutList(index, (row) => this.open(row))
    this.strip = new TaskStrip(index, (task) => {
      this.filter.task = task
      this.apply()
    })
    this.fillKinds()
    this.fillSelects()
    this.listen()
    this.followHash()
    addEventListener('hashchange', () => this.followHash())
  }

  private fillKinds(): void {
    const counts = rowKinds.map(() => 0)
    for (const kind of this.index.rows.kind) counts[kind]!++
    const button = (kind: number | undefined, label: string, count: number) => {
      const made = element(
        'button',
        { type: 'button', 'aria-pressed': 'false', class: kind === undefined ? '' : (rowKinds[kind] ?? '') },
        kind !== undefined &&
          element('span', { class: 'mark', 'aria-hidden': 'true' }, kindMarks[rowKinds[kind]!]),
        `${label} `,
        element('span', { class: 'num' }, countText(count)),
      )
      made.addEventListener('click', () => {
        this.filter.kind = this.filter.kind === kind ? undefined : kind
        this.apply()
      })
      made.dataset['kind'] = kind === undefined ? '' : String(kind)
      return made
    }
    this.kinds.append(button(undefined, 'all', this.index.rows.kind.length))
    for (const [kind, count] of counts.entries())
      if (count > 0) this.kinds.append(button(kind, rowKinds[kind]!, count))
  }

  private fillSelects(): void {
    const counts = this.index.endings.map(() => 0)
    for (const ending of this.index.rows.ending) if (ending >= 0) counts[ending]!++
    this.ending.append(element('option', { value: '' }, 'any ending'))
    const byCount = [...counts.entries()].sort(([, a], [, b]) => b - a)
    for (const [ending, count] of byCount) {
      const name = printableLine(this.index.endings[ending] ?? '', 60)
      this.ending.append(element('option', { value: ending }, `${name} (${countText(count)})`))
    }
    const known = (name: SortName) =>
      name !== 'dearest' || this.index.rows.usd.some((usd) => usd !== null && usd > 0)
    for (const name of sortNames.filter(known))
      this.sortBox.append(
        element('option', { value: name }, name === 'plan' ? 'plan order' : `${name} first`),
      )
  }

  private listen(): void {
    this.ending.addEventListener('change', () => {
      this.filter.ending = this.ending.value === '' ? undefined : Number(this.ending.value)
      this.apply()
    })
    this.sortBox.addEventListener('change', () => {
      this.sort = sortNames.find((name) => name === this.sortBox.value) ?? 'plan'
      this.apply()
    })
    let timer: ReturnType<typeof setTimeout> | undefined
    const typed = () => {
      clearTimeout(timer)
      timer = setTimeout(() => void this.look(), typingPause)
    }
    this.text.addEventListener('input', typed)
    this.deep.addEventListener('change', typed)
    byId('clear', HTMLButtonElement).addEventListener('click', () => {
      this.filter.kind = this.filter.ending = this.filter.task = this.filter.found = undefined
      this.filter.text = this.text.value = this.ending.value = ''
      this.deep.checked = false
      this.searching?.abort()
      this.apply()
    })
  }

  /** Filters by what is typed; in messages when that is asked for, which takes a moment for a large page. */
  private async look(): Promise<void> {
    this.searching?.abort()
    const text = this.text.value.trim()
    this.filter.text = text
    this.filter.found = undefined
    if (this.deep.checked && text !== '') {
      const searching = new AbortController()
      this.searching = searching
      const found = await this.transcripts.search(text, searching.signal, (share) => {
        if (!searching.signal.aborted) this.count.textContent = `searching messages: ${shareText(share)}`
      })
      if (found === undefined) return
      this.filter.found = found
    }
    this.apply()
  }

  private apply(): void {
    const rows = sortRows(this.index, filterRows(this.index, this.filter), this.sort)
    this.list.show(rows, this.opened)
    this.strip.mark(this.filter.task)
    for (const button of this.kinds.children) {
      if (!(button instanceof HTMLElement)) continue
      const kind = button.dataset['kind'] === '' ? undefined : Number(button.dataset['kind'])
      button.setAttribute('aria-pressed', String(kind === this.filter.kind))
    }
    const all = this.index.rows.task.length
    const task =
      this.filter.task === undefined
        ? ''
        : ` of task ${printableLine(this.index.tasks[this.filter.task] ?? '', 80)}`
    this.count.textContent =
      rows.length === all && task === ''
        ? plural(all, 'rollout')
        : `${countText(rows.length)} of ${plural(all, 'rollout')}${task}`
  }

  private open(row: number): void {
    this.opened = row
    history.replaceState(null, '', `#rollout=${encodeURIComponent(orderName(this.index, row))}`)
    void this.reader.open(row).catch(tellBroken)
  }

  /** Opens what the address names: `#rollout=task%230` or `#task=…`. */
  private followHash(): void {
    const asked = new URLSearchParams(location.hash.slice(1))
    const task = asked.get('task')
    if (task !== null) {
      const place = this.index.tasks.indexOf(task)
      this.filter.task = place < 0 ? undefined : place
    }
    const name = asked.get('rollout')
    const row =
      name === null ? -1 : this.index.rows.task.findIndex((_task, at) => orderName(this.index, at) === name)
    if (row >= 0 && row !== this.opened) {
      this.opened = row
      void this.reader.open(row).catch(tellBroken)
    }
    this.apply()
    if (row >= 0) bringIntoSight('panes')
    else if (task !== null && this.filter.task !== undefined) bringIntoSight('filters')
  }
}

/** Scrolls to what an address names: no element has its name. Only once what lies above has its height. */
function bringIntoSight(id: string): void {
  requestAnimationFrame(() => requestAnimationFrame(() => byId(id, HTMLElement).scrollIntoView()))
}

/** Says on the page that something of it does not work, and what is left. */
export function tellBroken(error: unknown): void {
  const box = byId('broken', HTMLElement)
  box.hidden = false
  const why = error instanceof Error ? error.message : String(error)
  box.textContent = `The list or a trajectory could not be shown (${printableLine(why, 200)}). It needs a browser of 2023 or later; the report and its pictures above and below do not.`
}
