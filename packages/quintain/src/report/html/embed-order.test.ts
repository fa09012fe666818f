import { expect, test } from 'vitest'
import type { Folded, OrderState } from '../../core/index.ts'
import { embedOrder } from './embed-order.ts'

function state(task: string, repeat: number, success: boolean | null | undefined): OrderState<Folded> {
  const order = { id: `${task}#${repeat}`, task, repeat } as OrderState<Folded>['order']
  if (success === undefined) return { order, status: 'pending', tries: 0 }
  const verdict = { reward: Number(success), success, rewards: {}, metrics: {} }
  return success === null
    ? { order, status: 'faulted', tries: 1, chosen: { verdict: null, fault: null, outcome: null } }
    : { order, status: 'scored', tries: 1, chosen: { verdict, fault: null, outcome: 'completed' } }
}

test('what did not succeed goes first, one of every task before the second of any, and pending orders not at all', () => {
  const states = [
    state('a', 0, true),
    state('a', 1, false),
    state('a', 2, false),
    state('b', 0, null),
    state('b', 1, true),
    state('c', 0, undefined),
  ]
  const order = embedOrder(states)
  expect([...order].sort()).toEqual([0, 1, 2, 3, 4])
  expect(new Set(order.slice(0, 2))).toEqual(new Set([1, 3]))
  expect(order[2]).toBe(2)
  expect(new Set(order.slice(3))).toEqual(new Set([0, 4]))
})

test('the first of many tasks are a sample of all, and the same each time', () => {
  const states = Array.from({ length: 1000 }, (_, i) => state(`task-${i}`, 0, false))
  const first = embedOrder(states).slice(0, 100)
  expect(embedOrder(states).slice(0, 100)).toEqual(first)
  for (const quarter of [0, 250, 500, 750])
    expect(first.filter((row) => row >= quarter && row < quarter + 250).length).toBeGreaterThan(10)
})
