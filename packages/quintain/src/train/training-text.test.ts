import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jsonLine } from '../core/jsonl.ts'
import { writeSampleRun } from '../report/sample-run.ts'
import {
  madeUpEnd,
  madeUpEvaluation,
  madeUpStep,
  madeUpSteps,
  madeUpTraining,
} from './__fixtures__/made-up-history.ts'
import { timeLeftMs, trainingProgressText } from './progress.ts'
import type { StepLine } from './records.ts'
import { trainingFiles } from './training-folder.ts'
import { summarizeTraining, verdictOf } from './training-summary.ts'
import { formatTraining } from './training-text.ts'

describe('progress on one line', () => {
  const history: StepLine[] = [
    madeUpEvaluation(0, 0.34),
    madeUpEvaluation(0, 0.3, { temperature: 0 }),
    ...madeUpSteps(10, () => ({ rewardMean: 0.42, success: 0.38, entropy: 1.3 })),
  ]

  test('says how far, how long yet, and what the policy can do', () => {
    expect(trainingProgressText(history, { steps: 100 })).toBe(
      'step 10/100  1 min 30 s left  reward 0.42  success 0.38  held-out 0.34 [0.29, 0.39], greedy 0.30  entropy 1.30',
    )
  })

  test('counts alarms', () => {
    const rung = [...history, madeUpStep(11, { alarms: [{ watch: 'kl', says: 'far' }] })]
    expect(trainingProgressText(rung, { steps: 100 })).toMatch(/ {2}1 alarm$/)
  })

  test('says nothing that is not known', () => {
    expect(trainingProgressText([], { steps: 100 })).toBe('step 0/100')
    expect(timeLeftMs([], { steps: 100 })).toBeNull()
  })

  test('the time left is that of whatever ends it first', () => {
    expect(timeLeftMs(history, { steps: 100 })).toBeCloseTo(90_000)
    expect(timeLeftMs(history, { steps: 100, seconds: 30 })).toBeCloseTo(20_000)
    expect(timeLeftMs(history, { steps: 10 })).toBe(0)
  })

  test('the time left counts the measurements that are due', () => {
    const measured: StepLine[] = [
      madeUpEvaluation(0, 0.3, { seconds: 3 }),
      madeUpEvaluation(0, 0.3, { temperature: 0, seconds: 2 }),
      madeUpEvaluation(0, 0.3, { role: 'test', seconds: 7 }),
      ...madeUpSteps(10),
    ]
    // Rounds at 40, 80 and the last step, and the test tasks once.
    expect(timeLeftMs(measured, { steps: 100, evaluateEvery: 40 })).toBeCloseTo(1000 * (90 + 3 * 5 + 7))
    expect(timeLeftMs(measured, { steps: 80, evaluateEvery: 40 })).toBeCloseTo(1000 * (70 + 2 * 5 + 7))
    expect(timeLeftMs(measured, { steps: 10, evaluateEvery: 40 })).toBe(0)
  })
})

