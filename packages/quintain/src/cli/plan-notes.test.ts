import { describe, expect, test } from 'vitest'
import { change } from './parse.ts'
import {
  detectText,
  extendedPlanNotes,
  groupNotes,
  newPlanNotes,
  precisionNotes,
  precisionText,
} from './plan-notes.ts'

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

describe('what a plan can show', () => {
  test('is told in points, for one run and between two', () => {
    expect(precisionText({ tasks: 30, repeats: 4 })).toBe(
      '30 tasks x 4 can show a change of about 23 points between two such runs (in 4 of 5 cases, at 5 %); the success rate of one is known to about ± 13 points (95 %, new tasks)',
    )
    expect(precisionText({ tasks: 1, repeats: 4 })).toContain('one task does not show how tasks differ')
    expect(precisionText({ tasks: 2, repeats: 1 })).toContain('can hardly show any change')
    expect(precisionText({ tasks: 0, repeats: 1 })).toBe('nothing is ordered')
  })

  test('more tasks show more than more repeats of the same ones', () => {
    const points = (tasks: number, repeats: number) =>
      Number(/about ([\d.]+) points between/.exec(precisionText({ tasks, repeats }))?.[1])
    expect(points(120, 1)).toBeLessThan(points(30, 4))
    expect(points(30, 4)).toBeLessThan(points(30, 1))
  })

  test('how many tasks a change takes, and that a plan of so many shows it', () => {
    const text = detectText(change('5%'), 4)
    expect(text).toMatch(
      /^To see a change of 5 points takes about \d+ tasks 4 times each, or about 1,400 tasks once each\.$/,
    )
    const tasks = Number(/about (\d+) tasks/.exec(text)?.[1])
    expect(precisionText({ tasks, repeats: 4 })).toMatch(/about (4\.9|5|5\.1) points between/)
  })

  test.each([
    ['0.5', 'a change of 50 points (0.5 is a share; 0.5 points would be 0.5%) takes'],
    ['0.01', 'a change of 1 point (0.01 is a share; 0.01 points would be 0.01%) takes'],
    ['0.5%', 'a change of 0.5 points takes'],
    ['1', 'a change of 1 point takes'],
    ['5', 'a change of 5 points takes'],
    ['50%', 'a change of 50 points takes'],
  ])('--detect %s says how it was read', (text, said) => {
    expect(detectText(change(text), 1)).toContain(said)
  })

  test('only where there is a success rate', () => {
    expect(precisionNotes({ tasks: 30, repeats: 1 }, { success: false })).toEqual([])
    expect(precisionNotes({ tasks: 0, repeats: 1 }, { success: true })).toEqual([])
    expect(precisionNotes({ tasks: 30, repeats: 1 }, { success: true, detect: change('10') })).toHaveLength(2)
  })
})
