import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { createRng } from '../../core/index.ts'
import type { Datum, LossFunction, SampleRequest } from '../engine.ts'
import { createEmbedded, type EmbeddedOptions, loadEmbedded } from './create-embedded.ts'
import type { EmbeddedLearner } from './embedded-learner.ts'
import type { EmbeddedShape } from './shape.ts'

const shape: EmbeddedShape = {
  layers: 2,
  width: 32,
  heads: 2,
  feedForward: 64,
  vocabulary: 11,
  context: 24,
}

const open: EmbeddedLearner[] = []
const folders: string[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((learner) => learner.close()))
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })))
})

async function learnerOf(options: EmbeddedOptions & { seed?: string; shape?: EmbeddedShape } = {}) {
  const learner = await createEmbedded({ shape, seed: 'a', threads: 2, ...options })
  open.push(learner)
  return learner
}

async function scratch(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quintain-learner-'))
  folders.push(folder)
  return folder
}

/** Sequences that say their first half again. */
function copies(count: number, seed: string, length = 5): Datum[] {
  const rng = createRng(seed)
  return Array.from({ length: count }, () => {
    const word = Array.from({ length }, () => 1 + rng.int(shape.vocabulary - 1))
    const ids = Int32Array.from([...word, 0, ...word])
    const weights = new Float32Array(2 * length).fill(0)
    weights.fill(1 / (count * length), length)
    return { input: ids.slice(0, -1), target: ids.slice(1), weights }
  })
}

/** Numbers the operations of one sitting. */
function sitting(learner: EmbeddedLearner, run = 'test') {
  let seq = 0
  const loss = { name: 'cross_entropy' }
  return {
    next: () => ({ run, seq: ++seq }),
    async train(data: readonly Datum[], learningRate = 3e-3) {
      const { loss: value } = await learner.forwardBackward(data, loss, this.next())
      const { gradNorm } = await learner.optimStep({ learningRate, gradClipNorm: 1 }, this.next())
      return { loss: value, gradNorm }
    },
  }
}

const probe = copies(3, 'probe')
const scoresOf = async (learner: EmbeddedLearner) => (await learner.forward(probe)).logprobs

function far(a: readonly Float32Array[], b: readonly Float32Array[]): number {
  return Math.max(...a.flatMap((own, at) => [...own].map((value, t) => Math.abs(value - b[at]![t]!))))
}

