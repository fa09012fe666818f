import { randomUUID } from 'node:crypto'
import { createRng, QuintainError } from '../core/index.ts'
import { lossOf } from './batch.ts'
import type { Learner } from './engine.ts'
import { type Example, imitationBatch } from './examples.ts'
import { learningRateAt } from './learning-rate.ts'
import { resolveLoss } from './losses.ts'
import type { Algorithm } from './records.ts'

export interface ImitateOptions {
  learner: Learner
  /** Of a recipe that learns from demonstrations or preferences: `groups` examples a step. */
  algorithm: Algorithm
  examples: readonly Example[]
  /** Times that the examples are gone through, or steps, or seconds of steps; whichever comes first. One time when all are absent. */
  epochs?: number
  steps?: number
  seconds?: number
  /** Of the order of the examples. */
  seed?: string
  /** Examples that are not learned from: their loss is measured before the first step, after the last, and every so often. */
  heldOut?: readonly Example[]
  /** Ends it after the step that is under way; what is held out is measured once more. */
  signal?: AbortSignal
  /** Leaves out that measurement too. */
  hardSignal?: AbortSignal
  onStep?: (step: ImitationStep) => void
}

/** A step of the optimiser, and what was measured. */
export interface ImitationStep {
  /** From 1; 0 is the measurement before the first. */
  step: number
  /** Times that the examples were gone through. */
  epoch: number
  /** Share of the whole that is done, 0 to 1. */
  progress: number
  /** Of the step's examples before it, as the algorithm normalises it: of cross-entropy by tokens, nats a token. Null at step 0. */
  loss: number | null
  gradNorm: number | null
  learningRate: number | null
  /** Of the examples that are held out, where it was measured. */
  heldOut?: number
  /** Seconds of steps so far, measurements left out. */
  elapsedS: number
}

/** What imitation came to. The learner has the weights of the last step. */
export interface ImitationEnd {
  /** `budget`: the seconds were over. */
  reason: 'done' | 'budget' | 'cancelled' | 'not_finite'
  says: string
  steps: number
  epochs: number
  elapsedS: number
  /** Mean over the last tenth of the steps; null without a step. */
  loss: number | null
  /** Loss of what is held out, as the algorithm normalises it. `after` is of the weights at the end, null where that was not measured. */
  heldOut: { before: number; after: number | null } | null
  /** Why, where a loss or a gradient was no number. */
  error?: unknown
}

/** Parts of the whole after which held-out examples are measured. */
const measurements = 10

/**
 * Learns from examples: supervised training on demonstrations (cross-entropy), or on preferences (DPO). Each time the examples
 * are gone through they come in another order, the same for the same seed. The rate falls on a straight line to what the
 * algorithm leaves of it, by steps or by seconds, whichever is nearer its end: only without `seconds` is the result the
 * same each time.
 *
 * A loss or gradient that is no number ends it (`not_finite`) with the weights of the step before, and names the examples.
 * Throws `usage` for no examples, and what the learner throws for examples that it cannot take.
 */
