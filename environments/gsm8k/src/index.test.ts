import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluate, foldRun, plan, readPrivate } from 'quintain'
import { testEnvironment } from 'quintain/vitest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import env, { recordedModels } from './index.ts'

testEnvironment(env, { tasks: 8 })

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quintain-gsm8k-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Two problems of our own in the shape of the public file, and what four models would have said. */
const problems = [
  { question: 'What is 4 times 3?', answer: '4 times 3 is <<4*3=12>>12\n#### 12' },
  { question: 'What is 1,000 plus 250?', answer: 'The sum is 1,250\n#### 1,250' },
]
const solutions = [
  ['A: 12', '4*3=12\nA: 12', 'A: 12.0', 'no idea'],
  ['A: 1250', 'A: 1,250', 'A: 1,250 apples', 'A: 250'],
]
const lines = (rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
async function files() {
  const [data, recordings] = [join(folder, 'test.jsonl'), join(folder, 'solutions.jsonl')]
  await writeFile(data, lines(problems))
  const models = Object.values(recordedModels)
  const rows = problems.map(({ question }, index) => ({
    question,
    ground_truth: 'canary-of-the-recordings',
    ...Object.fromEntries(models.map((model, place) => [model, { solution: solutions[index]![place] }])),
  }))
  await writeFile(recordings, lines(rows))
  return { data, recordings }
}

describe('data', () => {
  test('a file gives one task a line, with the public part alone in listings', async () => {
    const { data } = await files()
    const run = await evaluate(env, { policy: 'script:oracle', options: { data } })
    expect([run.success.value, run.summary.orders]).toEqual([1, 2])
    const folded = await plan(env, { policy: 'script:noop', options: { data } })
    expect(folded.tasks).toBe(2)
    expect(JSON.stringify(folded)).not.toContain('1,250')
  })

  test('a folder gives both splits', async () => {
    const both = await mkdtemp(join(folder, 'both-'))
    await writeFile(join(both, 'test.jsonl'), lines(problems))
    await writeFile(join(both, 'train.jsonl'), lines(problems.slice(0, 1)))
    const options = { data: both }
    expect((await plan(env, { policy: 'script:noop', options })).tasks).toBe(3)
    expect((await plan(env, { policy: 'script:noop', options, split: 'train' })).tasks).toBe(1)
  })

  test('a URL is fetched when it is asked for', async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === '/test.jsonl' ? 200 : 404
      response.end(lines(problems))
    }).listen(0)
    const { port } = server.address() as AddressInfo
    const at = (path: string) => ({
      policy: 'script:oracle',
      options: { data: `http://localhost:${port}/${path}` },
    })
    expect((await evaluate(env, at('test.jsonl'))).success.value).toBe(1)
    await expect(evaluate(env, at('none.jsonl'))).rejects.toThrow('answered 404')
    server.close()
    await expect(evaluate(env, at('test.jsonl'))).rejects.toMatchObject({ code: 'tasks_invalid' })
  })

  test.each([
    ['nothing there', undefined, 'There is no GSM8K data at'],
    ['no JSON', 'x\n', 'line 1: not a whole line'],
    ['a torn line', '{"question":"a","answer":"#### 1"}\n{"ques', 'line 2: not a whole line'],
    ['no marker', lines([{ question: 'a', answer: '1' }]), 'line 1: expected'],
    ['no number', lines([{ question: 'a', answer: '#### one' }]), 'line 1: expected'],
    ['no problem', '', 'holds no problem'],
  ])('%s is told as tasks_invalid', async (name, text, message) => {
    const data = join(folder, `${name.replaceAll(' ', '-')}.jsonl`)
    if (text !== undefined) await writeFile(data, text)
    const run = evaluate(env, { policy: 'script:oracle', options: { data } })
    await expect(run).rejects.toMatchObject({
      code: 'tasks_invalid',
      message: expect.stringContaining(message),
    })
  })

  test('other data makes other tasks, though ids and questions are the same', async () => {
    const digest = async (answer: string) => {
      const data = join(folder, 'changed.jsonl')
      await writeFile(data, lines([{ question: 'a', answer: `#### ${answer}` }]))
      const dir = join(folder, `changed-${answer}`)
      await evaluate(env, { policy: 'script:oracle', options: { data }, dir })
      return (await foldRun(dir)).states[0]!.order.taskDigest
    }
    expect(await digest('1')).not.toBe(await digest('2'))
  })

  test('without data the report says that it is the sample', async () => {
    const notes = async (options: Record<string, unknown>) =>
      (await evaluate(env, { policy: 'script:oracle', tasks: 1, options })).summary.run.environment.notes
    expect(await notes({})).toEqual([expect.stringContaining('no measure of a model')])
    expect(await notes(await files())).toBeUndefined()
  })
})

describe('recorded policies', () => {
  const play = async (policy: string, options: Record<string, unknown> = {}) => {
    const run = await evaluate(env, {
      policy: `script:${policy}`,
      options: { ...(await files()), ...options },
    })
    const { metrics } = run.summary
    return [run.success.value, ...['official', 'verifiers', 'robust'].map((name) => metrics[name]?.mean)]
  }

  test('each profile judges what each model said', async () => {
    expect(await play('6B-finetuned')).toEqual([1, 1, 1, 1])
    expect(await play('6B-verified')).toEqual([1, 1, 1, 1])
    // 12.0 is no 12 to the published scorer, and words are no number in the box of verifiers.
    expect(await play('175B-finetuned')).toEqual([1, 0.5, 0.5, 1])
    expect(await play('175B-verified')).toEqual([0, 0, 0, 0])
  })

  test('the profile that is chosen pays', async () => {
    expect(await play('175B-finetuned', { profile: 'official' })).toEqual([0.5, 0.5, 0.5, 1])
    expect(await play('175B-finetuned', { profile: 'verifiers' })).toEqual([0.5, 0.5, 0.5, 1])
  })

  test('as released, with another marker, the published scorer finds nothing', async () => {
    expect(await play('6B-finetuned', { asReleased: true })).toEqual([1, 0, 1, 1])
  })

  test('they run in a worker process, which may read the two files and no other', async () => {
    const dir = join(folder, 'worker')
    const run = await evaluate(join(import.meta.dirname, '..'), {
      policy: 'script:6B-finetuned',
      options: await files(),
      dir,
      workers: 1,
    })
    expect([run.success.value, run.manifest.isolation]).toEqual([1, 'worker'])
    for (const { chosen } of (await foldRun(dir)).states)
      expect(JSON.stringify(await readPrivate(dir, chosen!))).not.toContain('canary-of-the-recordings')
  })

  test('without the file they are refused before anything is ordered, with what to do', async () => {
    await expect(evaluate(env, { policy: 'script:6B-verified', tasks: 1 })).rejects.toMatchObject({
      code: 'options_invalid',
      message: expect.stringMatching(
        /6B-verified cannot play with these options: .*--option recordings=FILE/,
      ),
    })
    expect((await evaluate(env, { policy: 'script:oracle', tasks: 1 })).success.value).toBe(1)
  })
})
