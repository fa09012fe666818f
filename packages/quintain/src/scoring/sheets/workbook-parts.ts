import { broken } from './workbook-problem.ts'
import { attributesOf, xmlPieces } from './xml-pieces.ts'

/** Targets of the relations of a part, by id, as names of entries. Relations to outside of the file are left out. */
export function relationsOf(xml: string, part: string): Map<string, { type: string; target: string }> {
  const relations = new Map<string, { type: string; target: string }>()
  for (const piece of xmlPieces(xml)) {
    if (piece.kind !== 'start' || piece.name !== 'Relationship') continue
    const attributes = attributesOf(piece.attributes)
    if (attributes.get('TargetMode') === 'External') continue
    const type = (attributes.get('Type') ?? '').split('/').at(-1) ?? ''
    relations.set(attributes.get('Id') ?? '', {
      type,
      target: entryName(attributes.get('Target') ?? '', part),
    })
  }
  return relations
}

/** The entry that a target names, which may be relative to the folder of its part. */
function entryName(target: string, part: string): string {
  const names = target.startsWith('/') ? [] : part.split('/').slice(0, -1)
  for (const name of target.split('/')) {
    if (name === '' || name === '.') continue
    if (name !== '..') names.push(name)
    else if (names.pop() === undefined) throw broken('a part of the file lies outside of it')
  }
  return names.join('/')
}

/** The texts that cells share, with the letters that XML cannot hold; readings in small type are left out. */
export function sharedTexts(xml: string): string[] {
  const texts: string[] = []
  let text = ''
  let inText = false
  let phonetic = false
  for (const piece of xmlPieces(xml)) {
    if (piece.kind === 'text') {
      if (inText && !phonetic) text += piece.text
    } else if (piece.name === 'si') {
      if (piece.kind === 'end') texts.push(cellLetters(text))
      text = ''
    } else if (piece.name === 't') inText = piece.kind === 'start'
    else if (piece.name === 'rPh') phonetic = piece.kind === 'start'
  }
  return texts
}

/** `_x000D_` stands for a letter that XML cannot hold. */
export const cellLetters = (text: string): string =>
  text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(String(code), 16)))

/** Numbers of the formats for days and times that every file has (ECMA-376 part 1, 18.8.30). */
const dayFormats = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 45, 46, 47])

/** Whether the cells of each style hold days or times. */
export function dayStyles(xml: string): boolean[] {
  const own = new Map<number, boolean>()
  const styles: boolean[] = []
  let inCells = false
  for (const piece of xmlPieces(xml)) {
    if (piece.kind === 'text') continue
    if (piece.name === 'cellXfs') inCells = piece.kind === 'start'
    if (piece.kind === 'end') continue
    if (piece.name === 'numFmt') {
      const attributes = attributesOf(piece.attributes)
      own.set(Number(attributes.get('numFmtId')), showsDays(attributes.get('formatCode') ?? ''))
    } else if (piece.name === 'xf' && inCells) {
      const format = Number(attributesOf(piece.attributes).get('numFmtId') ?? 0)
      styles.push(own.get(format) ?? dayFormats.has(format))
    }
  }
  return styles
}

/** Whether a number format shows days or times: it has their letters outside of quotes, colours and conditions. */
function showsDays(format: string): boolean {
  const [positive = ''] = format.split(';')
  const bare = positive.replaceAll(/"[^"]*"|\\.|_.|\*./g, '').replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '')
  return /[dmyhs]/i.test(bare) && !/general/i.test(bare)
}
