import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { csvLine, parseCsv } from './csv.ts'

const values = (text: string) => parseCsv(text).rows.map((row) => row.values)

describe('parseCsv', () => {
  test('a byte-order mark does not become part of the first column', () => {
    const read = parseCsv('\ufeffinput,target\nwhat is 3+3,6\n')
    expect(read.columns).toEqual(['input', 'target'])
    expect(read.rows).toEqual([{ values: { input: 'what is 3+3', target: '6' }, line: 1 }])
  })

  test('quoted values hold commas, line breaks and doubled quotes', () => {
    expect(values('a,b\r\n"x, ""y""","line 1\nline 2"\r\nplain,"" \r\n')).toEqual([
      { a: 'x, "y"', b: 'line 1\nline 2' },
    ])
    expect(values('a,b\n"",2\n')).toEqual([{ a: '', b: '2' }])
  })

  test('values stay text', () => {
    expect(values('id,amount\n007,1e5\n')).toEqual([{ id: '007', amount: '1e5' }])
  })

  test('blank lines, a missing last line break and old Mac line ends are no errors', () => {
    for (const text of ['a,b\n1,2\n\n3,4', 'a,b\r1,2\r3,4\r', '\n\na,b\n1,2\n3,4\n\n']) {
      const read = parseCsv(text)
      expect(read.issues).toEqual([])
      expect(read.rows.map((row) => row.values)).toEqual([
        { a: '1', b: '2' },
        { a: '3', b: '4' },
      ])
    }
  })

  test('a row is never shifted or padded in silence', () => {
    const read = parseCsv('a,b\n1\n1,2,3\n"x\ny",2\n"open,2\n')
    expect(read.rows.map((row) => row.values)).toEqual([{ a: 'x\ny', b: '2' }])
    expect(read.issues.map(({ line }) => line)).toEqual([1, 2, 5])
    expect(read.issues[2]?.message).toContain('never closed')
  })

  test('text behind a quote, a NUL and a column given twice are named', () => {
    expect(parseCsv('a\n"x"y\n').issues).toMatchObject([{ line: 1, message: expect.stringContaining('""') }])
    expect(parseCsv('a\nx\0\n').issues).toMatchObject([{ line: 1, message: expect.stringContaining('NUL') }])
    expect(parseCsv('a,a\n1,2\n').issues).toMatchObject([{ line: 0, column: 'a' }])
  })

  test('a column may have any name', () => {
    const [row] = values('__proto__,constructor\n1,2\n')
    expect(Object.entries(row!)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })

  test('what was written is read', () => {
    const cell = fc.string({ unit: fc.constantFrom(...'a1,"\r\n \ufeffé') })
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 4 })
          .chain((width) =>
            fc.tuple(
              fc.uniqueArray(cell, { minLength: width, maxLength: width }),
              fc.array(fc.array(cell, { minLength: width, maxLength: width })),
            ),
          ),
        ([columns, rows]) => {
          const read = parseCsv([columns, ...rows].map(csvLine).join(''))
          expect(read.issues).toEqual([])
          expect(read.columns).toEqual(columns)
          expect(read.rows.map((row) => columns.map((column) => row.values[column]))).toEqual(rows)
        },
      ),
    )
  })

  test('any text is read without an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'a,"\r\n\0') }), (text) => {
        const { columns, rows } = parseCsv(text)
        for (const row of rows) expect(Object.keys(row.values).length).toBeLessThanOrEqual(columns.length)
      }),
    )
  })
})
