import { createRng } from 'quintain'
import { type Datum, loadEmbedded } from 'quintain/train'

/** What is timed, of ours and of the peer. */
export interface Work {
  /** A checkpoint. */
  folder: string
  threads: number
  /** Sequences of the whole context in a training step. */
  sequences: number
  /** Sequences that are sampled at once, from one token to the end of the context. */
  batches: readonly number[]
  /** For each figure. */
  seconds: number
}

/** Tokens a second: `train`, and `sample32` for a batch of 32. */
export type Rates = Record<string, number>

/** The embedded engine through its public interface, on its own threads. */
export async function ourRates({ folder, threads, sequences, batches, seconds }: Work): Promise<Rates> {
  const learner = await loadEmbedded(folder, { threads })
  const { vocabulary, context } = learner.capabilities
  const rng = createRng('bench/engine')
  const ids = (length: number): Int32Array => Int32Array.from({ length }, () => rng.int(vocabulary))
  const rates: Rates = {}
  const sampler = await learner.sampler()
  for (const batch of batches) {
    let round = 0
    rates[`sample${batch}`] = await rate(seconds, batch * (context - 1), async () => {
      round++
      await Promise.all(
        Array.from({ length: batch }, (_, at) =>
          sampler.sample({ prompt: ids(1), maxTokens: context - 1, seed: `${round}/${at}` }),
        ),
      )
    })
  }
  await sampler.close()
  const data: Datum[] = Array.from({ length: sequences }, () => {
    const all = ids(context + 1)
    const weights = new Float32Array(context).fill(1 / (sequences * context))
    return { input: all.slice(0, -1), target: all.slice(1), weights }
  })
  let seq = 0
  rates['train'] = await rate(seconds, sequences * context, async () => {
    await learner.forwardBackward(data, { name: 'cross_entropy' }, { run: 'bench', seq: ++seq })
    await learner.optimStep({ learningRate: 1e-4, gradClipNorm: 1 }, { run: 'bench', seq: ++seq })
  })
  await learner.close()
  return rates
}

async function rate(seconds: number, tokens: number, run: () => Promise<void>): Promise<number> {
  // The first runs are of code that is not compiled as well as it will be.
  for (let warm = 0; warm < 3; warm++) await run()
  const began = performance.now()
  let done = 0
  while (performance.now() - began < seconds * 1000) {
    await run()
    done += tokens
  }
  return (done * 1000) / (performance.now() - began)
}
