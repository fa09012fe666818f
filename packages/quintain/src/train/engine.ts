/**
 * What trains a policy, in the operations of Tinker, so that a server that speaks its wire is an adapter: sample, forward
 * and backward over datums, a step of the optimiser, save and load. Whatever normalises a loss does it by scaling the
 * weights and advantages of the datums: an engine sums.
 */

/**
 * A sequence to train on, aligned to the next token: `input` is ids[0..n-1], `target` is ids[1..n], and every other array
 * has the length of `target`. What is not trained on has weight or advantage 0. `logprobs` are those that the sampler
 * gave, at temperature 1; they mean nothing where the advantage is 0.
 */
export interface Datum {
  input: Int32Array
  target: Int32Array
  /** Of cross-entropy. */
  weights?: Float32Array
  /** Of policy-gradient losses, already divided by whatever the batch is normalised by. */
  advantages?: Float32Array
  logprobs?: Float32Array
  /** Of a reference policy or a teacher, where a loss wants them. */
  reference?: Float32Array
  /** Datums that a loss must see together, such as the two of a preference, stand side by side and share this. */
  unit?: number
}

/** A loss by name, with its numbers: data, so that it can be recorded and sent. Names and numbers are those of `losses`. */
export interface LossSpec {
  name: string
  config?: Readonly<Record<string, number>>
}

/** What a loss says of datums whose target log-probabilities are known. */
export interface LossValue {
  /** Sum over the datums. */
  loss: number
  /** dLoss/dlogprob, for each datum as long as its target. */
  gradients: Float32Array[]
  /** Sums and counts, by name with a reducer as Tinker has it: `ratio:max`, `clipped:sum`. */
  metrics: Record<string, number>
}

/** Computes a loss from the log-probabilities of the targets under the learner. Whole units at a time. */
export type LossFunction = (data: readonly Datum[], logprobs: readonly Float32Array[]) => LossValue

/**
 * What every operation that changes a learner carries. `seq` begins at 1 and counts the operations of the learner; the
 * last one repeated is answered as it was, any other that is not the next is refused (`operation_out_of_order`).
 * `version`: the optimiser steps that the learner must have made; another number is refused (`version_mismatch`).
 */
export interface Operation {
  run: string
  seq: number
  version?: number
}

export interface ForwardBackwardResult {
  /** Sum over the datums. */
  loss: number
  /** Under the learner before the step, for each datum as long as its target. */
  logprobs: Float32Array[]
  /** Entropy in nats of the distribution at each target, where the engine says it. */
  entropies?: Float32Array[]
  metrics: Record<string, number>
}

/** As AdamW has them. Defaults are the engine's own, which `capabilities` names. */
export interface AdamParams {
  learningRate: number
  beta1?: number
  beta2?: number
  eps?: number
  weightDecay?: number
  /** Largest norm of the whole gradient; absent or 0 is no bound. */
  gradClipNorm?: number
}

export interface OptimStepResult {
  /** Of the gradient before it was clipped. */
  gradNorm: number
  /** Optimiser steps of the learner, this one counted. */
  version: number
}

export interface EngineCapabilities {
  /** `embedded`, `table` (of tests), `tinker`. */
  name: string
  /** Losses that it computes itself; `any` when a function is taken. */
  losses: 'any' | readonly string[]
  entropy: boolean
  /** Equal operations give equal bits, whatever is in flight beside them. */
  deterministic: boolean
  /** Most tokens of a sequence. */
  context: number
  vocabulary: number
}

/** A policy in training: the weights, the gradient that was gathered since the last step, and the optimiser's state. */
export interface Learner {
  readonly capabilities: EngineCapabilities
  /** Optimiser steps so far. */
  readonly version: number
  /** What the model is, for records: shape, parameters. Two learners of one shape take each other's checkpoints. */
  readonly model: ModelShape

  /**
   * Adds the gradient of a loss to what was gathered. Throws `datum_invalid` (lengths, ids outside the vocabulary, more than
   * the context, nothing at all) before anything is computed, and `not_finite` when the loss or a log-probability is no
   * number: the gradient is then as it was before.
   */
  forwardBackward(
    data: readonly Datum[],
    loss: LossSpec | LossFunction,
    operation: Operation,
  ): Promise<ForwardBackwardResult>
  /** The same without a gradient; log-probabilities of the targets. */
  forward(data: readonly Datum[]): Promise<Pick<ForwardBackwardResult, 'logprobs' | 'entropies'>>
  /** Steps, and forgets the gradient. Throws `not_finite` for a gradient that is no number: weights are as they were. */
  optimStep(adam: AdamParams, operation: Operation): Promise<OptimStepResult>
  /** Forgets the optimiser's moments, as between warm start and reinforcement. */
  resetOptimiser(operation: Operation): Promise<void>
  /** Writes weights, optimiser and version to a folder, all or nothing. Throws `disk_full`, `output_io`. */
  save(folder: string): Promise<void>
  /** Takes up what `save` wrote. Throws `checkpoint_invalid` (torn, or of another shape), and then is as it was. */
  load(folder: string, options?: { optimiser?: boolean }): Promise<void>
  /** What samples with the weights as they are now; earlier samplers keep theirs until they are closed. */
  sampler(): Promise<Sampler>
  close(): Promise<void>
}

export interface ModelShape {
  kind: string
  parameters: number
  /** Layers, width, heads, feed-forward width, vocabulary, context: whatever makes checkpoints fit. */
  sizes: Readonly<Record<string, number>>
}

export interface SampleRequest {
  prompt: Int32Array
  /** Most tokens to sample; never past the context. */
  maxTokens: number
  /** 1 when absent; 0 is greedy. */
  temperature?: number
  topK?: number
  topP?: number
  /** Ids that end a sequence; the one that did is part of the output. */
  stop?: readonly number[]
  /** The same seed and weights give the same tokens, whatever else is sampled at the time. */
  seed: string
  /** Names a conversation, so that what its earlier prompts hold is not computed again. */
  session?: string
}

export interface SampledSequence {
  ids: Int32Array
  /** At temperature 1 and without cuts, whatever the tokens were sampled with. */
  logprobs: Float32Array
  finish: 'stop' | 'length'
  /** Weights that sampled it: a reply keeps those with which it began. */
  version: number
}

/** Weights that sample. */
export interface Sampler {
  readonly version: number
  readonly capabilities: EngineCapabilities
  /**
   * Throws `datum_invalid` for ids outside the vocabulary or no prompt, `context_overflow` for a prompt that leaves no room
   * for one token, and the signal's reason when it is aborted. `onTokens` is told each token as it is sampled.
   */
  sample(
    request: SampleRequest,
    options?: { signal?: AbortSignal; onTokens?: (ids: Int32Array, logprobs: Float32Array) => void },
  ): Promise<SampledSequence>
  /** Log-probabilities of targets: a reference policy, or a teacher. */
  score(data: readonly Pick<Datum, 'input' | 'target'>[]): Promise<Float32Array[]>
  /** A conversation is over: what was kept of it may go. */
  forget(session: string): void
  close(): Promise<void>
}
