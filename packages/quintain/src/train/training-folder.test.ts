import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { jsonLine } from '../core/jsonl.ts'
import { madeUpEnd, madeUpEvaluation, madeUpStep, madeUpTraining } from './__fixtures__/made-up-history.ts'
import { historyOf, isTraining, readTraining, trainingFiles } from './training-folder.ts'

let dir: string
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'quintain-training-'))
})
afterEach(() => rm(dir, { recursive: true, force: true }))

const write = (record: unknown) => writeFile(join(dir, trainingFiles.training), JSON.stringify(record))
const append = (text: string) => appendFile(join(dir, trainingFiles.steps), text)

test('reads the record and the lines, and tells a torn tail', async () => {
  await write(madeUpTraining())
  await append(jsonLine(madeUpEvaluation(0, 0.3)) + jsonLine(madeUpStep(1)))
  await append(jsonLine(madeUpStep(2)).slice(0, 80))
  expect(await isTraining(dir)).toBe(true)
  const { record, lines, issues } = await readTraining(dir)
  expect(record.algorithm.recipe).toBe('grpo')
  expect(lines.map(({ kind, step }) => `${kind} ${step}`)).toEqual(['evaluation 0', 'step 1'])
  expect(issues).toMatchObject([{ file: 'steps.jsonl', what: 'torn_tail' }])
})

test('a training that has not stepped yet has no lines', async () => {
  await write(madeUpTraining())
  expect(await readTraining(dir)).toMatchObject({ lines: [], issues: [] })
})

test('a line that is no record is told by its place, and the rest is read', async () => {
  await write(madeUpTraining())
  await append(`{"schema":"quintain.train-step","v":1,"kind":"step"}\n${jsonLine(madeUpStep(1))}`)
  const { lines, issues } = await readTraining(dir)
  expect(lines).toHaveLength(1)
  expect(issues).toMatchObject([{ what: 'bad_line', detail: expect.stringContaining('line 1') }])
})

test('what is no training says so', async () => {
  expect(await isTraining(dir)).toBe(false)
  await expect(readTraining(dir)).rejects.toMatchObject({ code: 'run_not_found' })
  await writeFile(join(dir, trainingFiles.training), '{"schema":')
  await expect(readTraining(dir)).rejects.toMatchObject({ code: 'run_corrupt' })
  await write({ ...madeUpTraining(), steps: 'many' })
  await expect(readTraining(dir)).rejects.toThrow('steps:')
  await write({ ...madeUpTraining(), v: 2 })
  await expect(readTraining(dir)).rejects.toMatchObject({ code: 'run_too_new' })
})

test('what was written again counts once, and an end that was gone on from is none', () => {
  const again = madeUpStep(2, { rewardMean: 0.9 })
  const lines = [madeUpStep(1), madeUpEvaluation(1, 0.4), madeUpStep(2), madeUpEnd(2, 'cancelled'), again]
  expect(historyOf(lines)).toEqual([lines[0], lines[1], again])
  expect(historyOf([...lines, madeUpEnd(2)]).at(-1)).toMatchObject({ kind: 'end', reason: 'done' })
})