export async function imitate(options: ImitateOptions): Promise<ImitationEnd> {
  const {
    learner,
    algorithm,
    examples,
    seconds,
    seed = '0',
    heldOut = [],
    signal,
    hardSignal,
    onStep,
  } = options
  if (examples.length === 0)
    throw new QuintainError(
      'usage',
      'There is nothing to imitate: no example is left. Give others, or loosen the filters.',
    )
  const perStep = Math.min(algorithm.groups, examples.length)
  const total = stepsOf(options, perStep)
  const loss = lossOf(algorithm)
  const run = `imitate-${randomUUID()}`
  const measure = () => lossOn(learner, algorithm, heldOut, hardSignal)
  const stream = endless(examples, seed)
  const losses: number[] = []
  let [step, seq, elapsedS, measuredAt] = [0, 0, 0, 0]
  const progress = () => Math.min(1, Math.max(step / total, seconds === undefined ? 0 : elapsedS / seconds))
  const epoch = () => (step * perStep) / examples.length

  const before = await measure()
  let latest = { step: 0, loss: before }
  if (before !== null) onStep?.({ ...nothing, step: 0, epoch: 0, progress: 0, heldOut: before, elapsedS: 0 })
  const end = async (
    reason: ImitationEnd['reason'],
    says: string,
    error?: unknown,
  ): Promise<ImitationEnd> => {
    const tail = losses.slice(-Math.max(1, Math.ceil(losses.length / 10)))
    return {
      reason,
      says,
      steps: step,
      epochs: epoch(),
      elapsedS,
      loss: tail.length === 0 ? null : tail.reduce((sum, one) => sum + one, 0) / tail.length,
      heldOut:
        before === null ? null : { before, after: latest.step === step ? latest.loss : await measure() },
      ...(error === undefined ? {} : { error }),
    }
  }
  while (step < total) {
    if (signal?.aborted) return end('cancelled', `stopped after ${step} of ${total} steps`)
    if (seconds !== undefined && elapsedS >= seconds) break
    const start = performance.now()
    const batch = Array.from({ length: perStep }, () => stream.next().value)
    const learningRate = learningRateAt(algorithm.adam, progress())
    const { adam } = algorithm
    let made: { loss: number; gradNorm: number }
    try {
      const { loss: value } = await learner.forwardBackward(imitationBatch(batch, algorithm), loss, {
        run,
        seq: ++seq,
      })
      const { gradNorm } = await learner.optimStep({ ...adam, learningRate }, { run, seq: ++seq })
      made = { loss: value, gradNorm }
    } catch (error) {
      if (!isNotFinite(error)) throw error
      const names = batch.map(({ from }) => from)
      const shown = names.length > 5 ? `${names.slice(0, 5).join(', ')}, …` : names.join(', ')
      return end(
        'not_finite',
        `step ${step + 1} gave no finite number (${error.message}) on ${shown}; the weights are those of step ${step}. A lower learning rate, or look at these examples.`,
        error,
      )
    }
    step++
    elapsedS += (performance.now() - start) / 1000
    losses.push(made.loss)
    if (Math.floor(progress() * measurements) > measuredAt || step === total) {
      measuredAt = Math.floor(progress() * measurements)
      latest = { step, loss: await measure() }
    }
    onStep?.({
      step,
      epoch: epoch(),
      progress: progress(),
      ...made,
      learningRate,
      elapsedS,
      ...(latest.step === step && latest.loss !== null ? { heldOut: latest.loss } : {}),
    })
  }
  if (step < total) return end('budget', `the time was over after ${step} steps`)
  return end('done', `all ${step} steps`)
}

function isNotFinite(thrown: unknown): thrown is QuintainError {
  return QuintainError.isInstance(thrown) && thrown.code === 'not_finite'
}

const nothing = { loss: null, gradNorm: null, learningRate: null }

function stepsOf({ epochs, steps, seconds, examples }: ImitateOptions, perStep: number): number {
  const byEpochs =
    epochs === undefined ? undefined : Math.max(1, Math.round((epochs * examples.length) / perStep))
  const most = Math.min(steps ?? Number.POSITIVE_INFINITY, byEpochs ?? Number.POSITIVE_INFINITY)
  if (most !== Number.POSITIVE_INFINITY) return most
  return seconds === undefined ? Math.max(1, Math.round(examples.length / perStep)) : Number.POSITIVE_INFINITY
}

/** The examples again and again, each time in another order. */
function* endless(examples: readonly Example[], seed: string): Generator<Example, never, undefined> {
  const rng = createRng(`imitate:${seed}`)
  for (let time = 0; ; time++) yield* rng.fork(time).shuffle(examples)
}

/** Examples a forward pass, so that memory is bounded. */
const atOnce = 64

/**
 * The loss of examples under a learner, as the algorithm normalises it; no gradient. Null of no examples, where it is no
 * number, and where the signal says stop.
 */
async function lossOn(
  learner: Learner,
  algorithm: Algorithm,
  examples: readonly Example[],
  signal: AbortSignal | undefined,
): Promise<number | null> {
  if (examples.length === 0) return null
  const loss = resolveLoss(lossOf(algorithm))
  const data = imitationBatch(examples, algorithm)
  const logprobs: Float32Array[] = []
  for (let from = 0; from < data.length; from += atOnce) {
    if (signal?.aborted) return null
    try {
      logprobs.push(...(await learner.forward(data.slice(from, from + atOnce))).logprobs)
    } catch (thrown) {
      if (isNotFinite(thrown)) return null
      throw thrown
    }
  }
  const { loss: value } = loss(data, logprobs)
  return Number.isFinite(value) ? value : null
}
