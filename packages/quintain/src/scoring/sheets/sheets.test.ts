import { expect, test } from 'vitest'
import { cellText, dateSerial } from './cell-value.ts'
import { admitGoldSheet, differentCells, sameCell } from './compare-cells.ts'

test('numbers are equal within a tolerance, and text digits are no numbers', () => {
  expect(sameCell(0.3, 0.1 + 0.2)).toBe(true)
  expect(sameCell(0.3, 0.3001)).toBe(false)
  expect(sameCell(0.3, 0.3001, { absTol: 0.001 })).toBe(true)
  expect(sameCell('5', 5)).toBe(false)
  expect(sameCell(true, 1)).toBe(false)
  expect(sameCell(Number.NaN, Number.NaN)).toBe(false)
})

test('a blank is empty text by policy and never zero', () => {
  expect(sameCell(null, '')).toBe(true)
  expect(sameCell(null, '', { blanks: 'strict' })).toBe(false)
  expect(sameCell(null, 0)).toBe(false)
  expect(sameCell('', 0)).toBe(false)
})

test('a day and its serial number are one value in either system', () => {
  expect(sameCell('2026-03-19', 46100, { type: 'date' })).toBe(true)
  expect(sameCell('2026-03-19', 46100 - 1462, { type: 'date', dates: '1904' })).toBe(true)
  expect(sameCell('2026-03-19', 46100)).toBe(false)
  expect(dateSerial('1900-01-01')).toBe(1)
  expect(dateSerial('1900-02-28')).toBe(59)
  expect(dateSerial('1900-03-01')).toBe(61)
  expect(dateSerial('2026-02-30')).toBeUndefined()
  expect(dateSerial('2026-03-19T12:00')).toBe(46100.5)
})

test('errors are equal by name', () => {
  expect(sameCell({ error: '#DIV/0!' }, { error: '#DIV/0!' })).toBe(true)
  expect(sameCell({ error: '#DIV/0!' }, { error: '#N/A' })).toBe(false)
  expect(sameCell({ error: '#DIV/0!' }, '#DIV/0!')).toBe(false)
})

test('the cells of the gold that differ are named', () => {
  expect(differentCells({ A1: 1, B1: 'x', C1: null }, { A1: 1, B1: 'X', D1: 9 })).toEqual(['B1'])
  expect(differentCells({ toString: 'x' }, {})).toEqual(['toString'])
})

test('a gold formula without a calculated value is refused', () => {
  expect(admitGoldSheet({ C5: '=SUM(A:A)' }, { C5: null })).toMatchObject({
    valid: false,
    reason: 'gold_not_calculated',
  })
  expect(admitGoldSheet({ C5: '=SUM(A:A)' }, { C5: 0 }).valid).toBe(true)
})

test('the digits of a stored number come back', () => {
  expect(cellText({ type: 'n', stored: '9007199254740993' })).toBe('9007199254740993')
})
