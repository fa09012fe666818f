/** A start tag (`closed` when it ends itself), or an end tag. Names are without their namespace prefix. */
export type XmlTag =
  | { kind: 'start'; name: string; attributes: string; closed: boolean }
  | { kind: 'end'; name: string }

/** Why a document was not read to its end. */
export type XmlProblem = 'has_dtd' | 'too_deep' | 'cut_off' | 'not_well_formed'

const deepest = 256

/**
 * Tags of an XML document in order, without comments, character data and instructions, which may hold anything. What is
 * returned at the end is why it could not be read on; undefined at the end of a whole document.
 *
 * Total, and linear in the text: nothing is expanded, since a document type (the way of entity bombs and of files from
 * elsewhere) is refused, and nothing recurs. Text outside of a root and a `<` that begins no tag are passed over: logs
 * come with noise.
 */
export function* xmlTags(text: string): Generator<XmlTag, XmlProblem | undefined> {
  const open: string[] = []
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const hidden = hiddenAt(text, at)
    if (hidden === 'cut_off' || hidden === 'has_dtd') return hidden
    if (hidden !== undefined) {
      at = hidden
      continue
    }
    const name = nameAt(text, text[at + 1] === '/' ? at + 2 : at + 1)
    if (name === '') {
      at++
      continue
    }
    const end = endOfTag(text, at + 1 + name.length)
    if (end === undefined) return 'cut_off'
    if (text[at + 1] === '/') {
      if (open.pop() !== name) return 'not_well_formed'
      yield { kind: 'end', name: localName(name) }
    } else {
      const closed = text[end - 1] === '/'
      const attributes = text.slice(at + 1 + name.length, closed ? end - 1 : end)
      if (!closed && open.push(name) > deepest) return 'too_deep'
      yield { kind: 'start', name: localName(name), attributes, closed }
    }
    at = end + 1
  }
  return open.length > 0 ? 'cut_off' : undefined
}

const hiding = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
] as const

/** The place behind what hides its content, if it is that which begins here. */
function hiddenAt(text: string, at: number): number | 'cut_off' | 'has_dtd' | undefined {
  for (const [start, end] of hiding) {
    if (!text.startsWith(start, at)) continue
    const found = text.indexOf(end, at + start.length)
    return found < 0 ? 'cut_off' : found + end.length
  }
  return text[at + 1] === '!' && /^<!(?:DOCTYPE|ENTITY)/i.test(text.slice(at, at + 9)) ? 'has_dtd' : undefined
}

const nameHere = /[\p{L}_][\p{L}\p{N}\p{M}_.:-]*/uy

function nameAt(text: string, at: number): string {
  nameHere.lastIndex = at
  return nameHere.exec(text)?.[0] ?? ''
}

/** The `>` that ends a tag: not one in a quoted value. */
function endOfTag(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at++) {
    const character = text[at]
    if (character === '>') return at
    if (character !== '"' && character !== "'") continue
    at = text.indexOf(character, at + 1)
    if (at < 0) return undefined
  }
  return undefined
}

function localName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1)
}

// Names and spaces have an end, so that a tag of nothing else costs time in its length.
const attribute = /(?<![^\s<>"'/=])([^\s=<>"'/]{1,200})\s{0,200}=\s{0,200}(?:"([^"]*)"|'([^']*)')/g

/** Attributes of a tag, decoded; undefined where one is there twice, which no XML is. */
export function xmlAttributes(text: string): ReadonlyMap<string, string> | undefined {
  const found = new Map<string, string>()
  for (const [, name = '', double, single] of text.matchAll(attribute)) {
    if (found.has(name)) return undefined
    found.set(name, decoded(double ?? single ?? ''))
  }
  return found
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function decoded(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return entities[String(name)] ?? whole
      const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    },
  )
}