describe('the embedded learner', () => {
  it('begins almost even, and learns to copy', async () => {
    const learner = await learnerOf()
    const { train } = sitting(learner)
    const step = train.bind(sitting(learner))
    const first = await step(copies(32, '0'))
    expect(first.loss).toBeCloseTo(Math.log(shape.vocabulary), 0)
    let last = first
    for (let at = 1; at < 150; at++) last = await step(copies(32, `${at}`), 1e-2)
    expect(last.loss).toBeLessThan(0.1)
    expect(learner.version).toBe(150)
    const sampler = await learner.sampler()
    const prompt = Int32Array.of(4, 7, 7, 1, 9, 0)
    const { ids } = await sampler.sample({ prompt, maxTokens: 5, temperature: 0, seed: 's' })
    expect([...ids]).toEqual([4, 7, 7, 1, 9])
  })

  it('is the same bits for the same seed on any number of threads', async () => {
    const found = []
    for (const threads of [1, 2, 3]) {
      const learner = await learnerOf({ threads })
      const session = sitting(learner)
      const steps = []
      // Of many lanes, of few, and of more lanes than there are sequences.
      for (const count of [130, 40, 3]) steps.push(await session.train(copies(count, `${count}`)))
      found.push({ steps, scores: await scoresOf(learner) })
    }
    expect(found[1]).toEqual(found[0])
    expect(found[2]).toEqual(found[0])
    expect(far(await scoresOf(await learnerOf({ seed: 'b' })), found[0]!.scores)).toBeGreaterThan(1e-2)
  })

  it('trains on several micro-batches as on one, and on two operations as on one', async () => {
    const data = copies(40, 'data')
    const steps = [
      { microBatch: 4096, parts: [data] },
      { microBatch: 24, parts: [data] },
      { microBatch: 4096, parts: [data.slice(0, 7), data.slice(7)] },
    ]
    const scores = []
    for (const { microBatch, parts } of steps) {
      const learner = await learnerOf({ microBatch })
      const { next } = sitting(learner)
      for (let at = 0; at < 3; at++) {
        for (const part of parts) await learner.forwardBackward(part, { name: 'cross_entropy' }, next())
        await learner.optimStep({ learningRate: 3e-3 }, next())
      }
      scores.push(await scoresOf(learner))
    }
    expect(far(scores[1]!, scores[0]!)).toBeLessThan(1e-5)
    expect(far(scores[2]!, scores[0]!)).toBeLessThan(1e-5)
  })

  it('shows a loss whole units, also such as no micro-batch holds', async () => {
    const data = copies(12, 'units').map((datum, at) => ({ ...datum, unit: Math.floor(at / 4) }))
    const seen: number[] = []
    const loss: LossFunction = (own, logprobs) => {
      seen.push(own.length)
      const mean = logprobs.flatMap((all) => [...all]).reduce((sum, value) => sum + value, 0)
      // Not linear in a unit: it matters that all of it is there.
      return {
        loss: mean ** 2 / 1000,
        gradients: logprobs.map((all) => all.map(() => (2 * mean) / 1000)),
        metrics: { 'seen:sum': own.length },
      }
    }
    const scores = []
    for (const microBatch of [40, 24]) {
      const learner = await learnerOf({ microBatch, threads: 1 })
      const { next } = sitting(learner)
      const { metrics } = await learner.forwardBackward(data, loss, next())
      expect(metrics['seen:sum']).toBe(12)
      await learner.optimStep({ learningRate: 1e-2 }, next())
      scores.push(await scoresOf(learner))
    }
    expect(seen).toEqual([4, 4, 4, 4, 4, 4])
    expect(far(scores[1]!, scores[0]!)).toBeLessThan(1e-5)
  })

  it('samples with the log-probabilities that it trains with, to the bit', async () => {
    const learner = await learnerOf()
    const session = sitting(learner)
    for (let at = 0; at < 5; at++) await session.train(copies(16, `${at}`))
    const sampler = await learner.sampler()
    const prompt = Int32Array.of(3, 1, 4)
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) => sampler.sample({ prompt, maxTokens: 15, seed: `${at}` })),
    )
    const data = replies.map(({ ids }) => {
      const all = Int32Array.from([...prompt, ...ids])
      return { input: all.slice(0, -1), target: all.slice(1) }
    })
    const scored = await learner.forward(data)
    for (const [at, { logprobs }] of replies.entries()) {
      expect(scored.logprobs[at]!.slice(prompt.length - 1)).toEqual(logprobs)
    }
    expect(await sampler.score(data)).toEqual(scored.logprobs)
    expect(new Set(replies.map(({ ids }) => ids.join())).size).toBeGreaterThan(15)
  })

  it('answers a repeated operation as before, and refuses one that is not the next', async () => {
    const learner = await learnerOf()
    const data = copies(4, 'x')
    const loss = { name: 'cross_entropy' }
    const first = await learner.forwardBackward(data, loss, { run: 'r', seq: 1 })
    expect(await learner.forwardBackward(data, loss, { run: 'r', seq: 1 })).toEqual(first)
    await learner.optimStep({ learningRate: 1e-3 }, { run: 'r', seq: 2, version: 0 })
    await learner.optimStep({ learningRate: 1e-3 }, { run: 'r', seq: 2, version: 0 })
    expect(learner.version).toBe(1)
    await expect(learner.optimStep({ learningRate: 1e-3 }, { run: 'r', seq: 4 })).rejects.toMatchObject({
      code: 'operation_out_of_order',
    })
    await expect(
      learner.optimStep({ learningRate: 1e-3 }, { run: 'r', seq: 3, version: 0 }),
    ).rejects.toMatchObject({ code: 'version_mismatch' })
  })

  it('forgets moments when asked, so that the next step is a first one', async () => {
    const learner = await learnerOf({ threads: 1 })
    const session = sitting(learner)
    const data = copies(8, 'x')
    for (let at = 0; at < 3; at++) await session.train(data)
    await learner.resetOptimiser(session.next())
    const folder = await scratch()
    await learner.save(folder)
    await session.train(data)
    const other = await loadEmbedded(folder, { threads: 1, optimiser: false })
    open.push(other)
    await sitting(other).train(data)
    expect(await scoresOf(other)).toEqual(await scoresOf(learner))
  })
})

