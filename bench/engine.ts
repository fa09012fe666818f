import { execFile } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createEmbedded, type EmbeddedShape } from 'quintain/train'
import { pythonEnvironment } from '../conformance/python/environment.ts'
import { root } from './doors/servers.ts'
import { ourRates, type Rates, type Work } from './engine/ours.ts'
import { inFreshProcess, moduleBeside } from './fresh-process.ts'
import { type Bench, figure, type Measurement, median, medianOf } from './measurement.ts'
import { inTemporaryFolder } from './run-files.ts'

const rounds = 3
const seconds = 1.5

interface Case {
  name: string
  shape: EmbeddedShape
  threads: number
  sequences: number
  batches: readonly number[]
  /** Least that ours gives, and how many times as much as the peer. */
  aims?: { train: number; sample: number; ahead: number }
}

const large: EmbeddedShape = {
  layers: 4,
  width: 128,
  heads: 4,
  feedForward: 512,
  vocabulary: 32,
  context: 96,
}
const small: EmbeddedShape = {
  layers: 2,
  width: 64,
  heads: 4,
  feedForward: 256,
  vocabulary: 40,
  context: 40,
}
const cases: readonly Case[] = [
  { name: '0.8 M parameters', shape: large, threads: 1, sequences: 32, batches: [32, 128] },
  {
    name: '0.8 M parameters',
    shape: large,
    threads: 2,
    sequences: 32,
    batches: [32, 128],
    aims: { train: 15_000, sample: 30_000, ahead: 1 },
  },
  { name: '0.1 M parameters', shape: small, threads: 2, sequences: 96, batches: [384] },
]

export const bench: Bench = {
  title: 'The embedded engine beside PyTorch on the CPU',
  about:
    'The same network, in fp32 from the same checkpoint, in processes of their own that take turns. Trained: forward, backward, clipping and AdamW over sequences of the whole context (0.8 M parameters: 4 layers, width 128, 32 sequences of 96; 0.1 M: 2 layers, width 64, 96 of 40). ' +
    'Sampled: so many sequences at once from one token to the end of the context, at temperature 1 with log-probabilities. Ours through its public interface, each sequence a request of its own; PyTorch eager, sampling as one batch in inference mode with a cache of keys and values that was made before.',
  async run(progress) {
    const before = loadavg()[0]!
    const folder = join(root, 'conformance/torch')
    const python = await pythonEnvironment(folder, progress)
    const measurements: Measurement[] = []
    for (const each of cases) {
      const found = await inTemporaryFolder((scratch) => play(each, scratch, python, progress))
      measurements.push(...figuresOf(each, found))
    }
    const notes = [`load of the machine before and after: ${figure(before)}, ${figure(loadavg()[0]!)}.`]
    if ('unavailable' in python) notes.push(`PyTorch was not measured: ${python.unavailable}.`)
    return { measurements, notes }
  },
}

interface Found {
  ours: Rates[]
  theirs: Rates[]
}

async function play(
  { name, shape, threads, sequences, batches }: Case,
  scratch: string,
  python: Awaited<ReturnType<typeof pythonEnvironment>>,
  progress: (text: string) => void,
): Promise<Found> {
  const folder = join(scratch, 'policy')
  const learner = await createEmbedded({ shape, seed: 'bench', threads: 1 })
  await learner.save(folder)
  await learner.close()
  const work: Work = { folder, threads, sequences, batches, seconds }
  const found: Found = { ours: [], theirs: [] }
  for (let round = 1; round <= rounds; round++) {
    progress(`${name}, ${threads === 1 ? 'one thread' : `${threads} threads`}, round ${round} of ${rounds}`)
    found.ours.push(await inFreshProcess(moduleBeside('./engine/ours', import.meta.url), ourRates, [work]))
    if (!('unavailable' in python)) found.theirs.push(await torchRates(python.interpreter, work))
  }
  return found
}

async function torchRates(interpreter: string, work: Work): Promise<Rates> {
  const program = join(root, 'bench/engine/peer_torch.py')
  const { stdout } = await promisify(execFile)(interpreter, [program, JSON.stringify(work)], {
    env: { ...process.env, OMP_NUM_THREADS: String(work.threads) },
  })
  return JSON.parse(stdout) as Rates
}

function figuresOf({ name, threads, batches, aims }: Case, { ours, theirs }: Found): Measurement[] {
  const on = `${name}, ${threads === 1 ? 'one thread' : `${threads} threads`}`
  const kinds = ['train', ...batches.map((batch) => `sample${batch}`)]
  return kinds.flatMap((kind) => {
    const isTraining = kind === 'train'
    const what = isTraining ? `trained, ${on}` : `sampled ${kind.slice('sample'.length)} at once, ${on}`
    const rates = (all: readonly Rates[]): number[] => all.map((rate) => rate[kind]!)
    const least = isTraining ? aims?.train : aims?.sample
    const figures = [
      medianOf(what, 'tokens/s', rates(ours), least === undefined ? undefined : { atLeast: least }),
    ]
    if (theirs.length === 0) return figures
    const ahead = isTraining ? undefined : aims?.ahead
    return [
      ...figures,
      medianOf('the same by PyTorch', 'tokens/s', rates(theirs)),
      {
        what: 'ours over PyTorch',
        unit: 'times',
        value: median(rates(ours).map((rate, round) => rate / rates(theirs)[round]!)),
        ...(ahead === undefined ? {} : { aim: { atLeast: ahead } }),
      },
    ]
  })
}
