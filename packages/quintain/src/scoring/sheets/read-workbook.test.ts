import { crc32, deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readWorkbook, sheetValues, type Workbook } from './read-workbook.ts'

/** An archive of entries, each packed. */
function zip(entries: [string, string][], { says = {} }: { says?: Record<string, number> } = {}): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of entries) {
    const content = Buffer.from(text)
    const packed = deflateRawSync(content)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(says[name] ?? content.length, 18)
    fields.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed])
    const central = Buffer.alloc(14)
    central.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), fields, central, Buffer.from(name))
    parts.push(local)
    offset += local.length
  }
  const listing = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(listing.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, listing, end])
}

const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`

function entriesOf(rows: string, { texts = '', properties = '', styles = '' } = {}): [string, string][] {
  return [
    ['_rels/.rels', `<Relationships>${relation('r1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`],
    [
      'xl/workbook.xml',
      `<workbook xmlns:r="r">${properties}<sheets><sheet name="Sheet1" sheetId="1" r:id="s1"/></sheets></workbook>`,
    ],
    [
      'xl/_rels/workbook.xml.rels',
      `<Relationships>${relation('s1', 'worksheet', 'worksheets/sheet1.xml')}${relation('s2', 'sharedStrings', '/xl/sharedStrings.xml')}${relation('s3', 'styles', '../xl/styles.xml')}</Relationships>`,
    ],
    ['xl/worksheets/sheet1.xml', `<worksheet><sheetData>${rows}</sheetData></worksheet>`],
    ['xl/sharedStrings.xml', `<sst>${texts}</sst>`],
    ['xl/styles.xml', `<styleSheet>${styles}</styleSheet>`],
  ]
}

function opened(bytes: Uint8Array): Workbook {
  const read = readWorkbook(bytes)
  if ('problem' in read) throw new Error(read.message)
  return read.workbook
}

const cellsOf = (rows: string, parts = {}) => opened(zip(entriesOf(rows, parts))).sheets[0]!.cells

test('cells have the values of their types', () => {
  const cells = cellsOf(
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>1.5</v></c><c r="C1" t="b"><v>1</v></c>' +
      '<c r="D1" t="e"><v>#DIV/0!</v></c><c r="E1" t="inlineStr"><is><r><t>a&amp;</t></r><r><t> b</t></r></is></c>' +
      '<c r="F1" t="str"><f>""</f><v></v></c><c r="G1" s="1"/></row>',
    { texts: '<si><t xml:space="preserve"> x_x000D_</t><rPh><t>no</t></rPh></si>' },
  )
  expect(Object.fromEntries([...cells].map(([name, { value }]) => [name, value]))).toEqual({
    A1: ' x\r',
    B1: 1.5,
    C1: true,
    D1: { error: '#DIV/0!' },
    E1: 'a& b',
    F1: '',
  })
})

test('a number keeps its digits', () => {
  const cell = cellsOf('<row r="1"><c r="A1"><v>9007199254740993</v></c></row>').get('A1')
  expect(cell?.stored).toBe('9007199254740993')
})

test('days are numbers that a style shows as days, from 1900 or 1904 on', () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="[Red]0.0&quot;d&quot;"/><numFmt numFmtId="165" formatCode="[$-409]yyyy\\-mm"/></numFmts>' +
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>'
  const rows = `<row r="1">${['A1', 'B1', 'C1', 'D1'].map((name, s) => `<c r="${name}" s="${s}"><v>46100</v></c>`).join('')}</row>`
  const workbook = opened(zip(entriesOf(rows, { styles, properties: '<workbookPr date1904="1"/>' })))
  expect([...workbook.sheets[0]!.cells.values()].map(({ day }) => day === true)).toEqual([
    false,
    true,
    false,
    true,
  ])
  expect(workbook.dates).toBe('1904')
})

test('formulas that the file did not calculate are calculated, shared ones too', () => {
  const workbook = opened(
    zip(
      entriesOf(
        '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><f t="shared" ref="B1:B2" si="0">A1*$A$1+LOG10(1)*1E2</f></c></row>' +
          '<row r="2"><c r="A2"><v>3</v></c><c r="B2"><f t="shared" si="0"/><v/></c><c r="C2"><f>Sheet1!B2</f><v>9</v></c></row>',
      ),
    ),
  )
  expect(workbook.sheets[0]?.cells.get('B2')?.formula).toBe('=A2*$A$1+LOG10(1)*1E2')
  expect(sheetValues(workbook, 'Sheet1')).toMatchObject({ A1: 2, C2: 9 })
  const plain = opened(
    zip(entriesOf('<row><c><v>2</v></c><c><f>A1*2</f></c><c t="str"><v>=A1</v></c></row>')),
  )
  expect(sheetValues(plain, 'Sheet1')).toEqual({ A1: 2, B1: 4, C1: '=A1' })
  expect(sheetValues(workbook, 'Sheet1', { recalculate: true })?.['C2']).toEqual({ error: '#NAME?' })
  expect(sheetValues(workbook, 'Other')).toBeUndefined()
})