describe('what is refused leaves the embedded learner as it was', () => {
  const good = (): Datum => ({
    input: Int32Array.of(1, 2, 3),
    target: Int32Array.of(2, 3, 4),
    advantages: Float32Array.of(0.5, 0.5, 0.5),
    logprobs: Float32Array.of(-1, -1, -1),
  })
  const bad: Record<string, readonly Datum[]> = {
    'no datum': [],
    'no token': [good(), { input: new Int32Array(), target: new Int32Array() }],
    'an id over the vocabulary': [good(), { ...good(), input: Int32Array.of(1, 11, 3) }],
    'an id below it': [good(), { ...good(), target: Int32Array.of(1, -1, 3) }],
    'more than the context': [{ input: new Int32Array(25), target: new Int32Array(25) }],
    'input and target of two lengths': [{ ...good(), target: Int32Array.of(1, 2) }],
    'advantages of another length': [{ ...good(), advantages: Float32Array.of(1) }],
    'an advantage that is no number': [good(), { ...good(), advantages: Float32Array.of(1, Number.NaN, 1) }],
    'a log-probability that is infinite': [
      { ...good(), logprobs: Float32Array.of(-1, Number.NEGATIVE_INFINITY, -1) },
    ],
  }

  it('bad data of every kind', async () => {
    const learner = await learnerOf({ threads: 1 })
    const before = await scoresOf(learner)
    const { next } = sitting(learner)
    const operation = next()
    const loss = { name: 'importance_sampling' }
    for (const [what, data] of Object.entries(bad)) {
      await expect(learner.forwardBackward(data, loss, operation), what).rejects.toMatchObject({
        code: 'datum_invalid',
      })
      await expect(learner.forward(data), what).rejects.toMatchObject({ code: 'datum_invalid' })
      expect(await scoresOf(learner)).toEqual(before)
    }
    // The number is not used up by what was not made.
    await learner.forwardBackward([good()], loss, operation)
  })

  it('a loss that is no number, or throws, in the last of many parts', async () => {
    const scores = []
    for (const broken of [false, true]) {
      const learner = await learnerOf({ microBatch: 24 })
      const { next } = sitting(learner)
      const data = copies(30, 'first')
      await learner.forwardBackward(data, { name: 'cross_entropy' }, next())
      if (broken) {
        const poisoned = data.at(-1)!.weights
        const operation = { run: 'test', seq: 2 }
        const slopes =
          (value: number): LossFunction =>
          (own, logprobs) => ({
            loss: 1,
            gradients: logprobs.map((all, at) => all.map(() => (own[at]!.weights === poisoned ? value : 1))),
            metrics: {},
          })
        await expect(learner.forwardBackward(data, slopes(Number.NaN), operation)).rejects.toMatchObject({
          code: 'not_finite',
          facts: { datum: 29 },
        })
        const thrower: LossFunction = (own, logprobs) => {
          if (own.some(({ weights }) => weights === poisoned)) throw new Error('mine')
          return slopes(1)(own, logprobs)
        }
        await expect(learner.forwardBackward(data, thrower, operation)).rejects.toThrow('mine')
      }
      await learner.optimStep({ learningRate: 1e-2 }, next())
      scores.push(await scoresOf(learner))
    }
    expect(scores[1]).toEqual(scores[0])
  })

  it.each([3e38, 1e20])('a gradient of %d', async (size) => {
    const learner = await learnerOf()
    const { next } = sitting(learner)
    const before = await scoresOf(learner)
    const huge: LossFunction = (_, logprobs) => ({
      loss: 1,
      gradients: logprobs.map((all) => all.map(() => size)),
      metrics: {},
    })
    await learner.forwardBackward(copies(8, 'x'), huge, next())
    const operation = next()
    await expect(learner.optimStep({ learningRate: 1e-3 }, operation)).rejects.toMatchObject({
      code: 'not_finite',
    })
    expect(await scoresOf(learner)).toEqual(before)
    expect(learner.version).toBe(0)
    // The bad gradient is gone: a step without one moves nothing.
    await learner.optimStep({ learningRate: 1e-3 }, operation)
    expect(await scoresOf(learner)).toEqual(before)
  })

  it('steps with numbers that are none', async () => {
    const learner = await learnerOf({ threads: 1 })
    for (const adam of [
      { learningRate: Number.NaN },
      { learningRate: -1 },
      { learningRate: 1, beta1: 1 },
      { learningRate: 1, gradClipNorm: -1 },
      // A moment whose square is 0 in fp32 would be divided by it.
      { learningRate: 1, eps: 0 },
    ]) {
      await expect(learner.optimStep(adam, { run: 'r', seq: 1 })).rejects.toMatchObject({
        code: 'options_invalid',
      })
    }
  })

  it.each([
    [{ heads: 3 }, 'heads'],
    [{ width: 36 }, 'multiple of 8'],
    [{ feedForward: 60 }, 'feedForward'],
    [{ layers: 0 }, 'layers'],
    [{ vocabulary: 1 }, 'vocabulary'],
    [{ context: 1.5 }, 'context'],
    [{ width: 2048, feedForward: 8192, layers: 64 }, 'parameters'],
  ])('a shape with %o', async (change, says) => {
    await expect(createEmbedded({ shape: { ...shape, ...change }, seed: 'a' })).rejects.toMatchObject({
      code: 'options_invalid',
      message: expect.stringContaining(says),
    })
  })
})

