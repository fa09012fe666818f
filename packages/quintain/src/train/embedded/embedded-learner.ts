import { QuintainError } from '../../core/errors.ts'
import { checkData } from '../datum.ts'
import type {
  AdamParams,
  Datum,
  EngineCapabilities,
  ForwardBackwardResult,
  Learner,
  LossFunction,
  LossSpec,
  ModelShape,
  Operation,
  OptimStepResult,
  Sampler,
} from '../engine.ts'
import { writeEngineState } from '../engine-state.ts'
import { mergeMetrics } from '../loss-metrics.ts'
import { resolveLoss } from '../losses.ts'
import { OperationLog } from '../operations.ts'
import { stepNumbers } from './adam-numbers.ts'
import { EngineMemory, type Room } from './engine-memory.ts'
import { EngineThreads } from './engine-threads.ts'
import { lanesFor } from './gradient-lanes.ts'
import { type LearnerState, readLearnerState, stateToWrite } from './learner-state.ts'
import { microBatches, tokensOf } from './micro-batches.ts'
import { EmbeddedSampler } from './sampling/embedded-sampler.ts'
import { type EmbeddedShape, modelShape } from './shape.ts'
import { ThreadBatches } from './thread-batches.ts'
import { type LaneShare, type Scores, scoreShare, trainShare } from './train-share.ts'
import { type HeldCopy, WeightsCopies } from './weights-copies.ts'

/** Versions of the weights that samplers may hold beside the learner's own. */
const mostCopies = 16

interface Results {
  forward_backward: ForwardBackwardResult
  optim_step: OptimStepResult
  reset_optimiser: undefined
}

/**
 * A small transformer that trains and samples on threads of this process. Operations are carried out one after the other;
 * sampling goes on beside them, with the weights that its sampler was made of. Equal operations give equal bits, on any number
 * of threads. `close` it, or its threads end with the process.
 */
export class EmbeddedLearner implements Learner {
  readonly capabilities: EngineCapabilities
  readonly model: ModelShape
  private readonly shape: EmbeddedShape
  private readonly room: Room
  private readonly memory: EngineMemory
  private readonly threads: EngineThreads
  private readonly batches: readonly ThreadBatches[]
  private readonly copies: WeightsCopies
  private readonly log = new OperationLog<Results>()
  /** What is computed, one thing after the other. */
  private tail: Promise<unknown> = Promise.resolve()
  private steps = 0
  private momentSteps = 0
  /** Of each lane: whether its gradient holds something. */
  private gathered: boolean[]
  private current: HeldCopy

  private constructor(shape: EmbeddedShape, room: Room) {
    this.shape = shape
    this.room = room
    this.model = modelShape(shape)
    this.capabilities = {
      name: 'embedded',
      losses: 'any',
      entropy: true,
      deterministic: true,
      context: shape.context,
      vocabulary: shape.vocabulary,
    }
    this.memory = new EngineMemory(shape, room)
    this.copies = new WeightsCopies(this.memory, mostCopies)
    this.current = this.copies.take(0)
    this.gathered = this.memory.places.lanes.map(() => false)
    this.threads = new EngineThreads({ memory: this.memory, shape, room })
    this.batches = Array.from(
      { length: room.threads },
      (_, thread) => new ThreadBatches(this.memory, thread, room.tokens),
    )
  }

  /** A learner in this state, which is copied. */
  static async open(shape: EmbeddedShape, room: Room, state: LearnerState): Promise<EmbeddedLearner> {
    const learner = new EmbeddedLearner(shape, room)
    try {
      await learner.take(state)
      return learner
    } catch (error) {
      await learner.close()
      throw error
    }
  }

  get version(): number {
    return this.steps
  }

  forwardBackward(
    data: readonly Datum[],
    loss: LossSpec | LossFunction,
    operation: Operation,
  ): Promise<ForwardBackwardResult> {
    return this.operate('forward_backward', operation, async () => {
      const compute = resolveLoss(loss)
      checkData(data, this.capabilities)
      return await this.gather(data, compute)
    })
  }

  forward(
    data: readonly Pick<Datum, 'input' | 'target'>[],
  ): Promise<Pick<ForwardBackwardResult, 'logprobs' | 'entropies'>> {
    return this.inTurn(() => this.score(data, this.current.offset))
  }

  optimStep(adam: AdamParams, operation: Operation): Promise<OptimStepResult> {
    return this.operate('optim_step', operation, () => this.step(adam))
  }

  resetOptimiser(operation: Operation): Promise<void> {
    return this.operate('reset_optimiser', operation, async () => {
      this.forgetMoments()
      return undefined
    })
  }

  /** What was gathered of a gradient is not saved: save after a step. */
  async save(folder: string): Promise<void> {
    const state = await this.inTurn(async () => ({
      version: this.steps,
      weights: Float32Array.from(this.weights),
      optimiser: {
        first: Float32Array.from(this.moments.first),
        second: Float32Array.from(this.moments.second),
        momentSteps: this.momentSteps,
      },
    }))
    await writeEngineState(folder, stateToWrite(this.shape, state))
  }

  /** Takes up weights and, unless `optimiser` is false, moments; a gradient that was gathered is forgotten. */
  async load(folder: string, { optimiser = true }: { optimiser?: boolean } = {}): Promise<void> {
    const state = await readLearnerState(folder, this.shape, { optimiser })
    await this.inTurn(() => this.take(state))
  }

