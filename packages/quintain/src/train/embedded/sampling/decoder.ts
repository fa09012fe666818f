/** One thread's kernels as a sampler sees them: a cache of keys and values in slots, and rows to compute. */
export interface Decoder {
  readonly vocabulary: number
  /** Positions of a slot. */
  readonly context: number
  /** Sequences whose keys and values are kept at once. */
  readonly slots: number
  /** Most rows of one `decode`. No more sequences than this are sampled at once, so that each moves on in each. */
  readonly maxRows: number
  readonly rows: DecoderRows
  /** From the logits of one wanted row to those of the next; at least `vocabulary`. What is between is not to be read. */
  readonly logitStride: number
  /** Of the wanted rows of the last `decode`, in order. A log-probability is a logit less this, as the learner has it. */
  readonly logSumExp: Float32Array
  /**
   * Computes the first `count` rows with the weights at a place in memory, and keeps their keys and values. The logits of
   * the wanted rows come in order, `logitStride` apart: a view that holds until the next call. What a row gives is the same
   * bits whatever rows are beside it, and whether its earlier positions were computed in this call or in others.
   */
  decode(weights: number, count: number): Float32Array
  /** Copies what a slot keeps of its first `positions` positions to another slot. */
  copy(from: number, to: number, positions: number): void
}

/** Filled before `decode`, `maxRows` long each. Rows of a slot stand in the order of their positions. */
export interface DecoderRows {
  slots: Int32Array
  positions: Int32Array
  tokens: Int32Array
  /** 1 where logits are wanted. */
  wanted: Int32Array
}

/** Weights that stay as they are, for sampling. */
export interface WeightsCopy {
  /** Where they lie, as `decode` takes it. */
  readonly offset: number
  /** Tells them from all other weights of the process: what was cached under another key is computed again. */
  readonly key: number
  readonly version: number
  /** Nobody reads them any more. */
  release(): void
}

/** The threads that sample, as the main thread sees them. Packed work goes out and comes back as it is. */
export interface SamplingThreads {
  readonly count: number
  /** Hands work to the thread's `SamplingThread.receive`; the array is transferred. */
  post(thread: number, work: Float64Array<ArrayBuffer>): void
  /** Whether anything is asked of the threads: the process must not end meanwhile, and may when nothing is. */
  hold(isAsked: boolean): void
}
