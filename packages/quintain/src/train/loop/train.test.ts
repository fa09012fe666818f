import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type AttemptRecord,
  environment,
  foldRun,
  type OrderState,
  QuintainError,
  tool,
} from '../../core/index.ts'
import { summarize } from '../../report/index.ts'
import { runRows } from '../../rows/index.ts'
import { createTableLearner } from '../__fixtures__/table-engine.ts'
import { chatRenderer } from '../chat-renderer.ts'
import type { Learner } from '../engine.ts'
import type { EvaluationRecord, StepRecord } from '../records.ts'
import { readTraining } from '../training-folder.ts'
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

async function stepsOf(dir: string): Promise<StepRecord[]> {
  return (await readTraining(dir)).lines.filter((line): line is StepRecord => line.kind === 'step')
}

async function evaluationsOf(dir: string): Promise<EvaluationRecord[]> {
  const { lines } = await readTraining(dir)
  return lines.filter((line): line is EvaluationRecord => line.kind === 'evaluation')
}

async function statesOf(dir: string): Promise<OrderState<AttemptRecord>[]> {
  return (await foldRun(dir)).states
}

async function weightsOf(learner: Learner): Promise<string> {
  const folder = await newFolder()
  await learner.save(folder)
  return readFile(join(folder, 'table.json'), 'utf8')
}

