import { printable } from '../printable.ts'

/** Text that is HTML already. Only `html` and `raw` make it, so that whatever else is put in a page is escaped. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Child = Markup | string | number | false | null | undefined | readonly Child[]

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for an element or a quoted attribute: inert as HTML, and without characters that reorder or hide it. */
export function escapeHtml(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => entities[character]!)
}

function textOf(child: Child): string {
  if (child instanceof Markup) return child.text
  if (typeof child === 'string') return escapeHtml(child)
  if (typeof child === 'number') return String(child)
  return Array.isArray(child) ? child.map(textOf).join('') : ''
}

/**
 * HTML with everything that is put into it escaped; `false`, `null` and `undefined` are nothing.
 *
 * @example html`<p title="${name}">${text}</p>`.text
 */
export function html(strings: TemplateStringsArray, ...children: readonly Child[]): Markup {
  let text = strings[0] ?? ''
  for (const [i, child] of children.entries()) text += textOf(child) + (strings[i + 1] ?? '')
  return new Markup(text)
}

/** HTML that this package wrote itself: a style sheet, a script. Never data. */
export function raw(text: string): Markup {
  return new Markup(text)
}