test('days of a file that counts from 1904 are not calculated as if from 1900', () => {
  const properties = '<workbookPr date1904="1"/>'
  const rows = '<row><c><v>44638</v></c><c><f>YEAR(A1)</f></c></row>'
  const [from1900, from1904] = [{}, { properties }].map((parts) => opened(zip(entriesOf(rows, parts))))
  expect(sheetValues(from1900!, 'Sheet1')).toEqual({ A1: 44638, B1: 2022 })
  expect(sheetValues(from1904!, 'Sheet1')).toEqual({ A1: 44638, B1: { error: '#NAME?' } })
})

const row = '<row r="1"><c r="A1"><v>1</v></c></row>'
const problemOf = (bytes: Uint8Array, limits = {}) => {
  const read = readWorkbook(bytes, limits)
  return 'problem' in read ? read.problem : 'read'
}

test('what is no workbook says so', () => {
  expect(problemOf(Buffer.from('no zip'))).toBe('not_a_workbook')
  expect(problemOf(new Uint8Array())).toBe('not_a_workbook')
  expect(problemOf(zip([['a', 'b']]))).toBe('not_a_workbook')
  expect(problemOf(Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]))).toBe(
    'encrypted',
  )
  expect(problemOf(zip(entriesOf(row)).subarray(0, -30))).toBe('not_a_workbook')
})

test('bombs are refused before they are unpacked', () => {
  const entries = entriesOf(row.padEnd(3_000_000))
  expect(problemOf(zip(entries), { unpacked: 1_000_000 })).toBe('too_large')
  expect(problemOf(zip(entries, { says: { 'xl/worksheets/sheet1.xml': 100 } }))).toBe('not_a_workbook')
  expect(problemOf(zip(entriesOf(row)), { packed: 100 })).toBe('too_large')
  expect(problemOf(zip(entriesOf(row.replace('</c>', '</c><c><v>2</v></c>'))), { cells: 1 })).toBe(
    'too_large',
  )
})

test('shared formulas that would fill the memory are refused', () => {
  const long = `1${'+1'.repeat(3000)}`
  const cells = Array.from(
    { length: 400 },
    (_, at) => `<row r="${at + 2}"><c><f t="shared" si="0"/></c></row>`,
  )
  const rows = `<row r="1"><c><f t="shared" si="0">${long}</f></c></row>${cells.join('')}`
  expect(problemOf(zip(entriesOf(rows)), { unpacked: 1_000_000 })).toBe('too_large')
})

test.each([
  ['a document type', '<!DOCTYPE x [<!ENTITY a "b">]><row/>'],
  ['deep nesting', '<a>'.repeat(1000)],
  ['tags that do not match', '<row></c>'],
  ['a cell twice', '<row r="1"><c r="A1"><v>1</v></c><c r="A1"><v>2</v></c></row>'],
  ['a cell in another row', '<row r="1"><c r="A2"><v>1</v></c></row>'],
  ['a text that is not there', '<row r="1"><c r="A1" t="s"><v>4</v></c></row>'],
  ['a number that is none', '<row r="1"><c r="A1"><v>0x10</v></c></row>'],
  ['an attribute twice', '<row r="1" r="2"/>'],
  ['an attribute without a value', `<row ${'a'.repeat(60_000)}/>`],
  ['an endless tag', `<row ${'a'.repeat(100_000)}>`],
])('%s is refused', (_, rows) => {
  expect(problemOf(zip(entriesOf(rows)))).toBe('not_a_workbook')
})

test('a part outside of the file or an entry twice is refused', () => {
  const outside = entriesOf(row).map(([name, text]): [string, string] => [
    name,
    text.replace('worksheets/sheet1.xml', '../../etc/passwd'),
  ])
  expect(problemOf(zip(outside))).toBe('not_a_workbook')
  expect(problemOf(zip([...entriesOf(row), ...entriesOf(row)]))).toBe('not_a_workbook')
})

test('any damage to a file is a value', () => {
  const good = zip(entriesOf(row))
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 4 }), (changes) => {
      const bytes = Buffer.from(good)
      for (const [at, byte] of changes) bytes[at] = byte
      expect(problemOf(bytes)).toMatch(/^(?:read|not_a_workbook|encrypted|too_large)$/)
    }),
  )
})
