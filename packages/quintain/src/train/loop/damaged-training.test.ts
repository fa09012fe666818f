import { writeFileSync } from 'node:fs'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { StepLine } from '../records.ts'
import { readTraining } from '../training-folder.ts'
import { echo, echoLearner, echoRenderer, echoTraining, newFolder } from './__fixtures__/echo.ts'
import { resumeTraining } from './resume.ts'
import { train } from './train.ts'
import type { ResumeTrainingOptions, TrainingEnd, TrainOptions } from './train-options.ts'

/** A training of six steps with a checkpoint every second one, all kept, and validation that chooses one of them. */
let whole: string
let best: string
beforeAll(async () => {
  const options = await echoTraining(plan)
  const end = await train(options)
  whole = options.dir
  best = end.best ?? ''
})
const plan = {
  steps: 6,
  checkpointEvery: 2,
  keep: 'all',
  evaluate: { every: 2, train: false, greedy: false },
} satisfies Partial<TrainOptions>

/** A copy of it to be damaged. */
async function copy(): Promise<string> {
  const dir = await newFolder()
  await cp(whole, dir, { recursive: true })
  return dir
}

async function resumed(
  dir: string,
  options: Partial<ResumeTrainingOptions> = {},
): Promise<{ end: TrainingEnd; notes: string[] }> {
  const notes: string[] = []
  const sitting = { env: echo(), dir, learner: echoLearner(), renderer: echoRenderer() }
  const end = await resumeTraining({ ...sitting, onNote: (text) => notes.push(text), ...options })
  return { end, notes }
}

const tableOf = (dir: string, step: number) =>
  join(dir, 'checkpoints', `step-${String(step).padStart(6, '0')}`, 'table.json')
const steps = async (dir: string) => (await readdir(join(dir, 'checkpoints'))).sort()

