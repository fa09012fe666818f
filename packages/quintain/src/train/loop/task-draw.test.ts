import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TaskSummary } from '../../engine/index.ts'
import { TaskDraw } from './task-draw.ts'
import { defaultPools } from './train-options.ts'

const tasksOf = (count: number): TaskSummary[] =>
  Array.from({ length: count }, (_, index) => ({
    id: `t${index}`,
    index,
    split: 'train',
    digest: `d${index}`,
    content: `c${index}`,
  }))

const none: ReadonlySet<string> = new Set()
const drawsOf = (draw: TaskDraw, count: number, busy = none) =>
  Array.from({ length: count }, () => draw.next(busy).id)

describe('a uniform draw', () => {
  test('comes to every task before any comes again', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.string(), (count, seed) => {
        const draw = new TaskDraw({ tasks: tasksOf(count), seed, curriculum: 'uniform' })
        for (let epoch = 0; epoch < 3; epoch++) expect(new Set(drawsOf(draw, count)).size).toBe(count)
      }),
    )
  })

  test('goes on from any place as if it had not been interrupted', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), (drawn) => {
        const options = { tasks: tasksOf(7), seed: 's', curriculum: 'uniform' } as const
        const whole = drawsOf(new TaskDraw(options), drawn + 10)
        expect(drawsOf(new TaskDraw({ ...options, drawn }), 10)).toEqual(whole.slice(drawn))
      }),
    )
  })
})

describe('a draw from pools', () => {
  const options = { tasks: tasksOf(3), seed: 's', curriculum: { pools: defaultPools } } as const

  test('takes what always fails and what always succeeds a fifth as often', () => {
    const draw = new TaskDraw(options)
    draw.saw('t0', 0)
    draw.saw('t1', 0.5)
    draw.saw('t2', 1)
    const counts = new Map<string, number>()
    for (const id of drawsOf(draw, 7_000)) counts.set(id, (counts.get(id) ?? 0) + 1)
    // 0.2 : 1 : 0.2 of 7,000; five standard deviations are about 150.
    expect(counts.get('t0')).toBeGreaterThan(850)
    expect(counts.get('t0')).toBeLessThan(1_150)
    expect(counts.get('t1')).toBeGreaterThan(4_800)
    expect(counts.get('t2')).toBeLessThan(1_150)
  })

  test('takes none that is busy, unless all are', () => {
    const draw = new TaskDraw(options)
    expect(new Set(drawsOf(draw, 50, new Set(['t0', 't2'])))).toEqual(new Set(['t1']))
    expect(drawsOf(draw, 5, new Set(['t0', 't1', 't2']))).toHaveLength(5)
  })

  test('a weight of 0 leaves a pool out, and all of 0 leave out none', () => {
    const pools = { ...defaultPools, hard: { most: 0.25, weight: 0 } }
    const draw = new TaskDraw({ ...options, curriculum: { pools } })
    draw.saw('t0', 0)
    expect(drawsOf(draw, 100)).not.toContain('t0')
    draw.saw('t1', 0)
    draw.saw('t2', 0)
    expect(drawsOf(draw, 3)).toHaveLength(3)
  })
})