/** A learner that does some things in another way. */
function altered(learner: Learner, changes: Partial<Learner>): Learner {
  return new Proxy(learner, {
    get(target, name) {
      if (name in changes) return Reflect.get(changes, name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const withTool = environment({
  tasks: ['train', 'validation', 'test'].map((split) => ({ id: split, split, prompt: 'a', secret: {} })),
  world: () => ({
    tools: () => [tool({ name: 'press', description: 'Presses.', input: z.object({}), run: () => 'a' })],
    finish: () => ({}),
  }),
  rewards: { none: () => 0 },
})

const shortSampler = await createTableLearner({
  vocabulary: echoRenderer().vocabulary,
  context: 8,
  order: 3,
}).sampler()

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

describe('a training', () => {
  test('gets better, and is a run that every reader takes', async () => {
    const { dir } = await train(await echoTraining({ steps: 30 }))
    const steps = await stepsOf(dir)
    const rewards = steps.map(({ rewardMean }) => rewardMean!)
    expect(mean(rewards.slice(0, 3))).toBeLessThan(0.4)
    expect(mean(rewards.slice(-5))).toBeGreaterThan(0.8)
    const states = await statesOf(dir)
    expect(states.every(({ status }) => status === 'scored')).toBe(true)
    expect((await runRows(dir)).attempts.withRows).toBe(states.length)
    expect((await summarize(dir)).complete).toBe(true)
  })

  test('says of each step what it consumed, and of each order that it was', async () => {
    const { dir } = await train(await echoTraining({ steps: 12 }))
    const steps = await stepsOf(dir)
    const consumed = steps.flatMap(({ groups, leftGroups = [] }) => [...groups, ...leftGroups])
    expect(consumed.flatMap(({ orders }) => orders).sort()).toEqual(
      (await statesOf(dir)).map(({ order }) => order.id).sort(),
    )
    for (const { groups, left, rollouts, version, staleness, mismatch } of steps) {
      expect(groups.length).toBeLessThanOrEqual(3)
      expect(rollouts).toBe(6 * (groups.length + (left['zero_variance'] ?? 0)))
      expect(version).toBeLessThanOrEqual(12)
      expect(staleness.max).toBe(0)
      // The table samples with its own weights: what was sampled and what is trained on agree.
      if (mismatch !== null) expect(Math.abs(mismatch.k1)).toBeLessThan(1e-6)
    }
  })

  test('is the same with the same seed, however many rollouts are in flight, and another with another', async () => {
    const weights = []
    for (const options of [{}, { concurrency: 1 }, { seed: 2 }]) {
      const learner = echoLearner()
      await train(await echoTraining({ steps: 5, learner, ...options }))
      weights.push(await weightsOf(learner))
    }
    expect(weights[1]).toBe(weights[0])
    expect(weights[2]).not.toBe(weights[0])
  })

  test('gives rewards that need the whole group', async () => {
    const { dir } = await train(await echoTraining({ steps: 2, env: echo({ groupRank: true }) }))
    const states = await statesOf(dir)
    expect(states.every(({ chosen }) => chosen?.verdict?.rewards['rank'] != null)).toBe(true)
    const [first] = await stepsOf(dir)
    expect(first!.rewardMean).toBeGreaterThan(0.25)
  })

  test('learns by a KL term against a reference, and by a teacher alone', async () => {
    const reference = await echoLearner().sampler()
    const kl = { coefficient: 0.1, where: 'loss', estimator: 'k2' } as const
    const held = await train(await echoTraining({ steps: 4, reference, algorithm: echoAlgorithm({ kl }) }))
    expect((await stepsOf(held.dir)).at(-1)!.kl).toBeGreaterThan(0)

    const teacher = echoLearner()
    await train(await echoTraining({ steps: 30, learner: teacher }))
    const learner = echoLearner()
    const algorithm = echoAlgorithm({
      teacher: { coefficient: 1, rewards: false },
      filterZeroVariance: false,
    })
    const taught = await train(
      await echoTraining({ steps: 25, learner, teacher: await teacher.sampler(), algorithm }),
    )
    const taughtSteps = await stepsOf(taught.dir)
    // Nobody is compared with anybody, so that no group is dead.
    expect(new Set(taughtSteps.map(({ deadGroups }) => deadGroups))).toEqual(new Set([null]))
    const rewards = taughtSteps.map(({ rewardMean }) => rewardMean!)
    expect(mean(rewards.slice(-4))).toBeGreaterThan(mean(rewards.slice(0, 4)) + 0.3)
  })

  test('looks at a shadow verifier beside the reward', async () => {
    const byName = await train(await echoTraining({ steps: 1, shadow: 'firstRight' }))
    expect((await stepsOf(byName.dir))[0]!.shadow).toBeGreaterThan(0)
    const shadow = () => 0.25
    const byFunction = await train(await echoTraining({ steps: 1, shadow }))
    expect((await stepsOf(byFunction.dir))[0]!.shadow).toBe(0.25)
  })
})

describe('splits', () => {
  const evaluate = { every: 2, train: { tasks: 3 } }

  test('tasks that choose and tasks that are reported are never learned from', async () => {
    const { dir } = await train(await echoTraining({ steps: 6, evaluate }))
    expect(new Set((await statesOf(dir)).map(({ order }) => order.split))).toEqual(new Set(['train']))
    const runs = await readdir(join(dir, 'evals'))
    for (const name of runs) {
      const split = name.split('-')[0]
      const states = await statesOf(join(dir, 'evals', name))
      expect(new Set(states.map(({ order }) => order.split))).toEqual(new Set([split]))
    }
    // Test tasks are looked at before and after, and by nothing that chooses.
    const tests = (await evaluationsOf(dir)).filter(({ role }) => role === 'test')
    expect(new Set(tests.map(({ step }) => step)).size).toBeLessThanOrEqual(2)
  })

  test('without a validation split some tasks of training are held out, by the seed', async () => {
    const env = echo({ train: 30, validation: 0 })
    const { dir } = await train(await echoTraining({ steps: 6, env, evaluate }))
    const { record } = await readTraining(dir)
    expect(record.splits).toEqual({
      train: 'train',
      validation: 'train-held-out',
      test: 'test',
      parts: ['validation'],
    })
    const trained = new Set((await statesOf(dir)).map(({ order }) => order.task))
    const held = await statesOf(join(dir, 'evals', 'train-held-out-0-t1'))
    expect(held).toHaveLength(7)
    expect(held.filter(({ order }) => trained.has(order.task))).toEqual([])
    const seen = await statesOf(join(dir, 'evals', 'train-0-t1'))
    expect(seen.filter(({ order }) => held.some((one) => one.order.task === order.task))).toEqual([])
  })
})

describe('evaluations', () => {
  test('choose the checkpoint, which the learner then is and test tasks are played with', async () => {
    const learner = echoLearner()
    const evaluate = { every: 3, train: { tasks: 3 } }
    const { dir, best } = await train(await echoTraining({ steps: 24, learner, evaluate, seed: 3 }))
    const evaluations = await evaluationsOf(dir)
    const chosen = evaluations
      .filter(({ role, temperature }) => role === 'validation' && temperature === 1)
      .reduce((before, one) => (one.success! > before.success! ? one : before))
    expect(best).toBe(`checkpoints/step-${String(chosen.step).padStart(6, '0')}`)
    expect(await weightsOf(learner)).toBe(await readFile(join(dir, best!, 'table.json'), 'utf8'))
    const tests = evaluations.filter(({ role, temperature }) => role === 'test' && temperature === 1)
    expect(tests.map(({ step }) => step)).toEqual([0, chosen.step])
    expect(tests[1]!.success!).toBeGreaterThan(tests[0]!.success!)
    expect((await readdir(join(dir, 'checkpoints'))).sort()).toEqual(
      [...new Set([best!.split('/')[1], 'step-000024'])].sort(),
    )
  })

  test('are ordinary runs at temperature 1 and greedy, with intervals over tasks', async () => {
    const evaluate = { every: 5, validation: { repeats: 3 }, train: false, test: false } as const
    const { dir } = await train(await echoTraining({ steps: 5, evaluate }))
    const evaluations = await evaluationsOf(dir)
    expect(
      evaluations.map(({ step, temperature, tasks, rollouts }) => [step, temperature, tasks, rollouts]),
    ).toEqual([
      [0, 1, 6, 18],
      [0, 0, 6, 6],
      [5, 1, 6, 18],
      [5, 0, 6, 6],
    ])
    for (const { run, success, interval, temperature } of evaluations) {
      const { manifest, success: reported } = {
        ...(await foldRun(join(dir, run))),
        ...(await summarize(join(dir, run))),
      }
      expect(manifest.seats['agent']!.sampling!['temperature']).toBe(temperature)
      expect(reported.value).toBe(success)
      expect(interval![0]).toBeLessThanOrEqual(success!)
      expect(interval![1]).toBeGreaterThanOrEqual(success!)
    }
  })
})

describe('what goes wrong', () => {
  test('a verifier that dies midway: its rollouts are tried again, then masked, and the others are learned from', async () => {
    let graded = 0
    const env = echo({
      reward: (said, wanted) => {
        if (++graded > 40 && said[0] === 'a') throw new Error('the verifier has died')
        return said.filter((letter) => letter === wanted).length / 2
      },
    })
    const { dir, reason } = await train(await echoTraining({ steps: 5, env }))
    expect(reason).toBe('done')
    const steps = await stepsOf(dir)
    const lost = steps.reduce((sum, { rollouts, scored }) => sum + rollouts - scored, 0)
    expect(lost).toBe((await statesOf(dir)).filter(({ status }) => status === 'faulted').length)
    expect(lost).toBeGreaterThan(0)
    expect(steps.at(-1)!.groups.length).toBeGreaterThan(0)
    expect(steps.every(({ rewardMean }) => Number.isFinite(rewardMean))).toBe(true)
  })

  test('nothing is scored: it stops and says why, and can be taken up once that is mended', async () => {
    let broken = true
    const env = echo({
      reward: (said, wanted) => {
        if (broken) throw new Error('no licence for the grader')
        return said.filter((letter) => letter === wanted).length / 2
      },
    })
    const options = await echoTraining({ steps: 3, env })
    const end = await train(options)
    expect(end).toMatchObject({ reason: 'all_unscored', step: 1 })
    expect(end.says).toContain('no licence for the grader')
    broken = false
    const again = { env, dir: end.dir, learner: echoLearner(), renderer: echoRenderer() }
    expect(await resumeTraining(again)).toMatchObject({ reason: 'done', step: 3 })
  })

  test('text that the vocabulary does not cover: it stops once that is plain, and says what to do', async () => {
    const renderer = chatRenderer({ vocabulary: ['a', 'b', 'd', '.'], omit: ['system'] })
    const env = echo({ reward: () => 1 })
    const options = { renderer, env, steps: 3, sampling: { maxTokens: 2 } }
    // Of nine tasks three are of the letter that is missing: the others are learned from.
    expect((await train(await echoTraining(options))).reason).not.toBe('all_unscored')
    const blind = chatRenderer({ vocabulary: ['x', 'y', 'z', '.'], omit: ['system'] })
    for (const evaluate of [false, { every: 1 }] as const) {
      const { dir, reason, says } = await train(await echoTraining({ ...options, renderer: blind, evaluate }))
      expect(reason).toBe('all_unscored')
      expect(says).toMatch(/No token of the policy's vocabulary begins .*begin anew with another vocabulary/)
      expect((await statesOf(dir)).length).toBeLessThanOrEqual(3 * 6)
    }
  })

  test('a context that what it is told fills: it stops once that is plain, and says what to do', async () => {
    const learner = () => createTableLearner({ vocabulary: echoRenderer().vocabulary, context: 2, order: 3 })
    for (const evaluate of [false, { every: 1 }] as const) {
      const { dir, reason, says } = await train(await echoTraining({ learner: learner(), evaluate }))
      expect(reason).toBe('all_dead')
      expect(says).toMatch(/no room for a reply in any .* context of the policy is 2 tokens.*--context/)
      expect((await statesOf(dir)).length).toBeLessThanOrEqual(3 * 6)
    }
  })

  test('all groups dead: it orders more within its budget, makes steps that learn nothing, and stops', async () => {
    const learner = echoLearner()
    const env = echo({ reward: () => 0.5 })
    const { dir, reason, says } = await train(await echoTraining({ learner, env }))
    expect(reason).toBe('all_dead')
    expect(says).toMatch(/3 steps in a row/)
    const steps = await stepsOf(dir)
    expect(steps.map(({ groups, left }) => [groups.length, left])).toEqual(
      Array.from({ length: 3 }, () => [0, { zero_variance: 6 }]),
    )
    expect(learner.version).toBe(0)
  })

  test('a loss that is no number: it stops, names the batch, keeps the last good checkpoint', async () => {
    const table = echoLearner()
    let calls = 0
    const learner = altered(table, {
      forwardBackward: (...args: Parameters<Learner['forwardBackward']>) => {
        if (++calls < 5) return table.forwardBackward(...args)
        const [data, , operation] = args
        return table.forwardBackward(
          data,
          (_, logprobs) => ({ loss: Number.NaN, gradients: logprobs.map((own) => own.slice()), metrics: {} }),
          operation,
        )
      },
    })
    const options = await echoTraining({ learner, checkpointEvery: 2 })
    const end = await train(options)
    expect(end).toMatchObject({ reason: 'not_finite', step: 4, error: { code: 'not_finite' } })
    expect(end.says).toMatch(/step 5.*orders train-\d+#\d+.*checkpoints\/step-000004/)
    const { lines } = await readTraining(end.dir)
    const last = lines.at(-1)!
    const open = last.kind === 'end' ? last.open! : []
    expect(open.map(({ why }) => why)).toContain('not_finite')
    expect(open.flatMap(({ orders }) => orders).length).toBeGreaterThan(0)
    // The learner of the checkpoint is sound: it goes on without that batch.
    const again = { env: echo(), dir: end.dir, learner: echoLearner(), renderer: echoRenderer() }
    expect(await resumeTraining(again)).toMatchObject({ reason: 'done', step: 10 })
  })

  test('weights that are no numbers: they are not written, and the last good checkpoint is named', async () => {
    const table = echoLearner()
    const learner = altered(table, {
      save: (folder: string) =>
        table.version < 4
          ? table.save(folder)
          : Promise.reject(new QuintainError('not_finite', 'The policy has become no policy.')),
    })
    const { reason, says } = await train(await echoTraining({ learner, steps: 6, checkpointEvery: 2 }))
    expect(reason).toBe('not_finite')
    expect(says).toMatch(
      /^The policy has become no policy\. The last good checkpoint is .*step-000002\. Begin again/,
    )
  })

  test('a full disk at a checkpoint: it says so, keeps the last good one, and goes on when there is room', async () => {
    const table = echoLearner()
    const learner = altered(table, {
      save: (folder: string) =>
        table.version < 4
          ? table.save(folder)
          : Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })),
    })
    const options = await echoTraining({ learner, steps: 6, checkpointEvery: 2, keep: 'all' })
    const end = await train(options)
    expect(end).toMatchObject({ reason: 'failed', error: { code: 'disk_full' } })
    expect(end.says).toMatch(/full.*checkpoints\/step-00000[023].*quintain resume/)
    const again = echoLearner()
    const sitting = { env: echo(), dir: end.dir, learner: again, renderer: echoRenderer() }
    expect(await resumeTraining(sitting)).toMatchObject({ reason: 'done', step: 6 })
    const undisturbed = echoLearner()
    await train(await echoTraining({ learner: undisturbed, steps: 6, checkpointEvery: 2 }))
    expect(await weightsOf(again)).toBe(await weightsOf(undisturbed))
  })

  test('more steps than it was begun with: it says that the learning rate is another now', async () => {
    const adam = { learningRate: 0.3, decayTo: 0.1 }
    const { dir } = await train(await echoTraining({ algorithm: echoAlgorithm({ adam }), steps: 4 }))
    const notes: string[] = []
    const resume = (steps?: number) =>
      resumeTraining({
        ...{ env: echo(), dir, learner: echoLearner(), renderer: echoRenderer() },
        ...(steps === undefined ? {} : { steps }),
        onNote: (note) => notes.push(note),
      })
    expect(await resume()).toMatchObject({ step: 4 })
    expect(notes).toEqual([])
    expect(await resume(7)).toMatchObject({ step: 7 })
    expect(notes).toEqual([
      'The learning rate falls over 7 steps now, not over 4: step 5 has 0.120, step 4 had 0.0300.',
    ])
  })

  test('a recipe that was changed in its folder is not taken up', async () => {
    const { dir } = await train(await echoTraining({ steps: 2 }))
    const file = join(dir, 'train.json')
    const before = await readFile(file, 'utf8')
    await writeFile(file, before.replace('"learningRate": 0.3', '"learningRate": 3'))
    const sitting = { env: echo(), dir, learner: echoLearner(), renderer: echoRenderer(), steps: 4 }
    await expect(resumeTraining(sitting)).rejects.toMatchObject({
      code: 'training_mismatch',
      message: expect.stringMatching(/algorithm or the seed in train\.json was changed/),
    })
    await writeFile(file, before)
    expect(await resumeTraining(sitting)).toMatchObject({ reason: 'done', step: 4 })
  })

  test('two trainers on one folder: the second is refused, the first goes on', async () => {
    let refused: unknown
    const options = await echoTraining({ steps: 4 })
    const second = { env: echo(), dir: options.dir, learner: echoLearner(), renderer: echoRenderer() }
    let other: Promise<unknown> | undefined
    const end = await train({
      ...options,
      onStep: () => {
        other ??= resumeTraining(second).catch((error: unknown) => {
          refused = error
        })
      },
    })
    await other
    expect(refused).toMatchObject({ code: 'run_locked' })
    expect(end).toMatchObject({ reason: 'done', step: 4 })
    await expect(train(options)).rejects.toMatchObject({ code: 'run_exists' })
  })

  test('cancelled in the midst of it: nothing is lost, and it goes on to the same end', async () => {
    const controller = new AbortController()
    const options = await echoTraining({ steps: 6 })
    const onStep = ({ step }: StepRecord) => {
      if (step === 3) setTimeout(() => controller.abort(), 5)
    }
    const end = await train({ ...options, signal: controller.signal, onStep })
    expect(end.reason).toBe('cancelled')
    const learner = echoLearner()
    const sitting = { env: echo(), dir: options.dir, learner, renderer: echoRenderer() }
    expect(await resumeTraining(sitting)).toMatchObject({ reason: 'done', step: 6 })
    const undisturbed = echoLearner()
    await train({ ...(await echoTraining({ steps: 6 })), learner: undisturbed })
    expect(await weightsOf(learner)).toBe(await weightsOf(undisturbed))
  })

  test('budgets end it', async () => {
    const rollouts = await train(await echoTraining({ steps: 50, budget: { rollouts: 40 } }))
    expect(rollouts.reason).toBe('budget')
    expect((await stepsOf(rollouts.dir)).reduce((sum, step) => sum + step.rollouts, 0)).toBeLessThan(80)
    const seconds = await train(await echoTraining({ steps: 5000, budget: { seconds: 0.1 } }))
    expect(seconds.reason).toBe('budget')
    const tokens = await train(await echoTraining({ steps: 50, budget: { tokens: 200 } }))
    expect(tokens.says).toContain('200 tokens')
  })
})

describe('what cannot be trained is refused before anything is ordered', () => {
  test.each([
    ['a group of one', { algorithm: echoAlgorithm({ groupSize: 1 }) }, 'options_invalid', /group of one/],
    [
      'no KL reference',
      { algorithm: echoAlgorithm({ kl: { coefficient: 1, where: 'loss', estimator: 'k3' } }) },
      'options_invalid',
      /reference/,
    ],
    [
      'a reference with less context',
      {
        algorithm: echoAlgorithm({ kl: { coefficient: 1, where: 'loss', estimator: 'k3' } }),
        reference: shortSampler,
      },
      'training_mismatch',
      /reference has a context of 8 tokens and the learner one of 32/,
    ],
    ['a split that is not there', { splits: { train: 'trian' } }, 'usage', /trian.*train/],
    [
      'a shadow that nothing measures',
      { shadow: 'firstRigth' },
      'options_invalid',
      /did you mean "firstRight"/,
    ],
    ['one split for two things', { splits: { train: 'train', test: 'train' } }, 'usage', /two things/],
    ['no steps', { steps: 0 }, 'options_invalid', /steps/],
    ['tools that cannot be written', { env: withTool }, 'needs_unmet', /tools.*bytes/],
    ['no staleness', { mode: { async: 0 } }, 'options_invalid', /mode/],
    [
      'parts of groups above their size',
      { stragglers: { policy: 'partial_groups', atLeast: 9, share: 0.5 } },
      'options_invalid',
      /at least 9/,
    ],
    [
      'parts of groups whose reward needs all',
      { env: echo({ groupRank: true }), stragglers: { policy: 'partial_groups', atLeast: 2, share: 0.5 } },
      'options_invalid',
      /rank/,
    ],
  ] as const)('%s', async (_, given, code, says) => {
    const options = await echoTraining(given)
    await expect(train(options)).rejects.toMatchObject({ code, message: expect.stringMatching(says) })
    // The folder is free for the next try.
    expect(await train(await echoTraining({ dir: options.dir, steps: 1 }))).toMatchObject({ reason: 'done' })
  })
})
