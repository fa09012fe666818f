import { spawn } from 'node:child_process'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createRng, foldRun } from '../../core/index.ts'
import { createEmbedded } from '../embedded/index.ts'
import type { Learner } from '../engine.ts'
import type { StepLine, StepRecord } from '../records.ts'
import { historyOf, readTraining } from '../training-folder.ts'
import {
  echo,
  echoAlgorithm,
  echoLearner,
  echoRenderer,
  echoTraining,
  newFolder,
} from './__fixtures__/echo.ts'
import { resumeTraining } from './resume.ts'
import { train } from './train.ts'

const main = fileURLToPath(new URL('__fixtures__/echo-main.ts', import.meta.url))

/** Runs a training in a process of its own and kills it so long after it said that line; says whether it came to its end. */
function killed(args: readonly string[], at: { line: number; ms: number }): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    let lines = 0
    let ended = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ended ||= text.includes('end ')
      const before = lines
      lines += text.split('\n').length - 1
      if (before < at.line && lines >= at.line) setTimeout(() => child.kill('SIGKILL'), at.ms)
    })
    child.on('error', reject).on('exit', () => resolve(ended))
  })
}

/** A curve without what depends on the clock. */
async function curveOf(dir: string): Promise<object[]> {
  const { lines } = await readTraining(dir)
  return historyOf(lines).map((line: StepLine) => {
    const { at: _, elapsedS: __, ...rest } = line
    return 'seconds' in rest ? { ...rest, seconds: 0 } : rest
  })
}

const settings = { steps: 9, checkpointEvery: 4, evaluate: { every: 3, train: { tasks: 4 } }, seed: 5 }

describe('a training that was killed', () => {
  test('goes on to the same curve and the same weights, wherever it was killed, and however often', async () => {
    const whole = await echoTraining({ ...settings, keep: 'all' })
    await train(whole)
    const expected = await curveOf(whole.dir)
    const rng = createRng('kills')
    const dir = await newFolder()
    let sittings = 0
    for (;;) {
      const at = { line: 4 + rng.int(6), ms: rng.int(25) }
      const args =
        sittings++ === 0 ? ['new', dir, JSON.stringify({ ...settings, keep: 'all' })] : ['resume', dir]
      if (await killed(args, at)) break
    }
    expect(sittings).toBeGreaterThan(2)
    expect(await curveOf(dir)).toEqual(expected)
    for (const step of ['step-000004', 'step-000009']) {
      const weights = (of: string) => readFile(join(of, 'checkpoints', step, 'table.json'), 'utf8')
      expect(await weights(dir)).toBe(await weights(whole.dir))
    }
    const { states, issues } = await foldRun(dir)
    expect(issues.filter(({ what }) => what !== 'torn_tail')).toEqual([])
    expect(states.every(({ status }) => status === 'scored')).toBe(true)
  })
})

