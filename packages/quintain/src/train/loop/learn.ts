import { randomUUID } from 'node:crypto'
import { QuintainError } from '../../core/index.ts'
import { buildBatch, lossOf, type Minibatch, rowsToScore, type Scores, scoresWanted } from '../batch.ts'
import type { ForwardBackwardResult, Learner, Sampler } from '../engine.ts'
import type { GradedGroup } from '../groups.ts'
import { mergeMetrics } from '../loss-metrics.ts'
import { mostLogRatio } from '../losses-token.ts'
import type { Algorithm, StepRecord } from '../records.ts'
import { meanOf } from './step-record.ts'

/** What a step's optimiser tells of itself. */
export type Learned = Pick<
  StepRecord,
  'trainedTokens' | 'entropy' | 'loss' | 'gradNorm' | 'mismatch' | 'clipped' | 'kl' | 'version'
>

/** A loss or gradient that is no number: which minibatch it was, by its orders. */
export interface BadBatch {
  epoch: number
  minibatch: number
  orders: string[]
}

/**
 * Learns from the groups of a step: minibatches times epochs, an optimiser step each. The numbers of its operations go on
 * from 1 for each sitting of a training.
 */
export class Lessons {
  private readonly learner: Learner
  private readonly algorithm: Algorithm
  private readonly others: { reference?: Sampler; teacher?: Sampler }
  private readonly seed: string
  /** A name of its own, so that the learner refuses whoever trained it before. */
  private readonly run = randomUUID()
  private seq = 0

  constructor(options: {
    learner: Learner
    algorithm: Algorithm
    reference?: Sampler
    teacher?: Sampler
    seed: string
  }) {
    const { learner, algorithm, seed, ...others } = options
    this.learner = learner
    this.algorithm = algorithm
    this.seed = seed
    this.others = others
  }

  /** Forgets the moments of whatever the learner was trained by before. */
  begin(): Promise<void> {
    return this.learner.resetOptimiser(this.operation())
  }

  /**
   * One step. Throws `not_finite` with `facts.batch` (a `BadBatch`) and `facts.updates`, the optimiser steps that were made
   * before it: with none of them the learner is as it was.
   */
  async learn(step: number, groups: readonly GradedGroup[], learningRate: number): Promise<Learned> {
    const { learner, algorithm } = this
    const scores = await this.scores(groups)
    const batches = buildBatch(groups, algorithm, { ...scores, seed: `${this.seed}/minibatches/${step}` })
    const loss = lossOf(algorithm)
    const { learningRate: _, decayTo: __, ...adam } = algorithm.adam
    const results: ForwardBackwardResult[] = []
    const norms: number[] = []
    let mismatch: StepRecord['mismatch'] = null
    for (let epoch = 0; epoch < algorithm.epochs; epoch++) {
      for (const [minibatch, batch] of batches.entries()) {
        try {
          const result = await learner.forwardBackward(batch.data, loss, this.operation())
          const { gradNorm } = await learner.optimStep({ ...adam, learningRate }, this.operation())
          results.push(result)
          norms.push(gradNorm)
          mismatch ??= mismatchOf(batch, result)
        } catch (thrown) {
          throw withBatch(thrown, { epoch, minibatch, orders: ordersOf(batch) }, norms.length)
        }
      }
    }
    const metrics = mergeMetrics(results.map((result) => result.metrics))
    const perEpoch = results.slice(0, batches.length)
    return {
      trainedTokens: batches.reduce((sum, { tokens }) => sum + tokens, 0),
      entropy: entropyOf(batches, perEpoch),
      loss: meanOf(results.map((result) => result.loss)),
      gradNorm: meanOf(norms),
      mismatch,
      clipped: ratioOf(metrics, 'clipped:sum', 'tokens:sum'),
      kl: ratioOf(metrics, 'kl:sum', 'kl_tokens:sum'),
      version: learner.version,
    }
  }

  private operation() {
    // A failed operation was not made, and a training ends with it, so that no number is used twice.
    return { run: this.run, seq: ++this.seq, version: this.learner.version }
  }

  private async scores(groups: readonly GradedGroup[]): Promise<Scores> {
    const wanted = scoresWanted(this.algorithm)
    if (wanted.length === 0) return {}
    const rows = rowsToScore(groups, this.algorithm)
    const scores: Scores = {}
    for (const who of wanted) {
      scores[who] =
        who === 'learner' ? (await this.learner.forward(rows)).logprobs : await this.score(who, rows)
    }
    return scores
  }

  private score(who: 'reference' | 'teacher', rows: ReturnType<typeof rowsToScore>): Promise<Float32Array[]> {
    const sampler = this.others[who]
    if (sampler !== undefined) return sampler.score(rows)
    throw new QuintainError(
      'options_invalid',
      `The algorithm wants a ${who}, and there is none. Give its sampler.`,
      {
        facts: { who },
      },
    )
  }
}

/**
 * How the sampler and the learner differ in the first minibatch, which the learner sees with the weights that it had before
 * the step.
 */
function mismatchOf(
  { data, sampled }: Minibatch,
  { logprobs }: ForwardBackwardResult,
): StepRecord['mismatch'] {
  let [sum, squares, most, tokens] = [0, 0, 0, 0]
  for (const [at, { weights }] of data.entries()) {
    const [own, theirs] = [logprobs[at]!, sampled[at]!]
    for (let t = 0; t < own.length; t++) {
      if (weights?.[t] === 0) continue
      const difference = theirs[t]! - own[t]!
      sum += difference
      squares += difference * difference
      most = Math.max(most, Math.abs(difference))
      tokens++
    }
  }
  if (tokens === 0) return null
  return { k1: sum / tokens, k2: squares / tokens / 2, maxRatio: Math.exp(Math.min(most, mostLogRatio)) }
}

/** Nats a trained token, over the first epoch; null where the engine does not say it. */
function entropyOf(batches: readonly Minibatch[], results: readonly ForwardBackwardResult[]): number | null {
  let [sum, tokens] = [0, 0]
  for (const [at, { data }] of batches.entries()) {
    const entropies = results[at]?.entropies
    if (entropies === undefined) return null
    for (const [nth, { weights }] of data.entries()) {
      for (let t = 0; t < entropies[nth]!.length; t++) {
        if (weights?.[t] === 0) continue
        sum += entropies[nth]![t]!
        tokens++
      }
    }
  }
  return tokens === 0 ? null : sum / tokens
}

function ordersOf({ origins }: Minibatch): string[] {
  return [...new Set(origins.map(({ order }) => order))]
}

function withBatch(thrown: unknown, batch: BadBatch, updates: number): unknown {
  if (!QuintainError.isInstance(thrown) || thrown.code !== 'not_finite') return thrown
  return new QuintainError('not_finite', thrown.message, {
    cause: thrown,
    facts: { ...thrown.facts, batch, updates },
  })
}

function ratioOf(metrics: Readonly<Record<string, number>>, part: string, whole: string): number | null {
  const [some, all] = [metrics[part], metrics[whole]]
  return some === undefined || all === undefined || all === 0 ? null : some / all
}
