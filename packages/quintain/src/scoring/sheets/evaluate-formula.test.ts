import fc from 'fast-check'
import { expect, test } from 'vitest'
import { calculatedCells, sameFormula } from './calculated-cells.ts'
import type { CellValue } from './cell-value.ts'
import type { Cells } from './compare-cells.ts'
import { evaluateFormula, sheetCalculator } from './evaluate-formula.ts'

const shop: Cells = {
  A1: 'item',
  B1: 'price',
  C1: 'sold',
  A2: 'apple',
  B2: 1.5,
  C2: 10,
  A3: 'Pear',
  B3: 2,
  C3: 4,
  A4: 'fig',
  B4: 0.25,
  C4: '7',
  A5: 'apple pie',
  B5: 12,
  C5: null,
  D2: '=B2*C2',
  D3: '=B3*C3',
  E1: true,
  E2: '',
  E3: { error: '#N/A' },
}

test.each<[string, CellValue]>([
  ['=COUNTIF(A1:A5,"APPLE")', 1],
  ['=COUNTIF(A:A,"apple*")', 2],
  ['=COUNTIF(A1:A5,"?ig")', 1],
  ['=COUNTIF(B1:B5,">=1.5")', 3],
  ['=COUNTIF(A1:A10,"")', 5],
  ['=COUNTIFS(A2:A5,"apple*",B2:B5,">2")', 1],
  ['=SUM(C:C)', 14],
  ['=SUM(C2:C4,"7",TRUE)', 22],
  ['=AVERAGE($B$2:$B$3)', 1.75],
  ['=COUNT(A1:C5)', 6],
  ['=COUNTA(A1:E5)', 19],
  ['=COUNTBLANK(C1:C6)', 2],
  ['=SUMIF(A2:A5,"apple",B2:B5)', 1.5],
  ['=SUMIFS(B2:B5,C2:C5,">3",A2:A5,"<>Pear")', 1.5],
  ['=AVERAGEIF(B2:B5,">1")', 15.5 / 3],
  ['=MIN(B2:B5)&"-"&MAX(B2:B5)', '0.25-12'],
  ['=SUMPRODUCT((A2:A5="apple")*B2:B5)', 1.5],
  ['=VLOOKUP("pear",A2:C5,2,FALSE)', 2],
  ['=VLOOKUP("p*",A2:C5,3,0)', 4],
  ['=VLOOKUP("plum",A2:C5,2,FALSE)', { error: '#N/A' }],
  ['=VLOOKUP("fig",A2:C5,4,FALSE)', { error: '#REF!' }],
  ['=HLOOKUP("Price",A1:C5,3,FALSE)', 2],
  ['=INDEX(B2:B5,MATCH("fig",A2:A5,0))', 0.25],
  ['=SUM(INDEX(A1:C5,0,2))', 15.75],
  ['=MATCH(3,B3:B3)', 1],
  ['=XLOOKUP("kiwi",A2:A5,B2:B5,"none")', 'none'],
  ['=_xlfn.XLOOKUP("fig",A2:A5,B2:B5)', 0.25],
  ['=D2+D3', 23],
  ['=E3+1', { error: '#N/A' }],
  ['=IFERROR(E3,"no")', 'no'],
  ['=F9', 0],
])('%s over a table', (formula, value) => {
  expect(evaluateFormula(formula, shop)).toEqual(value)
})

test.each<[string, CellValue]>([
  ['=-2^2', 4],
  ['=2^-1', 0.5],
  ['=-0', 0],
  ['=50%+1', 1.5],
  ['=1+2*3-4/2', 5],
  ['="a"&1/4&TRUE', 'a0.25TRUE'],
  ['="a"="A"', true],
  ['=0.1+0.2=0.3', true],
  ['=1<"a"', true],
  ['=AND(TRUE,1,0)', false],
  ['=OR(FALSE,NOT(FALSE))', true],
  ['=IF(1>2,1/0,"ok")', 'ok'],
  ['=IF(FALSE,1)', false],
  ['=ROUND(2.5,0)', 3],
  ['=ROUND(-1.005,2)', -1.01],
  ['=ROUNDUP(3.141,2)', 3.15],
  ['=ROUNDDOWN(-3.149,2)', -3.14],
  ['=ROUND(1234,-2)', 1200],
  ['=ABS(-3)+INT(-1.5)', 1],
  ['=MOD(-1,3)', 2],
  ['=SQRT(-1)', { error: '#NUM!' }],
  ['=POWER(2,10)', 1024],
  ['=LEN("abc")&LEFT("abc")&RIGHT("abc",2)&MID("abc",2,5)', '3abcbc'],
  ['=UPPER("a")&LOWER("B")&TRIM("  a   b ")', 'Aba b'],
  ['=TEXTJOIN("-",TRUE,"a","","b")', 'a-b'],
  ['=CONCATENATE("a",1)', 'a1'],
  ['=DATE(2026,3,19)', 46100],
  ['=DATE(2025,14,0)', 46053],
  ['=YEAR(46100)*10000+MONTH(46100)*100+DAY("2026-03-19")', 20260319],
  ['=1/0', { error: '#DIV/0!' }],
  ['="a"+1', { error: '#VALUE!' }],
  ['=NOPE(1)', { error: '#NAME?' }],
  ['=SUM()', { error: '#ERROR!' }],
  ['=1 2', { error: '#ERROR!' }],
  ['=SUM(A1:ZZZ9999999)', { error: '#REF!' }],
  [`=${'('.repeat(5000)}1`, { error: '#ERROR!' }],
])('%s', (formula, value) => {
  expect(evaluateFormula(formula, {})).toEqual(value)
})

