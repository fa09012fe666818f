import { broken } from './workbook-problem.ts'

/** A piece of an XML document. Names are without their namespace prefix, texts decoded. */
export type XmlPiece =
  | { kind: 'start'; name: string; attributes: string }
  | { kind: 'end'; name: string }
  | { kind: 'text'; text: string }

const deepest = 64
const longestTag = 65_536
const nameHere = /<(\/?)([\p{L}_][\p{L}\p{N}\p{M}_.:-]*)/uy
const hiding = [
  ['<!--', '-->'],
  ['<?', '?>'],
] as const

/**
 * Start tags, end tags and texts of a document in order; a tag that ends itself gives both. Linear; a document type (the
 * way of entity bombs and of files from elsewhere) is refused. Throws `WorkbookProblem`.
 */
export function* xmlPieces(text: string): Generator<XmlPiece, void> {
  const open: string[] = []
  for (let at = 0; at < text.length; ) {
    if (text[at] !== '<') {
      const end = text.indexOf('<', at)
      const raw = text.slice(at, end < 0 ? text.length : end)
      if (open.length > 0) yield { kind: 'text', text: xmlText(raw) }
      at += raw.length
      continue
    }
    if (text.startsWith('<![CDATA[', at)) {
      const end = text.indexOf(']]>', at)
      if (end < 0) throw broken('the XML is cut off')
      yield { kind: 'text', text: text.slice(at + 9, end) }
      at = end + 3
      continue
    }
    const hidden = hiding.find(([start]) => text.startsWith(start, at))
    if (hidden !== undefined) {
      const end = text.indexOf(hidden[1], at + hidden[0].length)
      if (end < 0) throw broken('the XML is cut off')
      at = end + hidden[1].length
      continue
    }
    nameHere.lastIndex = at
    const found = nameHere.exec(text)
    const end = endOfTag(text, at)
    if (found === null || end === undefined)
      throw broken(text[at + 1] === '!' ? 'the XML has a document type' : 'the XML is not well formed')
    const [begin, slash, full = ''] = found
    const rest = text.slice(at + begin.length, end)
    at = end + 1
    const name = full.slice(full.lastIndexOf(':') + 1)
    if (slash === '/') {
      if (open.pop() !== full) throw broken('the XML is not well formed')
      yield { kind: 'end', name }
      continue
    }
    const closed = rest.endsWith('/')
    yield { kind: 'start', name, attributes: closed ? rest.slice(0, -1) : rest }
    if (closed) yield { kind: 'end', name }
    else if (open.push(full) > deepest) throw broken('the XML is nested too deeply')
  }
  if (open.length > 0) throw broken('the XML is cut off')
}

/** The `>` that ends a tag: not one in a quoted value. */
function endOfTag(text: string, from: number): number | undefined {
  const most = Math.min(text.length, from + longestTag)
  let quote: string | undefined
  for (let at = from + 1; at < most; at++) {
    const letter = text[at]
    if (letter === '<') return undefined
    if (quote !== undefined) {
      if (letter === quote) quote = undefined
    } else if (letter === '>') return at
    else if (letter === '"' || letter === "'") quote = letter
  }
  return undefined
}

const attributeHere = /\s+([^\s=<>"'/]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y

/** Attributes of a start tag, decoded. */
export function attributesOf(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>()
  attributeHere.lastIndex = 0
  let read = 0
  for (let found = attributeHere.exec(text); found !== null; found = attributeHere.exec(text)) {
    const [, name = '', double, single] = found
    if (attributes.has(name)) throw broken('the XML has an attribute twice')
    attributes.set(name, xmlText(double ?? single ?? ''))
    read = attributeHere.lastIndex
  }
  if (text.slice(read).trim() !== '') throw broken('the XML is not well formed')
  return attributes
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function xmlText(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll(/\r\n?/g, '\n') : text
  if (!lines.includes('&')) return lines
  return lines.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w{1,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name)] ?? whole
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
