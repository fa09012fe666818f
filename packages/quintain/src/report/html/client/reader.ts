import { countText } from '../../number-text.ts'
import { printableLine } from '../../printable.ts'
import { orderName } from '../filter-rows.ts'
import { type PageIndex, rowKinds } from '../page-data.ts'
import { beginningOf, type Fold, piecesOf } from '../text-pieces.ts'
import { type Block, type MessageItem, type TranscriptItem, transcriptItems } from '../transcript-items.ts'
import { byId, element, inertText } from './element.ts'
import { kindMarks } from './rollout-list.ts'
import type { Transcripts } from './transcripts.ts'
import { VirtualList } from './virtual-list.ts'

/** Instructions are long and the same in every rollout: they make room for what was said. */
const systemFold: Fold = { characters: 700, lines: 8 }

function shownOf(text: string, role: MessageItem['role']): string | undefined {
  return role === 'system' ? beginningOf(text, systemFold) : beginningOf(text)
}

/** A guess at an item's height before it is drawn, in pixels. */
function guess(item: TranscriptItem): number {
  if (item.kind !== 'message') return item.kind === 'heading' || item.kind === 'call' ? 40 : 34
  let height = 40
  for (const { text } of item.blocks) {
    const shown = shownOf(text, item.role) ?? text
    height += 16 + 20 * Math.max(shown.split('\n').length, Math.ceil(shown.length / 80))
  }
  return height
}

/** One trajectory at a time, message by message. */
export class Reader {
  private readonly head = byId('reader-head', HTMLElement)
  private readonly body = byId('reader-body', HTMLElement)
  private readonly list: VirtualList
  private readonly index: PageIndex
  private readonly transcripts: Transcripts
  private readonly weights: Record<string, number>
  private items: TranscriptItem[] = []
  /** Texts that somebody unfolded, as `item.block`. */
  private readonly unfolded = new Set<string>()
  private opened = -1

  constructor(index: PageIndex, transcripts: Transcripts, step: (by: number) => void) {
    this.index = index
    this.transcripts = transcripts
    this.weights = index.weights
    this.list = new VirtualList(this.body, (place) => this.draw(place))
    this.head.addEventListener('click', (event) => {
      const by = event.target instanceof HTMLElement ? Number(event.target.dataset['step']) : Number.NaN
      if (!Number.isNaN(by)) step(by)
    })
    this.say('Choose a rollout to read it.')
  }

  /** Shows the trajectory of a row, or says why there is none. */
  async open(row: number): Promise<void> {
    this.opened = row
    this.drawHead(row)
    const kind = rowKinds[this.index.rows.kind[row]!]!
    if (this.index.rows.tries[row] === 0) {
      this.say(
        kind === 'pending'
          ? 'Sample not written yet: no attempt of this order has been recorded. Make the page again once there is one.'
          : 'No attempt of this order was recorded.',
      )
      return
    }
    const transcript = await this.transcripts.of(row)
    // Somebody has gone on meanwhile.
    if (this.opened !== row) return
    if (transcript === undefined) {
      const name = orderName(this.index, row)
      this.say(
        `This page had no room for the trajectory. It is in the run: npx quintain show ${this.index.run} '${name}'`,
      )
      return
    }
    this.unfolded.clear()
    this.items = transcriptItems(transcript, {
      tries: this.index.rows.tries[row] ?? 1,
      weights: this.weights,
    })
    this.list.reset(this.items.length, (place) => guess(this.items[place]!))
  }

  private say(text: string): void {
    this.items = [{ kind: 'fact', text }]
    this.list.reset(1, () => 60)
  }

  private drawHead(row: number): void {
    const kind = rowKinds[this.index.rows.kind[row]!]!
    this.head.className = kind
    this.head.replaceChildren(
      element('span', { class: 'mark', 'aria-hidden': 'true' }, kindMarks[kind]),
      element('h3', {}, printableLine(orderName(this.index, row), 300)),
      element('span', { class: 'ending' }, kind),
      element('button', { type: 'button', 'data-step': -1, 'aria-label': 'previous rollout' }, '↑'),
      element('button', { type: 'button', 'data-step': 1, 'aria-label': 'next rollout' }, '↓'),
    )
  }

  private draw(place: number): HTMLElement {
    const item = this.items[place]!
    switch (item.kind) {
      case 'heading':
        return element('div', { class: 'item heading' }, element('h4', {}, item.text))
      case 'fact':
      case 'problem':
        return element('div', { class: `item ${item.kind}` }, inertText(item.text))
      case 'call':
        return element(
          'div',
          { class: 'item call' },
          element('b', {}, `call ${item.number}`),
          element('span', { class: 'note' }, inertText([item.place, ...item.notes].join(' · '))),
          item.failure !== undefined && element('em', {}, inertText(item.failure)),
        )
      case 'ending':
        return element(
          'div',
          { class: `item verdict ${item.tone}` },
          element('b', {}, item.label),
          element(
            'span',
            {},
            inertText(item.text),
            item.detail !== undefined && element('em', {}, inertText(item.detail)),
          ),
        )
      case 'component':
        return element(
          'div',
          { class: 'item component' },
          element('b', {}, inertText(item.name)),
          element('span', { class: 'value' }, item.value),
          element('span', { class: 'note' }, inertText(item.notes.join(' · '))),
          item.reason !== undefined && element('em', {}, inertText(item.reason)),
        )
      case 'message':
        return element(
          'div',
          { class: `item message ${item.role}` },
          element(
            'div',
            { class: 'who' },
            element('b', {}, inertText(item.who)),
            element('span', { class: 'note' }, inertText(item.notes.join(' · '))),
            item.reward !== undefined && element('span', { class: 'value' }, `reward ${item.reward}`),
            element('span', { class: 'number' }, String(item.index)),
          ),
          ...item.blocks.map((block, i) => this.drawBlock(block, item.role, `${place}.${i}`)),
        )
    }
  }

  private drawBlock({ kind, title, text }: Block, role: MessageItem['role'], key: string): HTMLElement {
    const names = {
      text: '',
      reasoning: 'reasoning',
      refusal: 'refusal',
      call: 'calls',
      image: 'image',
      error: 'error',
    }
    const block = element('div', { class: `block ${kind}`, dir: 'auto' })
    if (names[kind] !== '') {
      const name = element('span', { class: 'tag' }, names[kind])
      block.append(
        element(
          'div',
          { class: 'title', dir: 'ltr' },
          name,
          title !== undefined && element('code', {}, inertText(title)),
        ),
      )
    }
    const said = element('div', { class: 'said' })
    block.append(said)
    const beginning = shownOf(text, role)
    const showAll = () => {
      const pieces = piecesOf(text)
      said.replaceChildren(
        ...(pieces.length < 2
          ? [inertText(text)]
          : pieces.map((piece) => element('div', { class: 'piece' }, inertText(piece)))),
      )
    }
    if (beginning === undefined || this.unfolded.has(key)) {
      showAll()
      return block
    }
    said.append(inertText(beginning), '…')
    const more = element(
      'button',
      { type: 'button', class: 'more' },
      `Show all ${countText(text.length)} characters`,
    )
    more.addEventListener('click', () => {
      this.unfolded.add(key)
      showAll()
      more.remove()
    })
    block.append(more)
    return block
  }
}
