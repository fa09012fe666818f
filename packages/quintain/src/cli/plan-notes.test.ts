import { describe, expect, test } from 'vitest'
import { extendedPlanNotes, groupNotes, newPlanNotes } from './plan-notes.ts'

const size = (tasks: number, repeats: number) => ({
  orders: tasks * repeats,
  tasks,
  repeats,
  split: undefined,
})

test('group rewards without a group', () => {
  const rewards = { own: { kind: 'reward', weight: 1 }, rank: { kind: 'group', weight: 0.5 } } as const
  expect(groupNotes(rewards, 1)).toEqual([
    'Note: group reward "rank" needs -r 2 or more; without it no order is scored.',
  ])
  expect(groupNotes(rewards, 2)).toEqual([])
  expect(groupNotes({ rank: { kind: 'group', weight: 0 } }, 1)).toEqual([
    'Note: group reward "rank" needs -r 2 or more.',
  ])
})

test('a new plan with fewer tasks than were asked for', () => {
  expect(newPlanNotes({ tasks: 51 }, { orders: 100, repeats: 2 })).toEqual([
    'Note: -n 51: there are only 50 tasks.',
  ])
  expect(newPlanNotes({ tasks: 9, split: 'dev' }, { orders: 1, repeats: 1 })).toEqual([
    'Note: -n 9: there is only 1 task in split "dev".',
  ])
  expect(newPlanNotes({ tasks: 50 }, { orders: 50, repeats: 1 })).toEqual([])
  expect(newPlanNotes({}, { orders: 50, repeats: 1 })).toEqual([])
  expect(newPlanNotes({ tasks: 0 }, { orders: 0, repeats: 1 })).toEqual(['Note: -n 0 orders nothing.'])
})

describe('a plan that is extended', () => {
  test.each([
    [{ repeats: 2 }, size(50, 6), size(50, 6), ['-r 2: the run already has 6 of each task']],
    [{ repeats: 6 }, size(50, 6), size(50, 6), ['-r 6: the run already has 6 of each task']],
    [{ repeats: 6 }, size(50, 4), size(50, 6), []],
    [{ tasks: 60 }, size(50, 2), size(50, 2), ['-n 60: there are only 50 tasks']],
    [{ tasks: 60 }, size(20, 2), size(50, 2), ['-n 60: there are only 50 tasks']],
    [{ tasks: 10 }, size(20, 2), size(20, 2), ['-n 10: the run already has 20 tasks']],
    [{ tasks: 20, repeats: 4 }, size(20, 2), size(20, 4), []],
    [{ tasks: 30 }, size(20, 2), size(30, 2), []],
    [{}, size(20, 2), size(20, 2), []],
  ])('%j of %j', (asked, before, after, notes) => {
    const found = extendedPlanNotes(asked, before, after)
    expect(found).toHaveLength(notes.length)
    for (const [i, note] of notes.entries()) expect(found[i]).toContain(note)
  })
})