describe('checkpoints of the embedded learner', () => {
  it('go on as if nothing had been', async () => {
    const folder = await scratch()
    const learner = await learnerOf()
    const session = sitting(learner)
    for (let at = 0; at < 4; at++) await session.train(copies(16, `${at}`))
    await learner.save(folder)
    const other = await loadEmbedded(folder, { threads: 2 })
    open.push(other)
    expect(other.version).toBe(4)
    const second = sitting(other, 'resumed')
    for (let at = 4; at < 8; at++) {
      expect(await second.train(copies(16, `${at}`))).toEqual(await session.train(copies(16, `${at}`)))
    }
    expect(await scoresOf(other)).toEqual(await scoresOf(learner))
  })

  it('are refused when they are of another shape, torn or poisoned; the learner stays as it was', async () => {
    const folder = await scratch()
    const learner = await learnerOf()
    await learner.save(join(folder, 'good'))
    const wider = await learnerOf({ shape: { ...shape, feedForward: 72 } })
    await wider.save(join(folder, 'wider'))
    for (const [name, file, change] of [
      ['torn', 'weights.safetensors', (bytes: Buffer) => bytes.subarray(0, bytes.length - 10)],
      ['rotted', 'optimiser.safetensors', (bytes: Buffer) => Buffer.from(bytes).fill(1, bytes.length - 4)],
      ['vague', 'model.json', (bytes: Buffer) => Buffer.from(bytes.toString().replace('32', '40'))],
    ] as const) {
      await cp(join(folder, 'good'), join(folder, name), { recursive: true })
      await writeFile(join(folder, name, file), change(await readFile(join(folder, name, file))))
    }
    const session = sitting(learner)
    await session.train(copies(8, 'x'))
    const before = await scoresOf(learner)
    for (const name of ['wider', 'torn', 'rotted', 'vague', 'absent']) {
      await expect(learner.load(join(folder, name)), name).rejects.toMatchObject({
        code: 'checkpoint_invalid',
      })
      expect(await scoresOf(learner)).toEqual(before)
      expect(learner.version).toBe(1)
    }
    for (const name of ['torn', 'vague', 'absent']) {
      await expect(loadEmbedded(join(folder, name)), name).rejects.toMatchObject({
        code: 'checkpoint_invalid',
      })
    }
    await session.train(copies(8, 'y'))
    expect(await readdir(join(folder, 'good'))).toContain('weights.safetensors')
  })
})

it('does not write weights that are no numbers any more; what was saved before stays', async () => {
  const folder = join(await scratch(), 'kept')
  const learner = await learnerOf({ threads: 1 })
  await learner.save(folder)
  const { next } = sitting(learner)
  // Each step makes the weights a thousand times as large.
  for (let at = 0; at < 20; at++) await learner.optimStep({ learningRate: 10, weightDecay: 100 }, next())
  await expect(learner.save(folder)).rejects.toMatchObject({
    code: 'not_finite',
    message: expect.stringMatching(/was not written: .* is (-?Infinity|NaN)\..*lower learning rate/),
  })
  const kept = await loadEmbedded(folder, { threads: 1 })
  open.push(kept)
  expect(kept.version).toBe(0)
})

