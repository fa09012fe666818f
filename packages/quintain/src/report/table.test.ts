import { expect, test } from 'vitest'
import { formatTable } from './table.ts'

const head = ['door', 'who may ask', 'port']
const rows = [
  ['one', 'whoever has a token of sixteen characters', '8000'],
  ['another', 'this machine', '8001'],
]

test('columns are as wide as they need', () => {
  expect(formatTable(head, rows)).toBe(
    `door     who may ask                                port
one      whoever has a token of sixteen characters  8000
another  this machine                               8001
`,
  )
})

test('a table that must be narrower goes on in further lines, at words, and loses none', () => {
  const text = formatTable(head, rows, undefined, 32)
  expect(text).toBe(
    `door     who may ask        port
one      whoever has a      8000
         token of sixteen
         characters
another  this machine       8001
`,
  )
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(32)
})

test('no word is broken where there is no room for it', () => {
  expect(formatTable(['a', 'b'], [['characters', 'machines']], undefined, 5)).toBe(
    `a           b
characters  machines
`,
  )
})