  /** Throws `samplers_exhausted` where samplers of too many versions are open. */
  sampler(): Promise<Sampler> {
    return this.inTurn(async () => {
      const weights = this.copies.share(this.current)
      return new EmbeddedSampler({
        dispatch: this.threads.dispatch,
        weights,
        capabilities: this.capabilities,
        score: (data) => this.inTurn(async () => (await this.score(data, weights.offset)).logprobs),
      })
    })
  }

  /** What is in flight fails with `engine_closed`. */
  close(): Promise<void> {
    return this.threads.close()
  }

  private operate<Kind extends keyof Results>(
    kind: Kind,
    operation: Operation,
    work: () => Promise<Results[Kind]>,
  ): Promise<Results[Kind]> {
    return this.log.take(
      kind,
      operation,
      () => this.steps,
      () => this.inTurn(work),
    )
  }

  private inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.tail.then(work)
    // A failure is the caller's; the next in line must come all the same.
    this.tail = turn.catch(() => undefined)
    return turn
  }

  private async score(data: readonly Pick<Datum, 'input' | 'target'>[], packed: number): Promise<Scores> {
    checkData(data, this.capabilities)
    const scores: Scores = { logprobs: [], entropies: [] }
    const shares = microBatches(data, this.room.threads, this.room.tokens)
    await allSettled(
      shares.map((parts, thread) =>
        scoreShare(
          { threads: this.threads, thread, batches: this.batches[thread]!, data, packed, scores },
          parts,
        ),
      ),
    )
    return scores
  }

  private async gather(data: readonly Datum[], loss: LossFunction): Promise<ForwardBackwardResult> {
    const scores: Scores = { logprobs: [], entropies: [] }
    const before = this.keepGradient()
    const shares = microBatches(data, lanesFor(tokensOf(data), this.gathered.length), this.room.tokens)
    const lanes = shares.map((parts, lane): LaneShare => {
      const fresh = !this.gathered[lane]
      if (parts.length > 0) this.gathered[lane] = true
      return { lane, fresh, parts, values: [] }
    })
    try {
      await allSettled(
        this.batches.map((batches, thread) =>
          trainShare(
            {
              threads: this.threads,
              thread,
              batches,
              data,
              packed: this.current.offset,
              scores,
              loss,
            },
            lanes.filter(({ lane }) => lane % this.room.threads === thread),
          ),
        ),
      )
    } catch (error) {
      before.restore()
      throw error
    }
    const values = lanes.flatMap((lane) => lane.values)
    return {
      loss: values.reduce((sum, value) => sum + value.loss, 0),
      logprobs: scores.logprobs,
      entropies: scores.entropies,
      metrics: mergeMetrics(values.map(({ metrics }) => metrics)),
    }
  }

  /** Gradients of what was gathered before, so that an operation that fails can leave them so. */
  private keepGradient(): { restore(): void } {
    const gathered = [...this.gathered]
    const kept = gathered.map((has, lane) => (has ? Float32Array.from(this.gradientOf(lane)) : undefined))
    return {
      restore: () => {
        this.gathered = gathered
        for (const [lane, own] of kept.entries()) if (own !== undefined) this.gradientOf(lane).set(own)
      },
    }
  }

  private async take({ version, weights, optimiser }: LearnerState): Promise<void> {
    const next = this.copies.after(this.current, version)
    this.weights.set(weights)
    if (optimiser === undefined) this.forgetMoments()
    else {
      this.moments.first.set(optimiser.first)
      this.moments.second.set(optimiser.second)
      this.momentSteps = optimiser.momentSteps
    }
    this.steps = version
    this.gathered = this.gathered.map(() => false)
    this.goOnTo(next)
    await this.threads.askAll({ kind: 'pack', packed: next.offset })
  }

  private forgetMoments(): void {
    this.moments.first.fill(0)
    this.moments.second.fill(0)
    this.momentSteps = 0
  }

  private async step(adam: AdamParams): Promise<OptimStepResult> {
    const numbers = stepNumbers(adam, this.momentSteps + 1)
    const lanes = this.gathered.flatMap((has, lane) => (has ? [lane] : []))
    if (lanes.length === 0) {
      this.gradientOf(0).fill(0)
      lanes.push(0)
    }
    const next = this.copies.after(this.current, this.steps + 1)
    const gradNorm = await this.threads.askAll({ kind: 'step', numbers, lanes, packed: next.offset })
    this.gathered = this.gathered.map(() => false)
    if (!Number.isFinite(gradNorm)) {
      this.copies.discard(next, this.current)
      throw new QuintainError(
        'not_finite',
        'The gradient is no number, or past what an optimiser can hold, and was thrown away; the weights are as they were. Lower the learning rate, or look at the batch.',
        { facts: { version: this.steps } },
      )
    }
    this.steps++
    this.momentSteps++
    this.goOnTo(next)
    return { gradNorm, version: this.steps }
  }

  private goOnTo(next: HeldCopy): void {
    this.copies.discard(this.current, next)
    this.current = next
  }

  private get weights(): Float32Array {
    return this.memory.floats(this.memory.places.weights, this.memory.parameters)
  }

  private get moments(): { first: Float32Array; second: Float32Array } {
    const { m, v } = this.memory.places
    const { parameters } = this.memory
    return { first: this.memory.floats(m, parameters), second: this.memory.floats(v, parameters) }
  }

  private gradientOf(lane: number): Float32Array {
    return this.memory.floats(this.memory.places.lanes[lane]!, this.memory.parameters)
  }
}

/** Waits for all, also where some fail; then throws what the first of those threw. */
async function allSettled<Result>(promises: readonly Promise<Result>[]): Promise<Result[]> {
  const outcomes = await Promise.allSettled(promises)
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
