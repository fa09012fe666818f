import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { checkRows, readRows, readTasks, splitList } from './task-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'quintain-tasks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
function fileOf(kind: string, content: string | Uint8Array): string {
  const path = join(folder, `tasks-${++files}.${kind}`)
  writeFileSync(path, content)
  return path
}
const refusal = async (path: string, options?: Parameters<typeof readTasks>[1]) => {
  const thrown = await readTasks(path, options).then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(thrown).toHaveProperty('code')
  return thrown as { code: string; message: string; facts: { problems?: { row: number; path: string }[] } }
}

describe('readTasks', () => {
  test('one taskset, three kinds of file', async () => {
    const tasks = [
      {
        id: '1',
        prompt: 'what is 3+3',
        secret: { answer: '6' },
        tags: ['sum', 'easy'],
        limits: { turns: 2 },
      },
      { id: '2', prompt: 'say "a, b"', secret: { answer: '' }, tags: [] },
    ]
    const csv =
      '\ufeffid,prompt,secret.answer,tags,limits.turns\r\n1,what is 3+3,6,"sum,,easy,",2\r\n2,"say ""a, b""",,,\r\n'
    for (const path of [
      fileOf('jsonl', `\ufeff${tasks.map((task) => JSON.stringify(task)).join('\r\n')}\r\n`),
      fileOf('json', `\ufeff${JSON.stringify(tasks)}`),
      fileOf('csv', csv),
    ]) {
      expect(await readTasks(path)).toEqual(tasks)
      expect(await readTasks(pathToFileURL(path))).toHaveLength(2)
    }
  })

  test('ids may be numbers in the file, to every digit, and are compared as text', async () => {
    const path = fileOf('jsonl', '{"id":7}\n{"id":90071992547409931234}\n{"id":"007"}\n')
    expect((await readTasks(path)).map(({ id }) => id)).toEqual(['7', '90071992547409931234', '007'])
    expect(await refusal(fileOf('jsonl', '{"id":7}\n{"id":"7"}\n'))).toMatchObject({
      code: 'duplicate_task_id',
      facts: { positions: [0, 1] },
    })
  })

  test('an integer that would be read as another number is refused', async () => {
    const thrown = await refusal(fileOf('json', '[{"id":"a","secret":{"sums":[1,9007199254740993]}}]'))
    expect(thrown).toMatchObject({
      code: 'tasks_invalid',
      facts: { problems: [{ row: 0, path: 'secret.sums.1' }] },
    })
    expect(thrown.message).toContain('9007199254740993')
  })

  test('schemas check data and secret by row and path, and their output counts', async () => {
    const secret = z.object({ answer: z.string(), points: z.number().default(1) })
    const good = await readTasks(fileOf('jsonl', '{"id":"a","secret":{"answer":"7"}}\n'), { secret })
    expect(good[0]?.secret?.points).toBe(1)
    const path = fileOf(
      'jsonl',
      '{"id":"a","secret":{"answer":"7"}}\n{"id":"b","secret":{"answer":7}}\n{"id":"c"}\n',
    )
    const thrown = await refusal(path, { secret })
    expect(thrown.facts.problems?.map(({ row, path }) => [row, path])).toEqual([
      [1, 'secret.answer'],
      [2, 'secret'],
    ])
  })

  test('a misspelt field is refused with the nearest one, so that nothing is lost in silence', async () => {
    const thrown = await refusal(fileOf('csv', 'id,promt\na,hello\n'))
    expect(thrown.message).toContain('did you mean "prompt"?')
    expect((await refusal(fileOf('json', '[{"id":"a","assert":["x"]}]'))).message).toContain('"assert"')
  })

  test('rows of another shape become tasks by a function', async () => {
    const path = fileOf('csv', 'question,answer\n3+3,6\n')
    const tasks = await readTasks(path, {
      task: (row, index) => ({ id: `q${index}`, prompt: String(row['question']), secret: row['answer'] }),
    })
    expect(tasks).toEqual([{ id: 'q0', prompt: '3+3', secret: '6' }])
  })

  test('a bad line, a torn one, NULs inside and what is no object are refused with their place', async () => {
    const path = fileOf('jsonl', '{"id":"a"}\nnonsense\n[1]\n{"id":"x\0"}\n{"id":"b"}\n{"id":"c","pro')
    const thrown = await refusal(path)
    expect(thrown.facts.problems?.map(({ row }) => row)).toEqual([1, 2, 3, 5])
    for (const text of ['line 2', 'found a list', 'NUL', 'cut off']) expect(thrown.message).toContain(text)
  })

  test('NUL padding loses nothing, so it is a warning', async () => {
    const warnings: string[] = []
    const path = fileOf('jsonl', '{"id":"a"}\n\0\0\0')
    expect(await readTasks(path, { onWarning: (text) => warnings.push(text) })).toHaveLength(1)
    expect(warnings).toEqual([expect.stringContaining('line 2: NUL')])
  })

  test('a row of a CSV file that is too short is refused with its line', async () => {
    const thrown = await refusal(fileOf('csv', 'id,prompt\na,x\nb\nc,y\n'))
    expect(thrown.facts.problems).toMatchObject([{ row: 1, message: expect.stringContaining('line 3') }])
  })

  test('a line of 10 MB is a task', async () => {
    const path = fileOf('jsonl', `${JSON.stringify({ id: 'a', prompt: 'x'.repeat(10_485_760) })}\n`)
    expect((await readTasks(path))[0]?.prompt).toHaveLength(10_485_760)
  })

  test('a file that is missing, of another kind, of another encoding or no list says so', async () => {
    expect((await refusal(join(folder, 'none.jsonl'))).message).toContain('no such file')
    expect((await refusal(fileOf('yaml', 'a: 1'))).message).toContain('.jsonl, .json or .csv')
    expect((await refusal(fileOf('csv', Buffer.from('id\ncaf\xe9\n', 'latin1')))).message).toContain('UTF-8')
    expect((await refusal(fileOf('json', '{"id":"a"}'))).message).toContain('list')
    expect((await refusal(fileOf('json', '[{"id"'))).message).toContain('not JSON')
    // A broken file says where it is broken, and nothing of what is in it.
    for (const broken of ['[{"secret": quokka}]', '[{"secret": "quokka" "id"}]', 'quokka'])
      expect((await refusal(fileOf('json', broken))).message).not.toContain('quokka')
    expect((await refusal(folder)).code).toBe('tasks_invalid')
  })

  test('an empty file has no tasks', async () => {
    for (const [kind, text] of [
      ['jsonl', ''],
      ['json', '[]'],
      ['csv', 'id\n'],
    ] as const) {
      expect(await readTasks(fileOf(kind, text))).toEqual([])
    }
  })
})

describe('readRows and checkRows', () => {
  test('rows keep every field as it stands there', async () => {
    const { rows } = await readRows(fileOf('csv', 'id,tags,limits.turns,x\n01,"a,b",,\n'))
    expect(rows).toEqual([{ id: '01', tags: 'a,b', 'limits.turns': '', x: '' }])
  })

  test('all wrong types at once', async () => {
    const rows = [{ answer: '7' }, { answer: 7 }, { answer: null }, {}]
    const problems = await checkRows(rows, z.object({ answer: z.string() }))
    expect(problems.map(({ row, path }) => [row, path])).toEqual([
      [1, 'answer'],
      [2, 'answer'],
      [3, 'answer'],
    ])
  })
})

test('splitList makes no empty entries', () => {
  expect(splitList('red,green,,blue,')).toEqual(['red', 'green', 'blue'])
  expect(splitList(' , ')).toEqual([])
})
