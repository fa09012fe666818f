import { escapeOf, unprintable } from '../../printable.ts'

type Content = Node | string | number | false | null | undefined

/**
 * An element with attributes and content. Text is only ever text: nothing in the script makes HTML of a string, and the
 * page's policy would refuse it.
 */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number | boolean | undefined>> = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    made.setAttribute(key, value === true ? '' : String(value))
  }
  for (const child of content) {
    if (child === false || child === null || child === undefined) continue
    made.append(child instanceof Node ? child : String(child))
  }
  return made
}

const svgSpace = 'http://www.w3.org/2000/svg'

/** The same of SVG. */
export function drawing(
  name: string,
  attributes: Readonly<Record<string, string | number>> = {},
): SVGElement {
  const made = document.createElementNS(svgSpace, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  return made
}

/** Text of a model: characters that act, hide or reorder stand as marked escapes, everything else as it is. */
export function inertText(text: string): DocumentFragment {
  const made = document.createDocumentFragment()
  const said = text.replace(/\r\n/g, '\n')
  let from = 0
  for (const match of said.matchAll(unprintable)) {
    if (match.index > from) made.append(said.slice(from, match.index))
    made.append(element('span', { class: 'escape' }, escapeOf(match[0])))
    from = match.index + match[0].length
  }
  if (from < said.length) made.append(said.slice(from))
  return made
}

/** An element of the page by its id, of the kind that it must be. */
export function byId<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id)
  if (!(found instanceof kind)) throw new Error(`The page has no ${id}.`)
  return found
}
