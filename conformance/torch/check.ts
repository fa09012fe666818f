// node conformance/torch/check.ts   Trains the embedded engine and the same network in PyTorch from the same weights on the same
// data, and compares log-probabilities, entropies, losses, gradient norms and the weights in the end. Skipped aloud where
// there is no Python or no PyTorch.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { createRng } from '../../packages/quintain/src/core/index.ts'
import { createEmbedded, type EmbeddedShape } from '../../packages/quintain/src/train/embedded/index.ts'
import { pythonEnvironment } from '../python/environment.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const adam = {
  learningRate: 3e-3,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weightDecay: 0.1,
  gradClipNorm: 0.5,
}
const shapes: Record<string, EmbeddedShape> = {
  small: { layers: 2, width: 64, heads: 4, feedForward: 256, vocabulary: 40, context: 48 },
  'odd sizes': { layers: 3, width: 48, heads: 2, feedForward: 72, vocabulary: 29, context: 37 },
  '0.8 M parameters': { layers: 4, width: 128, heads: 4, feedForward: 512, vocabulary: 32, context: 96 },
}
const steps = 6

const step = z.object({
  loss: z.number(),
  gradNorm: z.number(),
  logprobs: z.array(z.number()),
  entropies: z.array(z.number()),
})
const reply = z.object({
  steps: z.array(step),
  farthestWeight: z.number(),
  version: z.string(),
})

/** Largest distances of a shape, by what is compared. */
async function compare(shape: EmbeddedShape, interpreter: string) {
  const scratch = await mkdtemp(join(tmpdir(), 'quintain-torch-'))
  const learner = await createEmbedded({ shape, seed: 'conformance', threads: 2 })
  try {
    const rng = createRng('conformance/torch')
    const from = join(scratch, 'from')
    const trained = join(scratch, 'trained')
    await learner.save(from)
    const batches = Array.from({ length: steps }, () =>
      Array.from({ length: 8 }, () =>
        Array.from({ length: shape.context + 1 }, () => rng.int(shape.vocabulary)),
      ),
    )
    const ours: z.infer<typeof step>[] = []
    let seq = 0
    for (const batch of batches) {
      const data = batch.map((ids) => ({
        input: Int32Array.from(ids.slice(0, -1)),
        target: Int32Array.from(ids.slice(1)),
        weights: new Float32Array(shape.context).fill(1 / (batch.length * shape.context)),
      }))
      const run = 'conformance'
      const {
        loss,
        logprobs,
        entropies = [],
      } = await learner.forwardBackward(data, { name: 'cross_entropy' }, { run, seq: ++seq })
      const { gradNorm } = await learner.optimStep(adam, { run, seq: ++seq })
      ours.push({
        loss,
        gradNorm,
        logprobs: logprobs.flatMap((all) => [...all]),
        entropies: entropies.flatMap((all) => [...all]),
      })
    }
    await learner.save(trained)
    const theirs = await ask(interpreter, { from, trained, adam, batches })
    const far = (what: 'loss' | 'gradNorm' | 'logprobs' | 'entropies'): number =>
      Math.max(
        ...theirs.steps.flatMap((step, at) =>
          [step[what]].flat().map((value, index) => Math.abs(value - [ours[at]![what]].flat()[index]!)),
        ),
      )
    return {
      version: theirs.version,
      distances: {
        'log-probability of a target': far('logprobs'),
        entropy: far('entropies'),
        loss: far('loss'),
        'norm of the gradient': far('gradNorm'),
        [`weight after ${steps} steps of AdamW`]: theirs.farthestWeight,
      },
    }
  } finally {
    await learner.close()
    await rm(scratch, { recursive: true, force: true })
  }
}

async function ask(interpreter: string, request: unknown): Promise<z.infer<typeof reply>> {
  const child = spawn(interpreter, [join(folder, 'agree.py')], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(request))
  const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (code !== 0) throw new Error(`agree.py ended with ${code}`)
  return reply.parse(JSON.parse(printed))
}

/** A weight may be off by what AdamW makes of a gradient that is nearly 0: its sign is a matter of rounding. */
const allowed: Record<string, number> = { weight: adam.learningRate / 10 }
const allowedElse = 1e-4

const environment = await pythonEnvironment(folder, (line) => process.stdout.write(`${line}\n`))
if ('unavailable' in environment) {
  process.stdout.write(`SKIPPED: the engine is not compared with PyTorch: ${environment.unavailable}\n`)
} else {
  let passed = 0
  let failed = 0
  for (const [name, shape] of Object.entries(shapes)) {
    const { version, distances } = await compare(shape, environment.interpreter)
    for (const [what, distance] of Object.entries(distances)) {
      const most = allowed[what.split(' ')[0]!] ?? allowedElse
      const passes = distance <= most
      if (passes) passed++
      else failed++
      process.stdout.write(
        `torch ${version}, ${name}: ${what} at most ${distance.toExponential(1)} apart, ${most} allowed: ${passes ? 'pass' : 'fail'}\n`,
      )
    }
  }
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  if (failed > 0) process.exitCode = 1
}