describe('a training that is taken up', () => {
  test.each([
    ['asynchronous', { mode: { async: 2 } }],
    ['over-ordering', { stragglers: { policy: 'over_order', extra: 3 } }],
    ['learning from parts of groups', { stragglers: { policy: 'partial_groups', atLeast: 2, share: 0.3 } }],
  ] as const)('%s: what was open comes to its end, and every order is accounted for', async (_, options) => {
    const controller = new AbortController()
    const onStep = ({ step }: StepRecord) => {
      if (step === 3) controller.abort()
    }
    const began = await echoTraining({ ...options, steps: 8, env: echo({ train: 24 }) })
    const first = await train({ ...began, signal: controller.signal, onStep })
    expect(first.reason).toBe('cancelled')
    const sitting = { env: echo({ train: 24 }), dir: began.dir, renderer: echoRenderer() }
    expect(await resumeTraining({ ...sitting, learner: echoLearner() })).toMatchObject({
      reason: 'done',
      step: 8,
    })
    const { lines } = await readTraining(began.dir)
    const history = historyOf(lines)
    const groups = history.flatMap((line) =>
      line.kind === 'step'
        ? [...line.groups, ...(line.leftGroups ?? [])]
        : line.kind === 'end'
          ? (line.open ?? [])
          : [],
    )
    const orders = groups.flatMap((group) => group.orders)
    const { states } = await foldRun(began.dir)
    expect(orders.sort()).toEqual(states.map(({ order }) => order.id).sort())
    // What was cancelled in the first sitting was played in the second, before anything new was drawn.
    const end = lines.find((line) => line.kind === 'end')!
    const open = end.kind === 'end' ? (end.open ?? []).flatMap((group) => group.orders) : []
    expect(open.length).toBeGreaterThan(0)
    const still = states.filter(({ order, status }) => open.includes(order.id) && status !== 'scored')
    expect(still.length).toBeLessThanOrEqual(orders.length - open.length)
  })

  test('comes to the same weights on another number of threads', async () => {
    const shape = { layers: 1, width: 16, heads: 2, feedForward: 32, context: 32 }
    const onThreads = async (threads: number, play: (learner: Learner) => Promise<unknown>) => {
      const { vocabulary } = echoRenderer()
      const learner = await createEmbedded({ shape: { ...shape, vocabulary }, seed: '1', threads })
      await play(learner).finally(() => learner.close())
    }
    const began = await echoTraining({ steps: 4 })
    await onThreads(1, (learner) => train({ ...began, learner }))
    const stopped = await echoTraining({ steps: 4 })
    const controller = new AbortController()
    const onStep = ({ step }: StepRecord) => {
      if (step === 2) controller.abort()
    }
    await onThreads(2, (learner) => train({ ...stopped, learner, signal: controller.signal, onStep }))
    const sitting = { env: echo(), dir: stopped.dir, renderer: echoRenderer() }
    await onThreads(3, (learner) => resumeTraining({ ...sitting, learner }))
    const weights = (dir: string) => readFile(join(dir, 'checkpoints', 'step-000004', 'weights.safetensors'))
    expect((await weights(stopped.dir)).equals(await weights(began.dir))).toBe(true)
  })

  test('does further steps on top', async () => {
    const options = await echoTraining({ steps: 4 })
    await train(options)
    const sitting = { env: echo(), dir: options.dir, learner: echoLearner(), renderer: echoRenderer() }
    expect(await resumeTraining({ ...sitting, steps: 6 })).toMatchObject({ reason: 'done', step: 6 })
  })

  test('goes through steps again without their checkpoint', async () => {
    const options = await echoTraining({ steps: 5, checkpointEvery: 2, keep: 'all' })
    await train(options)
    const damaged = `${options.dir}-damaged`
    await cp(options.dir, damaged, { recursive: true })
    for (const step of ['step-000005', 'step-000004']) {
      await writeFile(join(damaged, 'checkpoints', step, 'table.json'), '{"torn')
    }
    const learner = echoLearner()
    const end = await resumeTraining({ env: echo(), dir: damaged, learner, renderer: echoRenderer() })
    expect(end).toMatchObject({ reason: 'done', step: 5 })
    const again = await newFolder()
    await learner.save(again)
    expect(await readFile(join(again, 'table.json'), 'utf8')).toBe(
      await readFile(join(options.dir, 'checkpoints', 'step-000005', 'table.json'), 'utf8'),
    )
  })

  test.each([
    ['another recipe', { algorithm: echoAlgorithm({ groups: 4 }) }, /groups: 3, now 4/],
    [
      'another rate',
      { algorithm: echoAlgorithm({ adam: { learningRate: 0.1, decayTo: 1 } }) },
      /adam\.learningRate: 0\.3, now 0\.1/,
    ],
  ])('refuses %s and says what differs', async (_, given, says) => {
    const options = await echoTraining({ steps: 1 })
    await train(options)
    const sitting = { env: echo(), dir: options.dir, learner: echoLearner(), renderer: echoRenderer() }
    const error = await resumeTraining({ ...sitting, ...given }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'training_mismatch', message: expect.stringMatching(says) })
    // Nothing is held afterwards.
    expect(await resumeTraining(sitting)).toMatchObject({ reason: 'done' })
  })
})
