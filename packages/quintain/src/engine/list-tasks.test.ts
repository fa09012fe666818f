import { expect, test } from 'vitest'
import type { ErasedDefinition, QuintainError } from '../core/index.ts'
import { listTasks } from './list-tasks.ts'
import { openTaskset } from './taskset.ts'

const task = (at: number) => ({ id: `t${at}`, prompt: 'go', split: at % 3 === 0 ? 'test' : 'train' })
function* counting(end = Number.POSITIVE_INFINITY) {
  for (let at = 0; at < end; at++) yield task(at)
}
const sources = {
  generator: () => counting(),
  generated: () => ({ size: Number.POSITIVE_INFINITY, at: task }),
}

async function listed(
  source: () => object,
  query: Parameters<typeof listTasks>[1],
  most = 100,
): Promise<string[] | string> {
  const definition = { tasks: source, rewards: {} } as unknown as ErasedDefinition
  const found: string[] = []
  try {
    for await (const { id } of listTasks(await openTaskset(definition, {}, '0'), query, most)) found.push(id)
  } catch (thrown) {
    const { code, message } = thrown as QuintainError
    return `${code}: ${message}`
  }
  return found
}

test.each(Object.entries(sources))(
  'tasks without an end are read only as far as somebody says: %s',
  async (_, source) => {
    expect(await listed(source, {})).toMatch(/^tasks_invalid: .*no end.*--tasks/)
    expect(await listed(source, { split: 'test' })).toMatch(/^tasks_invalid: .*no end/)
    expect(await listed(source, { limit: 2 })).toEqual(['t0', 't1'])
    expect(await listed(source, { limit: 60, split: 'test' })).toHaveLength(60)
    expect(await listed(source, { ids: ['t250', 't7'] }, 300)).toEqual(['t7', 't250'])
  },
)

test.each(Object.entries(sources))(
  'what never comes is refused, with the splits that there are: %s',
  async (_, source) => {
    expect(await listed(source, { limit: 5, split: 'dev' })).toMatch(
      /^no_tasks: 100 tasks in a row .*split "dev".*test, train\.$/,
    )
    expect(await listed(source, { ids: ['t1', 'nowhere'] })).toMatch(/^unknown_task: .*"nowhere"/)
  },
)

test('a taskset that ends, and says so, is searched to its end however long it is', async () => {
  const finite = () => ({ size: 1_000, at: task })
  expect(await listed(finite, { ids: ['t999'] })).toEqual(['t999'])
  expect(await listed(finite, { limit: 5, split: 'dev' })).toEqual([])
  expect(await listed(finite, {}, 1_000)).toHaveLength(1_000)
  expect(await listed(finite, {})).toMatch(/^tasks_invalid: There are more than 100 tasks; say/)
})
