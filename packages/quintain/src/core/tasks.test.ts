import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { refuseDuplicateIds, refuseProblems, selectTasks, taskProblems } from './tasks.ts'

const thrownBy = (run: () => unknown): unknown => {
  try {
    run()
  } catch (thrown) {
    return thrown
  }
  return undefined
}

describe('taskProblems', () => {
  test('a task of every field is right', () => {
    const task = {
      id: 'a',
      split: 'train',
      prompt: [{ role: 'user', content: 'hello' }],
      data: { any: 1 },
      secret: 'gold',
      limits: { turns: 3, wall: '2m', tool: 500 },
      tags: ['easy'],
      source: 'x',
      licence: 'MIT',
      canary: 'c',
    }
    expect(taskProblems(task, 0)).toEqual([])
  })

  test('an unknown field is refused, with the nearest that is known', () => {
    expect(taskProblems({ id: 'a', promt: 'hello', limits: { turn: 1 } }, 4)).toEqual([
      { row: 4, path: 'promt', message: 'unknown field "promt", did you mean "prompt"?' },
      { row: 4, path: 'limits.turn', message: 'unknown field "turn", did you mean "turns"?' },
    ])
    const [own] = taskProblems({ id: 'a', word: 'crane' }, 0)
    expect(own?.message).toBe(
      'unknown field "word"; put what is your own into `data`, or into `secret` if the agent may not see it.',
    )
  })

  test('wrong types are named by their path', () => {
    const found = taskProblems({ id: 7, prompt: 3, tags: ['a', 1], limits: { wall: '2 minutes' } }, 1)
    expect(found.map(({ path }) => path).sort()).toEqual(['id', 'limits.wall', 'prompt', 'tags.1'])
    expect(taskProblems({}, 0).map(({ path }) => path)).toEqual(['id'])
    for (const value of [null, 'task', 3, [], undefined]) expect(taskProblems(value, 0)).not.toEqual([])
  })
})

describe('refuseProblems', () => {
  test('says every problem, and how many more there are', () => {
    const problems = Array.from({ length: 25 }, (_, row) => ({
      row,
      path: 'answer',
      message: 'expected text',
    }))
    const thrown = thrownBy(() => refuseProblems(problems, 'tasks.jsonl'))
    expect(thrown).toMatchObject({ code: 'tasks_invalid', facts: { problems } })
    expect(String(thrown)).toContain('task 3, answer: expected text')
    expect(String(thrown)).toContain('and 5 more')
    expect(thrownBy(() => refuseProblems([], 'tasks.jsonl'))).toBeUndefined()
  })
})

describe('refuseDuplicateIds', () => {
  test('names the id and the positions', () => {
    const thrown = thrownBy(() =>
      refuseDuplicateIds([{ id: 'q7' }, { id: 'q8' }, { id: 'q7' }], 'tasks.jsonl'),
    )
    expect(thrown).toMatchObject({ code: 'duplicate_task_id', facts: { id: 'q7', positions: [0, 2] } })
    expect(String(thrown)).toContain('0, 2')
  })

  test('finds a clash exactly when there is one', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd', '__proto__')), (ids) => {
        const thrown = thrownBy(() =>
          refuseDuplicateIds(
            ids.map((id) => ({ id })),
            'here',
          ),
        )
        expect(thrown !== undefined).toBe(new Set(ids).size < ids.length)
      }),
    )
  })
})

describe('selectTasks', () => {
  const tasks = [{ id: 'a' }, { id: 'b', split: 'train' }, { id: '7' }]
  const idsOf = (selection: Parameters<typeof selectTasks>[1]) => {
    const { tasks: selected, warnings } = selectTasks(tasks, selection)
    return [selected.map(({ id }) => id), warnings]
  }

  test('an id that no task has is a warning', () => {
    expect(idsOf({ ids: ['b', 'zz'] })).toEqual([['b'], ['zz not found']])
  })

  test('ids are compared as text, and tasks keep their order', () => {
    expect(idsOf({ ids: [7, 'a', 'a'] })).toEqual([['a', '7'], []])
  })

  test('a split is the test split unless it says so', () => {
    expect(idsOf({ split: 'test' })).toEqual([['a', '7'], []])
    expect(idsOf({ split: 'train', ids: ['a'] })).toEqual([[], ['a not found']])
  })

  test('a limit of zero is zero, and no limit is all', () => {
    expect(idsOf({ limit: 0 })).toEqual([[], []])
    expect(idsOf({ limit: 2 })).toEqual([['a', 'b'], []])
    expect(idsOf({ limit: 99 })).toEqual([['a', 'b', '7'], []])
    expect(idsOf({})).toEqual([['a', 'b', '7'], []])
  })

  test('a limit that is no count is refused', () => {
    for (const limit of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => selectTasks(tasks, { limit })).toThrow(expect.objectContaining({ code: 'usage' }))
    }
  })
})