describe('samplers of the embedded learner', () => {
  const request = (seed: string): SampleRequest => ({ prompt: Int32Array.of(1, 2), maxTokens: 12, seed })

  it('keep their weights while the learner goes on', async () => {
    const learner = await learnerOf()
    const session = sitting(learner)
    const first = await learner.sampler()
    const before = await first.sample(request('a'))
    for (let at = 0; at < 3; at++) await session.train(copies(16, `${at}`), 1e-2)
    const second = await learner.sampler()
    expect([first.version, second.version]).toEqual([0, 3])
    expect(await first.sample(request('a'))).toEqual(before)
    const both = await Promise.all([first.sample(request('a')), second.sample(request('a'))])
    expect(both[0]).toEqual(before)
    expect(both[1].version).toBe(3)
    expect(both[1].logprobs).not.toEqual(before.logprobs)
  })

  it('sample the same beside training as alone', async () => {
    const learner = await learnerOf()
    const sampler = await learner.sampler()
    const alone = await Promise.all(Array.from({ length: 30 }, (_, at) => sampler.sample(request(`${at}`))))
    const session = sitting(learner)
    const training = (async () => {
      for (let at = 0; at < 10; at++) await session.train(copies(16, `${at}`))
    })()
    const beside = await Promise.all(Array.from({ length: 30 }, (_, at) => sampler.sample(request(`${at}`))))
    await training
    expect(beside).toEqual(alone)
  })

  it('hold a bounded number of versions, and give them back', async () => {
    const learner = await learnerOf({ threads: 1 })
    const session = sitting(learner)
    const samplers = []
    for (let at = 0; at < 17; at++) {
      samplers.push(await learner.sampler())
      if (at < 16) await learner.optimStep({ learningRate: 1e-3 }, session.next())
    }
    // The 17th is of the learner's own weights; a step would need one place more.
    const operation = session.next()
    await expect(learner.optimStep({ learningRate: 1e-3 }, operation)).rejects.toMatchObject({
      code: 'samplers_exhausted',
    })
    expect(learner.version).toBe(16)
    await samplers[3]!.close()
    await learner.optimStep({ learningRate: 1e-3 }, operation)
    expect(learner.version).toBe(17)
  })

  it('use no more memory the longer it goes on', async () => {
    const learner = await learnerOf({ microBatch: 64 })
    const session = sitting(learner)
    const round = async (at: number): Promise<void> => {
      await session.train(copies(200, `${at}`))
      const sampler = await learner.sampler()
      await sampler.sample(request('x'))
      await sampler.close()
    }
    for (let at = 0; at < 3; at++) await round(at)
    const before = learner['memory'].memory.buffer.byteLength
    for (let at = 3; at < 20; at++) await round(at)
    expect(learner['memory'].memory.buffer.byteLength).toBe(before)
  })
})

describe('threads of the embedded learner', () => {
  it('fail what was asked when one of them is lost, and what is asked afterwards', async () => {
    const learner = await learnerOf()
    const sampler = await learner.sampler()
    const asked = [
      ...Array.from({ length: 8 }, (_, at) =>
        sampler.sample({ prompt: Int32Array.of(1), maxTokens: 20, seed: `${at}` }),
      ),
      learner.forward(copies(3000, 'x')),
    ]
    const settled = Promise.allSettled(asked)
    await learner['threads']['workers'][1]!.terminate()
    expect((await settled).at(-1)).toMatchObject({ status: 'rejected', reason: { code: 'engine_failed' } })
    await expect(learner.forward(copies(1, 'x'))).rejects.toMatchObject({ code: 'engine_failed' })
    await expect(sampler.sample({ prompt: Int32Array.of(1), maxTokens: 5, seed: 'x' })).rejects.toMatchObject(
      {
        code: 'engine_failed',
      },
    )
    await sampler.close()
  })

  it('fail what is in flight when the learner is closed', async () => {
    const learner = await learnerOf()
    const sampler = await learner.sampler()
    const asked = Promise.allSettled([
      learner.forward(copies(3000, 'x')),
      sampler.sample({ prompt: Int32Array.of(1), maxTokens: 20, seed: 'x' }),
    ])
    await learner.close()
    for (const outcome of await asked) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'engine_closed' } })
    }
    await expect(learner.forward(copies(1, 'x'))).rejects.toMatchObject({ code: 'engine_closed' })
    await learner.close()
  })

  it('do not keep a process that forgot to close it', async () => {
    const script = `
      import { createEmbedded } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
      const shape = ${JSON.stringify(shape)}
      const learner = await createEmbedded({ shape, seed: 'a', threads: 2 })
      const { logprobs } = await learner.forward([{ input: Int32Array.of(1), target: Int32Array.of(2) }])
      console.log(logprobs.length)`
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '-e', script])
    expect(stdout.trim()).toBe('1')
  })
})
