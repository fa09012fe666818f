import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Datum } from '../engine.ts'
import { createTableLearner } from './table-engine.ts'

const say: Datum = {
  input: Int32Array.of(0, 1, 2),
  target: Int32Array.of(1, 2, 3),
  weights: Float32Array.of(1, 1, 1),
}
const adam = { learningRate: 0.3 }

test('learns a sequence, samples it, and gives the log-probabilities that it trains on', async () => {
  const learner = createTableLearner({ vocabulary: 4, order: 1 })
  for (let step = 0; step < 20; step++) {
    await learner.forwardBackward([say], { name: 'cross_entropy' }, { run: 'r', seq: 2 * step + 1 })
    await learner.optimStep(adam, { run: 'r', seq: 2 * step + 2 })
  }
  const sampler = await learner.sampler()
  const reply = await sampler.sample({ prompt: Int32Array.of(0), maxTokens: 9, seed: 's', stop: [3] })
  expect(reply).toMatchObject({ ids: say.target, finish: 'stop', version: 20 })
  expect(await sampler.score([say])).toEqual([reply.logprobs])
})

test('goes on from a checkpoint as it would have gone on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quintain-table-'))
  try {
    const step = async (learner: ReturnType<typeof createTableLearner>, seq: number) => {
      await learner.forwardBackward([say], { name: 'cross_entropy' }, { run: 'r', seq })
      await learner.optimStep(adam, { run: 'r', seq: seq + 1 })
    }
    const learner = createTableLearner({ vocabulary: 4 })
    await step(learner, 1)
    await learner.save(folder)
    await step(learner, 3)
    const other = createTableLearner({ vocabulary: 4 })
    await other.load(folder)
    await step(other, 1)
    expect(await other.forward([say])).toEqual(await learner.forward([say]))
    expect(other.version).toBe(2)
    await expect(createTableLearner({ vocabulary: 5 }).load(folder)).rejects.toMatchObject({
      code: 'checkpoint_invalid',
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('refuses ids that it has not, and a loss that is no number, and stays as it was', async () => {
  const learner = createTableLearner({ vocabulary: 3 })
  await expect(
    learner.forwardBackward([say], { name: 'cross_entropy' }, { run: 'r', seq: 1 }),
  ).rejects.toMatchObject({ code: 'datum_invalid', facts: { datum: 0 } })
  const small: Datum = { input: Int32Array.of(0), target: Int32Array.of(1) }
  await expect(
    learner.forwardBackward(
      [small],
      () => ({ loss: Number.NaN, gradients: [Float32Array.of(1)], metrics: {} }),
      { run: 'r', seq: 1 },
    ),
  ).rejects.toMatchObject({ code: 'not_finite' })
  expect(await learner.optimStep(adam, { run: 'r', seq: 1 })).toEqual({ gradNorm: 0, version: 1 })
})
