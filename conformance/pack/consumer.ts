// What somebody writes who has installed the package: `pack.ts` type-checks it strictly in an empty project, without
// skipping the declarations of libraries, and runs it there on every supported Node.
import assert from 'node:assert/strict'
import { environment, evaluate, QuintainError, unscored } from 'quintain'
import { summarize } from 'quintain/report'
import { createEmbedded } from 'quintain/train'
import { z } from 'zod'

const sums = environment({
  options: z.object({ largest: z.number().int().default(9) }),
  system: 'Answer with a number.',
  tasks: ({ options }) =>
    Array.from({ length: options.largest }, (_, i) => ({
      id: `sum-${i}`,
      prompt: `${i} + ${i} = ?`,
      secret: { answer: String(i + i) },
    })),
  world: () => ({ finish: () => ({ settled: true }) }),
  rewards: {
    exact: ({ task, transcript, state }) => {
      const settled: boolean = state.settled
      if (!settled || transcript.answer === '') return unscored('no_answer')
      return Number(transcript.answer.trim() === task.secret.answer)
    },
  },
  success: ({ rewards }) => rewards.exact === 1,
  *oracle({ task }) {
    yield task.secret.answer
  },
})

environment({
  tasks: [{ id: 'a' }],
  rewards: {
    // @ts-expect-error a reward that is no number does not compile in the installed package either
    wrong: () => 'one',
  },
})

const oracle = await evaluate(sums, { policy: 'script:oracle', repeats: 2, options: { largest: 4 } })
assert.deepEqual([oracle.complete, oracle.success.value, oracle.success.planned], [true, 1, 8])

const agent = await evaluate(sums, { agent: () => '2', tasks: 3 })
assert.equal(agent.success.value, 1 / 3)

// Default isolation: the environment runs in a worker process with Node's permission model.
const isolated = await evaluate('@quintain/wordle', {
  policy: 'script:oracle',
  tasks: 3,
  dir: `run-${process.version}`,
})
assert.deepEqual([isolated.complete, isolated.success.value], [true, 1])
assert.equal(isolated.manifest.isolation, 'worker')
assert.ok(isolated.dir)
assert.equal((await summarize(isolated.dir)).orders, 3)

await assert.rejects(evaluate('@quintain/none', { policy: 'script:oracle' }), (thrown) => {
  assert.ok(QuintainError.isInstance(thrown))
  assert.equal(thrown.code, 'environment_not_found')
  return true
})

// The embedded engine: its kernels and threads came with the package.
const learner = await createEmbedded({
  shape: { layers: 1, width: 16, heads: 2, feedForward: 32, vocabulary: 8, context: 8 },
  seed: 'consumer',
  threads: 2,
})
const ids = Int32Array.of(1, 2, 3, 4)
const datum = { input: ids.subarray(0, 3), target: ids.subarray(1), weights: new Float32Array(3).fill(1) }
const losses: number[] = []
for (let step = 0; step < 20; step++) {
  const result = await learner.forwardBackward(
    [datum],
    { name: 'cross_entropy' },
    { run: 'consumer', seq: 2 * step + 1 },
  )
  await learner.optimStep({ learningRate: 0.01 }, { run: 'consumer', seq: 2 * step + 2 })
  losses.push(result.loss)
}
assert.ok(losses.at(-1)! < losses[0]! / 2, losses.join(' '))
const sampler = await learner.sampler()
const said = await sampler.sample({ prompt: ids.subarray(0, 1), maxTokens: 3, temperature: 0, seed: 'a' })
assert.deepEqual([...said.ids], [2, 3, 4])
await sampler.close()
await learner.close()

process.stdout.write(`used on ${process.version}\n`)