/** Rewrites the log, line by line. */
async function edit(dir: string, change: (lines: string[]) => string[]): Promise<void> {
  const path = join(dir, 'steps.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  await writeFile(path, `${change(lines).join('\n')}\n`)
}

const isOf = (line: string, kind: StepLine['kind'], step: number) => {
  const found = JSON.parse(line)
  return found.kind === kind && found.step === step
}

describe('a checkpoint that cannot be read', () => {
  test('is made again from an earlier one, and said', async () => {
    const dir = await copy()
    await writeFile(tableOf(dir, 6), '{"torn')
    const { end, notes } = await resumed(dir)
    expect(end).toMatchObject({ reason: 'done', step: 6, best })
    expect(notes).toEqual([
      expect.stringMatching(
        /^checkpoints\/step-000006 cannot be read \(.*as a table.*\): it is made again from .*step-000004/,
      ),
    ])
    expect(await readFile(tableOf(dir, 6), 'utf8')).toBe(await readFile(tableOf(whole, 6), 'utf8'))
    expect((await resumed(dir)).notes).toEqual([])
  })

  test.each(['torn', 'gone'])('is made again where validation chose it, and it is %s', async (how) => {
    const dir = await copy()
    const table = join(dir, best, 'table.json')
    const step = Number(best.slice(-6))
    if (how === 'torn') await writeFile(table, '')
    else await rm(join(dir, best), { recursive: true })
    const { end, notes } = await resumed(dir)
    expect(end).toMatchObject({ reason: 'done', best })
    expect(notes).toEqual([expect.stringContaining('which validation chose')])
    expect(await readFile(table, 'utf8')).toBe(await readFile(tableOf(whole, step), 'utf8'))
  })

  test('gives way to the next best where nothing is left to make it from', async () => {
    const dir = await copy()
    const successes: Record<number, number> = { 0: 0.1, 2: 1, 4: 0.5, 6: 0.4 }
    await edit(dir, (lines) =>
      lines.map((line) => {
        const found = JSON.parse(line)
        if (found.kind !== 'evaluation' || found.role !== 'validation') return line
        return JSON.stringify({ ...found, success: successes[found.step] })
      }),
    )
    await rm(join(dir, 'checkpoints', 'step-000000'), { recursive: true })
    await writeFile(tableOf(dir, 2), '')
    const { end, notes } = await resumed(dir)
    expect(end).toMatchObject({ reason: 'done', best: 'checkpoints/step-000004' })
    expect(notes).toEqual([
      expect.stringMatching(/step-000002, which validation chose, .*Validation chooses among the others/),
    ])
  })

  test('gives way to the next best at the end of the training, and is said', async () => {
    const notes: string[] = []
    const options = await echoTraining(plan)
    const end = await train({
      ...options,
      onStep: ({ step }) => {
        if (step === 6) writeFileSync(join(options.dir, best, 'table.json'), '')
      },
      onNote: (text) => notes.push(text),
    })
    expect(end).toMatchObject({ reason: 'done', step: 6 })
    expect(end.best).not.toBe(best)
    expect(notes).toEqual([
      expect.stringMatching(
        /step-000004, which validation chose, cannot be read any more .*chooses among the others/,
      ),
    ])
  })

  test('does not cost the one that can, where only the best and the last are kept', async () => {
    const options = await echoTraining({ steps: 4, checkpointEvery: 2, keep: 'all' })
    await train(options)
    const path = join(options.dir, 'train.json')
    const record = await readFile(path, 'utf8')
    await writeFile(path, record.replace('"keep": "all"', '"keep": "best_and_last"'))
    await writeFile(tableOf(options.dir, 4), '')
    const { end } = await resumed(options.dir)
    expect(end).toMatchObject({ reason: 'done', step: 4 })
    expect(await steps(options.dir)).toEqual(['step-000004'])
    expect((await resumed(options.dir)).notes).toEqual([])
  })
})

describe('a log that lacks what the folder shows', () => {
  const corrupt = async (dir: string, says: RegExp) => {
    const before = await steps(dir)
    await expect(resumed(dir)).rejects.toMatchObject({
      code: 'run_corrupt',
      message: expect.stringMatching(says),
    })
    expect(await steps(dir)).toEqual(before)
    return before
  }

  test('is not begun again, and costs no checkpoint', async () => {
    const gone = await copy()
    await rm(join(gone, 'steps.jsonl'))
    expect(await corrupt(gone, /ends after step 0, and .*step-000006.* --from .*step-000006/)).toHaveLength(4)
    const cut = await copy()
    await edit(cut, (lines) =>
      lines.slice(
        0,
        lines.findIndex((line) => isOf(line, 'step', 4)),
      ),
    )
    await corrupt(cut, /ends after step 3/)
  })

  test('is told by what later weights have played', async () => {
    const dir = await copy()
    await edit(dir, (lines) =>
      lines.slice(
        0,
        lines.findIndex((line) => isOf(line, 'step', 5)),
      ),
    )
    await rm(join(dir, 'checkpoints', 'step-000006'), { recursive: true })
    await corrupt(dir, /ends at 4 optimiser steps, and order .* was played by weights of 5/)
  })

  test('is not gone past where a line in its midst is none, or missing; a torn end is no loss', async () => {
    const dir = await copy()
    await edit(dir, (lines) => lines.map((line, at) => (at === 2 ? line.slice(0, 40) : line)))
    await corrupt(dir, /line 3/)
    const missing = await copy()
    await edit(missing, (lines) => lines.filter((line) => !isOf(line, 'step', 3)))
    await corrupt(missing, /step 4 stands where step 3 should/)
    const torn = await copy()
    await writeFile(join(torn, 'steps.jsonl'), '{"schema":"quintain.tr', { flag: 'a' })
    expect((await resumed(torn)).end.reason).toBe('done')
    expect((await readTraining(torn)).issues).toEqual([])
  })
})

test('a reference or teacher that was replaced is refused by name', async () => {
  const learner = echoLearner()
  const options = await echoTraining({
    steps: 1,
    teacher: await learner.sampler(),
    teacherFrom: { path: 'teacher', digest: 'a'.repeat(64) },
    cwd: await newFolder(),
  })
  await train(options)
  const teacher = { teacher: await learner.sampler(), cwd: '.' }
  const other = { path: 'teacher', digest: 'b'.repeat(64) }
  await expect(resumed(options.dir, { ...teacher, teacherFrom: other })).rejects.toMatchObject({
    code: 'training_mismatch',
    message: expect.stringMatching(/teacher of this training was replaced .* bbbbbbbbbbbbbbbb/),
  })
  const same = { path: 'elsewhere', digest: 'a'.repeat(64) }
  expect((await resumed(options.dir, { ...teacher, teacherFrom: same })).end.reason).toBe('done')
})

test('a reward that no mean can hold ends the training by the name of its order', async () => {
  const options = await echoTraining({
    steps: 2,
    env: echo({ reward: (said) => (said[0] === 'a' ? 1e308 : 0) }),
  })
  const end = await train(options)
  expect(end.reason).toBe('failed')
  expect(end.says).toMatch(/The reward of order \S+ is 1e\+308/)
})
