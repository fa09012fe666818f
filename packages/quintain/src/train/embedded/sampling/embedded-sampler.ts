import { QuintainError } from '../../../core/errors.ts'
import type { EngineCapabilities, SampledSequence, SampleRequest, Sampler } from '../../engine.ts'
import { checkedRequest } from './checked-request.ts'
import type { WeightsCopy } from './decoder.ts'
import type { SamplingDispatch } from './sampling-dispatch.ts'

/** A copy of the embedded engine's weights that samples on its threads. */
export class EmbeddedSampler implements Sampler {
  readonly capabilities: EngineCapabilities
  private readonly dispatch: SamplingDispatch
  private readonly weights: WeightsCopy
  private readonly scoreWith: Sampler['score']
  private scoring = new Set<Promise<unknown>>()
  private closing: Promise<void> | undefined

  /** `score` computes with the same weights; they are released when the sampler is closed and nothing reads them. */
  constructor(options: {
    dispatch: SamplingDispatch
    weights: WeightsCopy
    capabilities: EngineCapabilities
    score: Sampler['score']
  }) {
    this.dispatch = options.dispatch
    this.weights = options.weights
    this.capabilities = options.capabilities
    this.scoreWith = options.score
  }

  get version(): number {
    return this.weights.version
  }

  async sample(
    request: SampleRequest,
    options: { signal?: AbortSignal; onTokens?: (ids: Int32Array, logprobs: Float32Array) => void } = {},
  ): Promise<SampledSequence> {
    if (this.closing !== undefined) throw closed()
    options.signal?.throwIfAborted()
    return await this.dispatch.sample(checkedRequest(request, this.capabilities), this.weights, options)
  }

  async score(data: Parameters<Sampler['score']>[0]): Promise<Float32Array[]> {
    if (this.closing !== undefined) throw closed()
    const scores = this.scoreWith(data)
    this.scoring.add(scores)
    try {
      return await scores
    } finally {
      this.scoring.delete(scores)
    }
  }

  forget(session: string): void {
    this.dispatch.forget(session)
  }

  /** Rejects what is in flight with `sampler_closed`. Closing again waits for the same. */
  close(): Promise<void> {
    this.closing ??= this.end()
    return this.closing
  }

  private async end(): Promise<void> {
    await Promise.allSettled([this.dispatch.withdraw(this.weights, closed()), ...this.scoring])
    this.weights.release()
  }
}

function closed(): QuintainError {
  return new QuintainError('sampler_closed', 'The sampler was closed. Ask the learner for a new one.')
}
