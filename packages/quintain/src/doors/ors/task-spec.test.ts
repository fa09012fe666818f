import { expect, test } from 'vitest'
import type { ListedTask } from '../session/session.ts'
import { taskSpec } from './task-spec.ts'

function listed(data: unknown, more: object = {}): ListedTask {
  return {
    id: 'a-1',
    split: 'train',
    index: 3,
    task: { id: 'a-1', split: 'train', prompt: 'Say it.', data, ...more },
  }
}

test('says which task it is and shows its public data', () => {
  expect(taskSpec(listed({ level: 2, words: ['a'] }))).toEqual({
    id: 'a-1',
    split: 'train',
    index: 3,
    level: 2,
    words: ['a'],
  })
})

test('data cannot make a task another one, nor take a column that a trainer fills', () => {
  const data = {
    id: 'b',
    split: 's',
    index: 9,
    prompt: 'p',
    task_index: 7,
    task_spec: {},
    tags: ['own'],
    data_id: 'd',
  }
  expect(taskSpec(listed(data, { tags: ['easy'] }))).toEqual({
    id: 'a-1',
    split: 'train',
    index: 3,
    tags: ['easy'],
    data_id: 'b',
    data_split: 's',
    data_index: 9,
    data_prompt: 'p',
    data_task_index: 7,
    data_task_spec: {},
    data_tags: ['own'],
    data_data_id: 'd',
  })
})

test('data that is no object has a field', () => {
  expect(taskSpec(listed(['x']))).toMatchObject({ data: ['x'] })
  expect(taskSpec(listed(4))).toMatchObject({ data: 4 })
  expect(taskSpec(listed(undefined))).toEqual({ id: 'a-1', split: 'train', index: 3 })
})

test('a secret that was left with a task by mistake is not shown', () => {
  expect(JSON.stringify(taskSpec(listed({ a: 1 }, { secret: { gold: 'GOLD' } })))).not.toContain('GOLD')
})
