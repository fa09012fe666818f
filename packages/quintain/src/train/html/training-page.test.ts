import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jsonLine } from '../../core/jsonl.ts'
import { writeSampleRun } from '../../report/sample-run.ts'
import { madeUpEnd, madeUpEvaluation, madeUpSteps, madeUpTraining } from '../__fixtures__/made-up-history.ts'
import type { StepLine } from '../records.ts'
import { trainingFiles } from '../training-folder.ts'
import { evaluationCurve, stepCurves } from './curve-data.ts'
import { axisOf, curveChart } from './curves.ts'
import { writeTrainingPage } from './write-training-page.ts'

describe('the page of a training', () => {
  const hostile = '</style><script>alert(1)</script><img src=x onerror=alert(1)>\u202e'
  let dir: string
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'quintain-training-'))
    await writeSampleRun(dir, { orders: [], environment: { name: hostile } })
    await writeFile(
      join(dir, trainingFiles.training),
      JSON.stringify(
        madeUpTraining({
          environmentOptions: { note: hostile },
          splits: { train: hostile, validation: hostile, test: 'test' },
        }),
      ),
    )
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  const write = (lines: readonly StepLine[]) =>
    writeFile(join(dir, trainingFiles.steps), lines.map(jsonLine).join(''))

  async function page(lines: readonly StepLine[]): Promise<string> {
    await write(lines)
    const { file } = await writeTrainingPage(dir, join(dir, 'page.html'), { run: 'runs/x' })
    return readFile(file, 'utf8')
  }

  const history = [
    madeUpEvaluation(0, 0.3),
    madeUpEvaluation(0, 0.25, { temperature: 0 }),
    ...madeUpSteps(40, (step) => ({
      rewardMean: step / 40,
      alarms: step === 7 ? [{ watch: 'truncation', says: hostile }] : [],
    })),
    madeUpEvaluation(40, 0.7),
    madeUpEvaluation(40, 0.65, { temperature: 0 }),
    madeUpEnd(40),
  ]

  test('shows curves, alarms, and what was measured before and after', async () => {
    const text = await page(history)
    expect(text).toMatch(/Success over the steps: .*validation tasks, temperature 1 from 0\.300 to 0\.700/)
    expect(text).toContain('<b>truncation</b> at step 7')
    expect(text).toMatch(/<th scope="row">greedy<\/th><td>0\.250 \[0\.200, 0\.300\]<\/td><td>0\.650/)
    expect(text).toContain(
      'on which the checkpoint was chosen, so this flatters it (test tasks were not measured again)',
    )
    expect(text).not.toContain(dir)
  })

  test('is whole in one file, runs nothing, and takes no text for markup', async () => {
    const text = await page(history)
    expect(text).not.toMatch(/<script|<img|\u202e/)
    expect(text).not.toMatch(/(?:src|href)="(?!data:)/)
    expect(text).toMatch(/Content-Security-Policy" content="default-src 'none'; style-src 'sha256-/)
    expect(text.endsWith('</body></html>\n')).toBe(true)
  })

  test('the same records give the same bytes', async () => {
    expect(await page(history)).toBe(await page(history))
  })

  test('is read again by the browser only while the training goes on', async () => {
    expect(await page(history.slice(0, -1))).toContain('http-equiv="refresh"')
    expect(await page(history)).not.toContain('http-equiv="refresh"')
  })

  test('a training without a step yet has a page, too', async () => {
    expect(await page([])).toContain('The training has not ended')
  })

  test('nothing but such a page is overwritten without being told to', async () => {
    await write(history)
    const file = join(dir, 'notes.html')
    await writeFile(file, 'mine')
    await expect(writeTrainingPage(dir, file)).rejects.toMatchObject({ code: 'output_exists' })
    await writeTrainingPage(dir, file, { force: true })
    await writeTrainingPage(dir, file)
  })
})

describe('curves', () => {
  const measure = ({ rewardMean }: { rewardMean: number | null }) => rewardMean

  test('of many steps have few points, and end where the steps end', () => {
    const [each, mean] = stepCurves(
      madeUpSteps(5_000, (step) => ({ rewardMean: step })),
      { name: 'reward', tone: 'one', measure },
    )
    expect(each?.points.length).toBeLessThanOrEqual(400)
    expect(mean?.points.at(-1)?.x).toBe(5_000)
    expect(mean?.name).toBe('reward, mean of 20 steps')
  })

  test('leave out what was not measured', () => {
    const some = madeUpSteps(10, (step) => ({ rewardMean: step % 2 === 0 ? null : 1 }))
    expect(stepCurves(some, { name: 'reward', tone: 'one', measure })[0]?.points.map(({ x }) => x)).toEqual([
      1, 3, 5, 7, 9,
    ])
    expect(
      stepCurves(
        madeUpSteps(3, () => ({ rewardMean: null })),
        { name: 'reward', tone: 'one', measure },
      ),
    ).toEqual([])
  })

  test('of evaluations say their intervals, and fall back on the reward', () => {
    const [curve] = evaluationCurve(
      [madeUpEvaluation(0, 0.3), madeUpEvaluation(20, 0.5, { success: null, reward: 0.6, interval: null })],
      { name: 'held out', tone: 'one' },
    )
    expect(curve?.points).toEqual([
      { x: 0, y: 0.3 },
      { x: 20, y: 0.6 },
    ])
    expect(curve?.band).toEqual([{ x: 0, low: 0.25, high: 0.35 }])
    expect(curve?.said?.[0]).toBe('step 0, validation at temperature 1: 0.300 [0.250, 0.350] (100 tasks)')
  })

  test('of nothing but zeros the axis is no speck', () => {
    expect(axisOf([0, 0])).toEqual({ low: 0, high: 0.25, ticks: [0, 0.25] })
  })

  test('every axis holds its values, on a few ticks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e9, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 20 }),
        (values) => {
          const { low, high, ticks } = axisOf(values)
          // Rounding may put an end a hair inside.
          const hair = 1e-9 * Math.max(1, ...values.map(Math.abs))
          expect(low).toBeLessThanOrEqual(Math.min(...values) + hair)
          expect(high).toBeGreaterThanOrEqual(Math.max(...values) - hair)
          expect(high).toBeGreaterThan(low)
          expect(ticks.length).toBeGreaterThanOrEqual(2)
          expect(ticks.length).toBeLessThanOrEqual(7)
        },
      ),
    )
  })

  test('no value, one point and a flat line can be drawn', () => {
    const chart = (points: { x: number; y: number }[]) =>
      curveChart({ label: 'x', curves: [{ name: 'x', tone: 'one', points }], steps: [0, 0] }).text
    for (const points of [
      [],
      [{ x: 0, y: 1 }],
      [
        { x: 0, y: 2 },
        { x: 0, y: 2 },
      ],
    ])
      expect(chart(points)).not.toMatch(/NaN|Infinity/)
  })
})