describe('what a training came to', () => {
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'quintain-training-'))
    await writeSampleRun(dir, { orders: [{ task: 't1', attempts: [{ reward: 1, success: true }] }] })
    await writeFile(join(dir, trainingFiles.training), JSON.stringify(madeUpTraining({ steps: 40 })))
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  /** A run of forty tasks, of which the first `solved` are solved, and its line. */
  async function measured(step: number, solved: number, temperature: number): Promise<StepLine> {
    const run = `evals/test-${step}-${temperature}`
    await writeSampleRun(join(dir, run), {
      orders: Array.from({ length: 40 }, (_, i) => ({
        task: `t${i}`,
        attempts: [{ reward: i < solved ? 1 : 0, success: i < solved }],
      })),
    })
    return madeUpEvaluation(step, solved / 40, { role: 'test', temperature, tasks: 40, rollouts: 40, run })
  }

  async function said(lines: readonly StepLine[]): Promise<string> {
    await writeFile(join(dir, trainingFiles.steps), lines.map(jsonLine).join(''))
    return formatTraining((await summarizeTraining(dir)).summary)
  }

  test('a gain both ways is better, with its interval paired by task', async () => {
    const text = await said([
      await measured(0, 12, 1),
      await measured(0, 10, 0),
      ...madeUpSteps(40),
      await measured(40, 30, 1),
      await measured(40, 32, 0),
      madeUpEnd(40),
    ])
    expect(text).toContain('40 of 40 steps in 40 s (done)')
    expect(text).toMatch(
      /temperature 1 +0\.300 \[0\.250, 0\.350\] +0\.750 \[0\.700, 0\.800\] +\+0\.450 \[\+0\.\d+, \+0\.\d+\]/,
    )
    expect(text).toMatch(/\nBetter: /)
    expect(text).toContain(
      'on 40 test tasks, 40 rollouts each time; 95 %, new tasks; change paired over 40 tasks.',
    )
  })

  test('a gain at temperature 1 alone is more reliable, not better', async () => {
    const text = await said([
      await measured(0, 12, 1),
      await measured(0, 28, 0),
      ...madeUpSteps(40),
      await measured(40, 30, 1),
      await measured(40, 29, 0),
      madeUpEnd(40),
    ])
    expect(text).toMatch(/\nMore reliable, not better: /)
  })

  test('what is told is of the checkpoint that was chosen, not of the last step', async () => {
    const chosen = { role: 'validation', tasks: 40, rollouts: 40 } as const
    const lines = []
    for (const [step, solved] of [
      [0, 12],
      [20, 30],
      [40, 5],
    ] as const)
      for (const temperature of [1, 0])
        lines.push({ ...(await measured(step, solved, temperature)), ...chosen })
    const end = { ...madeUpEnd(40), best: 'checkpoints/step-000020' }
    const text = await said([...madeUpSteps(40), ...lines, end])
    expect(text).toMatch(/before \(step 0\) +after \(step 20\)/)
    expect(text).toMatch(/temperature 1 +0\.300 .* 0\.750 .* \+0\.450/)
    expect(text).toMatch(/on which the checkpoint was chosen[\s\S]*\nBetter: /)
    // Killed before its end, it stands for the best until then.
    expect(await said([...madeUpSteps(40), ...lines])).toMatch(/npx quintain resume .*after \(step 20\)/s)
  })

  test('where the policy as it began is best, the last step is shown as that', async () => {
    const text = await said([
      ...madeUpSteps(40),
      { ...(await measured(0, 30, 1)), role: 'validation' } as StepLine,
      { ...(await measured(40, 5, 1)), role: 'validation' } as StepLine,
      { ...madeUpEnd(40), best: 'checkpoints/step-000000' },
    ])
    expect(text).toMatch(/before \(step 0\) +last step \(step 40\)/)
    expect(text).toMatch(/\nUnchanged: /)
  })

  test('measurements are counted beside the steps', async () => {
    const text = await said([madeUpEvaluation(0, 0.3, { seconds: 75 }), ...madeUpSteps(40), madeUpEnd(40)])
    expect(text).toContain('40 of 40 steps in 40 s, and 1 min 15 s of measurements (done)')
  })

  test('a training that was gone on with says how many steps it was for', async () => {
    expect(await said([...madeUpSteps(42), { ...madeUpEnd(42), steps: 45 }])).toContain('42 of 45 steps')
    expect(await said([...madeUpSteps(42)])).toContain('42 of 42 steps')
  })

  test('an end before its time says why, and alarms say what to do', async () => {
    const alarm = { watch: 'truncation', says: 'allow longer replies' }
    const text = await said([
      await measured(0, 12, 1),
      ...madeUpSteps(20, (step) => ({ truncated: 0.5, alarms: step === 5 ? [alarm] : [] })),
      { ...madeUpEnd(20, 'budget'), says: 'the two minutes are over' },
    ])
    expect(text).toContain('the two minutes are over')
    expect(text).toContain('Nothing was measured before and after.')
    // What still stands is told with the figures of the end.
    expect(text).toMatch(/alarm truncation at step 5, and still so at the end: 50 % of the rollouts are cut/)
    expect(text).not.toContain('allow longer replies')
  })

  test('runs that were taken away leave what was measured, without a difference', async () => {
    const [before, after] = [await measured(0, 12, 1), await measured(40, 30, 1)]
    await rm(join(dir, 'evals'), { recursive: true })
    const text = await said([before, ...madeUpSteps(40), after, madeUpEnd(40)])
    expect(text).toMatch(/0\.300 .* 0\.750 .* not compared: /)
    expect(text).toContain('Not known: ')
  })

  test('text of an environment cannot act on the terminal', async () => {
    const record = join(dir, 'run.json')
    const manifest = JSON.parse(await readFile(record, 'utf8'))
    manifest.environment.name = 'x\u001b[2J\u202e'
    await writeFile(record, JSON.stringify(manifest))
    expect(await said([])).not.toMatch(/[\u001b\u202e]/)
  })
})

test.each([
  ['better', [0.1, 0.2], [0.1, 0.3]],
  ['more_reliable', [0.1, 0.2], [-0.1, 0.3]],
  ['mixed', [0.1, 0.2], [-0.3, -0.1]],
  ['mixed', [-0.1, 0.2], [0.1, 0.3]],
  ['worse', [-0.2, -0.1], [-0.1, 0.1]],
  ['no_difference', [-0.1, 0.1], [-0.1, 0.1]],
  ['unknown', [0.1, 0.2], undefined],
] as const)('the verdict is %s of %j at temperature 1 and %j greedy', (verdict, sampled, greedy) => {
  const pair = (temperature: number, [low, high]: readonly [number, number]) => ({
    temperature,
    difference: { difference: 0.1, newTasks: { interval: [low, high] satisfies [number, number] } },
  })
  expect(verdictOf([pair(1, sampled), ...(greedy === undefined ? [] : [pair(0, greedy)])])).toBe(verdict)
})
