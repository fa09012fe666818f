import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { evaluate, plan } from 'quintain'
import { mathEqual } from 'quintain/scoring'
import { testEnvironment } from 'quintain/vitest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { workedOut } from './form.ts'
import env, { generatorNames, type Level, mutants, problemOf, rewritings } from './index.ts'

testEnvironment(env, { tasks: 16 })

const levels: Level[] = [1, 2, 3]
const problemsOf = (generator: (typeof generatorNames)[number], turns = 15) =>
  levels.flatMap((level) =>
    Array.from({ length: turns }, (_, turn) => problemOf({ generator, level, seed: 3, turn })),
  )

describe.each(generatorNames)('%s', (name) => {
  const problems = problemsOf(name)

  test('no answer near a gold one is taken for it, and other ways to write it are', () => {
    const accepted: string[] = []
    const refused: string[] = []
    let tried = 0
    for (const { answer } of problems) {
      for (const { kind, text } of mutants(answer)) {
        tried++
        if (mathEqual(answer, text).equal === true) accepted.push(`${answer} = ${text} (${kind})`)
      }
      for (const { kind, text } of [{ kind: 'the same', text: answer }, ...rewritings(answer)])
        if (mathEqual(answer, text).equal !== true) refused.push(`${answer} != ${text} (${kind})`)
    }
    expect(tried).toBeGreaterThan(100)
    expect(accepted).toEqual([])
    expect(refused).toEqual([])
  })

  test('to say the question again is no answer', () => {
    for (const { answer, echo } of problems)
      if (echo !== undefined) expect(workedOut(answer, echo), `${echo} for ${answer}`).toBe(false)
    for (const { answer } of problems) expect(workedOut(answer, answer)).toBe(true)
  })
})

describe('runs', () => {
  test('the oracle solves all, and agents that know nothing none but what is 0 or 1', async () => {
    const rate = async (policy: string) =>
      (await evaluate(env, { policy: `script:${policy}`, tasks: 320 })).success.value
    expect(await rate('oracle')).toBe(1)
    expect(await rate('echo')).toBe(0)
    expect(await rate('noop')).toBe(0)
    expect(await rate('zero')).toBeLessThan(0.05)
    expect(await rate('one')).toBeLessThan(0.05)
  })

  test('a name is one problem for good', async () => {
    expect(problemOf({ generator: 'surds', level: 2, seed: 0, turn: 7 })).toEqual(
      problemOf({ generator: 'surds', level: 2, seed: 0, turn: 7 }),
    )
    const all = await plan(env, { policy: 'script:noop' })
    expect(all.tasks).toBe(1_600)
  })
})

describe('files', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quintain-maths-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const run = async (name: string, text: string) => {
    const file = join(folder, name)
    await writeFile(file, text)
    return evaluate(env, { policy: 'script:oracle', options: { file } })
  }

  test.each([
    [
      'a.jsonl',
      '{"problem":"1/2?","solution":"so $\\\\boxed{\\\\frac{1}{2}}$."}\n{"id":"x","problem":"p","answer":204}\n',
    ],
    ['a.json', '[{"problem":"p","answer":"(1,2)"},{"id":7,"question":"q","answer":"3\\\\sqrt{2}"}]'],
    ['a.csv', 'id,problem,answer\n1,"a, b?",025\n2,c,"\\frac12"\n'],
  ])('%s', async (name, text) => {
    const { success, summary } = await run(name, text)
    expect([success.value, summary.orders]).toEqual([1, 2])
  })

  test.each([
    ['b.jsonl', '{"problem":"p"}\n', 'row 1: there is no answer'],
    ['c.jsonl', '{"problem":"p","answer":"1"}\n{"pro', 'row 2'],
    ['d.json', '{"problem":"p"}', 'list'],
    ['e.csv', 'problem,answer\np\n', 'row 1'],
    ['f.txt', '', 'not from'],
    ['g.jsonl', '{"problem":"p","solution":"it is \\\\boxed{3"}\n', 'there is no answer'],
    ['h.jsonl', '{"problem":3,"answer":"1"}\n', 'problem'],
  ])('%s is refused as tasks_invalid', async (name, text, message) => {
    await expect(run(name, text)).rejects.toMatchObject({
      code: 'tasks_invalid',
      message: expect.stringContaining(message),
    })
  })
})
