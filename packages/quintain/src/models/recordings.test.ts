import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readRecordings } from './recordings.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recordings-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

async function file(text: string): Promise<string> {
  const path = join(folder, `${Math.random()}.jsonl`)
  await writeFile(path, text)
  return path
}
const texts = (replies: readonly { content: unknown }[] | undefined) => replies?.map(({ content }) => content)

describe('readRecordings', () => {
  test('reads texts, messages and whole conversations, by task and repeat', async () => {
    const lines = [
      { task: 'a', completion: 'one' },
      {
        task: 'b',
        repeat: 1,
        messages: ['x', { role: 'user', content: 'ignored' }, { role: 'assistant', content: 'y' }],
      },
      { task: 'c', completion: 'first' },
      { task: 'c', completion: 'second' },
    ]
    const recordings = await readRecordings(
      await file(`\ufeff${lines.map((line) => JSON.stringify(line)).join('\r\n')}\r\n`),
    )
    expect(recordings.size).toBe(4)
    expect(texts(recordings.replies('a', 0))).toEqual(['one'])
    expect(texts(recordings.replies('a', 5))).toEqual(['one'])
    expect(texts(recordings.replies('b', 1))).toEqual(['x', 'y'])
    expect(recordings.replies('b', 0)).toBeUndefined()
    expect([0, 1, 2].map((repeat) => texts(recordings.replies('c', repeat)))).toEqual([
      ['first'],
      ['second'],
      undefined,
    ])
    expect(recordings.replies('z', 0)).toBeUndefined()
  })

  test('reads how a rollout was cut, where a line says so', async () => {
    const lines = ['turn_limit', 'env_done', 'completed', 'cancelled', 'nonsense', undefined].map(
      (outcome, repeat) => ({ task: 'a', repeat, completion: 'x', outcome }),
    )
    const recordings = await readRecordings(await file(lines.map((line) => JSON.stringify(line)).join('\n')))
    expect(lines.map(({ repeat }) => recordings.cut('a', repeat))).toEqual([
      'turn_limit',
      ...Array.from({ length: 5 }),
    ])
    expect(recordings.cut('b', 0)).toBeUndefined()
  })

  test('reads trajectories: what the agent sampled, and nothing else', async () => {
    const node = (seat: string, sampled: boolean, message: object) => ({ parent: -1, seat, sampled, message })
    const trajectory = {
      schema: 'quintain.trajectory',
      v: 1,
      attempt: 'x',
      order: 'task#1#2',
      task: 'task#1',
      seats: {},
      nodes: [
        node('agent', false, { role: 'assistant', content: 'few-shot' }),
        node('agent', false, { role: 'user', content: 'go' }),
        node('agent', true, {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: '1', name: 'a', arguments: '{"bad' }],
        }),
        node('user', true, { role: 'assistant', content: 'simulated' }),
        node('agent', true, { role: 'assistant', content: 'bye' }),
      ],
      calls: [],
    }
    const recordings = await readRecordings(await file(`${JSON.stringify(trajectory)}\n`))
    expect(texts(recordings.replies('task#1', 2))).toEqual(['', 'bye'])
    expect(recordings.replies('task#1', 2)![0]!.toolCalls![0]!.arguments).toBe('{"bad')
  })

  test('a torn last line is told and skipped', async () => {
    const recordings = await readRecordings(await file('{"task":"a","completion":"x"}\n{"task":"b","comp'))
    expect(recordings.size).toBe(1)
    expect(recordings.issues.map(({ kind }) => kind)).toEqual(['torn'])
  })

  test.each([
    ['{"task":"a"}\n', /line 1 has neither/],
    ['{"completion":"a"}\n', /line 1 names no task/],
    ['{"task":"a","completion":"x"}\nnot json\n', /line 2/],
    [
      '{"task":"a","repeat":0,"completion":"x"}\n{"task":"a","repeat":0,"completion":"y"}\n',
      /line 2 records repeat 0 of task "a" a second time/,
    ],
    ['{"task":"a","repeat":"one","completion":"x"}\n', /"repeat" is "one"/],
    ['{"task":"a","messages":[{"role":"assistant"}]}\n', /neither a text nor an assistant message/],
  ])('%s is refused with its line', async (text, message) => {
    await expect(readRecordings(await file(text))).rejects.toMatchObject({
      code: 'policy_invalid',
      message: expect.stringMatching(message),
    })
  })

  test('a file that is not there is said so', async () => {
    await expect(readRecordings(join(folder, 'none'))).rejects.toMatchObject({ code: 'policy_invalid' })
  })
})