test.each([
  ['=', [false, true, false]],
  ['<>', [true, false, true]],
  ['<', [true, false, false]],
  ['<=', [true, true, false]],
  ['>', [false, false, true]],
  ['>=', [false, true, true]],
])('%s compares', (sign, wanted) => {
  expect([1, 2, 3].map((left) => evaluateFormula(`=${left}${sign}2`, {}))).toEqual(wanted)
})

test('a formula that needs itself is an error, unless that branch is not taken', () => {
  expect(evaluateFormula('=A1', { A1: '=B1', B1: '=A1' })).toEqual({ error: '#CIRC!' })
  expect(evaluateFormula('=B1', { A1: '=IF(TRUE,1,B1)', B1: '=A1+1' })).toBe(2)
})

test('long chains of cells are calculated, each once', () => {
  const chain: Record<string, CellValue> = { A1: 1 }
  for (let row = 2; row <= 20_000; row++) chain[`A${row}`] = `=A${row - 1}+1`
  expect(evaluateFormula('=A20000', chain)).toBe(20_000)
  const doubled: Record<string, CellValue> = { A1: 1 }
  for (let row = 2; row <= 60; row++) doubled[`A${row}`] = `=A${row - 1}+A${row - 1}`
  expect(evaluateFormula('=A60', doubled)).toBe(2 ** 59)
})

test('a circle of thousands of cells ends', () => {
  const circle: Record<string, CellValue> = { A1: '=A5000' }
  for (let row = 2; row <= 5000; row++) circle[`A${row}`] = `=A${row - 1}+1`
  expect(evaluateFormula('=A1', circle)).toEqual({ error: '#CIRC!' })
})

test('work is bounded', () => {
  const cells: Record<string, CellValue> = { Z5000: 1 }
  for (let row = 1; row <= 5000; row++) cells[`A${row}`] = `=SUM(B:Z)+${row}`
  expect(evaluateFormula('=SUM(A:A)', cells)).toEqual({ error: '#LIMIT!' })
})

test('cells of other sheets have their sheet before their name', () => {
  const cells = { A1: 1, 'Data!A1': 5, 'Data!B1': '=A1*2', 'My Sheet!A1': 7 }
  expect(evaluateFormula("=Data!B1+A1+'My Sheet'!$A$1+SUM(Data!A:A)", cells)).toBe(23)
  expect(evaluateFormula('=Absent!A1', cells)).toBe(0)
})

test('a formula without a kept value is calculated and not blank', () => {
  const cells = { A1: 2, A2: '=A1*2', A3: '=A2+1' }
  expect(calculatedCells(cells, { A2: null, A3: null })).toEqual({ A1: 2, A2: 4, A3: 5 })
  expect(calculatedCells(cells, { A2: 10 })).toEqual({ A1: 2, A2: 10, A3: 11 })
})

test('formulas are alike but for case, spaces and $', () => {
  expect(sameFormula('=sum( $A$1:a3 )', '=SUM(A1:A3)')).toBe(true)
  expect(sameFormula('="a"', '="A"')).toBe(false)
  expect(sameFormula('=SUM(A1:A3)', '6')).toBe(false)
})

test('any text gives a value and never throws', () => {
  const pieces = fc.constantFrom(
    ...[
      '=',
      '(',
      ')',
      ',',
      'A1',
      'A:A',
      '1:2',
      'SUM(',
      'IF(',
      '"',
      '%',
      '-',
      '^',
      '&',
      '<=',
      '#N/A',
      "'",
      '!',
      '1e308',
      '*',
      ' ',
    ],
    ...['INDEX(', 'MATCH(', 'XLOOKUP(', 'COUNTIF(', '"*a~"', 'TRUE', 'DATE(', 'MID(', 'ROUND(', 'TEXTJOIN('],
  )
  const formula = fc.oneof(
    fc.string(),
    fc.array(pieces).map((found) => found.join('')),
  )
  fc.assert(
    fc.property(formula, formula, (one, other) => {
      const value = sheetCalculator({ A1: `=${other}`, A2: 3, B2: 'x' }).formula(`=${one}`)
      if (typeof value === 'object') expect(value).toHaveProperty('error')
      else if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true)
    }),
  )
})
