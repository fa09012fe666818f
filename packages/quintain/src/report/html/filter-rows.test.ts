import { expect, test } from 'vitest'
import { filterRows, orderName, sortRows } from './filter-rows.ts'
import { type PageIndex, rowKinds } from './page-data.ts'
import { shadeOf, shades, stripLayout, taskCells } from './task-cells.ts'

const kinds = (...names: (typeof rowKinds)[number][]) => names.map((name) => rowKinds.indexOf(name))

const index: PageIndex = {
  run: 'runs/x',
  success: true,
  weights: {},
  tasks: ['alpha', 'beta', 'gamma'],
  endings: ['completed', 'provider: http_500'],
  rows: {
    task: [0, 0, 1, 1, 2],
    kind: kinds('success', 'failure', 'success', 'faulted', 'pending'),
    ending: [0, 0, 0, 1, -1],
    repeat: [0, 1, 0, 1, 0],
    reward: [1, 0.2, 0.9, null, null],
    wallMs: [10, 30, 20, 5, null],
    turns: [1, 3, 2, 1, null],
    usd: [null, 0.1, 0.3, 0.1, null],
    tries: [1, 1, 2, 3, 0],
  },
}

test('filters are added to one another, and words match name and ending in any order and case', () => {
  expect(filterRows(index, {})).toEqual([0, 1, 2, 3, 4])
  expect(filterRows(index, { kind: 0 })).toEqual([0, 2])
  expect(filterRows(index, { kind: 0, task: 1 })).toEqual([2])
  expect(filterRows(index, { ending: 1 })).toEqual([3])
  expect(filterRows(index, { text: 'HTTP_500 beta' })).toEqual([3])
  expect(filterRows(index, { text: 'alpha#1' })).toEqual([1])
  expect(filterRows(index, { text: 'nothing such' })).toEqual([])
  // What was found in messages replaces the words: they need not stand in the name.
  expect(filterRows(index, { text: 'refund', found: new Set([4, 0]), kind: 0 })).toEqual([0])
  expect(orderName(index, 3)).toBe('beta#1')
})

test('sorting keeps equal rows in plan order and puts unknown values last', () => {
  expect(sortRows(index, [4, 0, 1], 'plan')).toEqual([4, 0, 1])
  expect(sortRows(index, [0, 1, 2, 3, 4], 'lowest reward')).toEqual([1, 2, 0, 3, 4])
  expect(sortRows(index, [0, 1, 2, 3, 4], 'longest')).toEqual([1, 2, 0, 3, 4])
  expect(sortRows(index, [0, 1, 2, 3, 4], 'dearest')).toEqual([2, 1, 3, 0, 4])
})

test('a cell counts scored orders only, and tasks without a score come first', () => {
  expect(taskCells(index).map(({ task, value, scored, faulted }) => [task, value, scored, faulted])).toEqual([
    [2, null, 0, 0],
    [0, 0.5, 2, 0],
    [1, 1, 1, 1],
  ])
  const byReward = taskCells({
    ...index,
    success: false,
    rows: { ...index.rows, kind: kinds('scored', 'scored', 'scored', 'faulted', 'pending') },
  })
  expect(byReward.map(({ value }) => value)).toEqual([null, 0.6, 0.9])
})

test('the end colours are for never and always alone', () => {
  expect([0, 0.001, 0.5, 0.999, 1].map((value) => shadeOf(value, [0, 1]))).toEqual([
    0,
    1,
    5,
    shades - 2,
    shades - 1,
  ])
  expect(shadeOf(null, [0, 1])).toBe(-1)
})

test('cells get smaller with their number, down to what one can still point at', () => {
  expect(stripLayout(10, 1000).pitch).toBe(22)
  const many = stripLayout(10_000, 1200)
  expect(many.pitch).toBe(6)
  expect(many.columns * many.lines).toBeGreaterThanOrEqual(10_000)
  expect(stripLayout(5, 3)).toMatchObject({ columns: 1, lines: 5 })
})
