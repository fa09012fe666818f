import { createRng, QuintainError } from '../../core/index.ts'
import { checkData } from '../datum.ts'
import type { Datum, EngineCapabilities, SampledSequence, SampleRequest, Sampler } from '../engine.ts'
import { keyOf, logSumExp, type Row, scored } from './table.ts'

/** Samples from the rows of a table, which nobody changes any more. */
export class TableSampler implements Sampler {
  readonly version: number
  readonly capabilities: EngineCapabilities
  private readonly logits: ReadonlyMap<string, Row>
  private readonly order: number
  private closed = false

  constructor(
    logits: ReadonlyMap<string, Row>,
    order: number,
    version: number,
    capabilities: EngineCapabilities,
  ) {
    this.logits = logits
    this.order = order
    this.version = version
    this.capabilities = capabilities
  }

  async sample(
    request: SampleRequest,
    {
      signal,
      onTokens,
    }: { signal?: AbortSignal; onTokens?: (ids: Int32Array, logprobs: Float32Array) => void } = {},
  ): Promise<SampledSequence> {
    const { prompt, maxTokens, seed, stop = [] } = request
    const { vocabulary, context } = this.capabilities
    signal?.throwIfAborted()
    if (this.closed)
      throw new QuintainError('sampler_closed', 'This sampler was closed. Ask the learner for another.')
    if (prompt.length === 0 || prompt.some((id) => id < 0 || id >= vocabulary)) {
      throw new QuintainError('datum_invalid', `A prompt needs ids, from 0 to ${vocabulary - 1}.`)
    }
    const most = Math.min(maxTokens, context - prompt.length)
    if (most < 1) {
      throw new QuintainError(
        'context_overflow',
        `A prompt of ${prompt.length} tokens leaves no room in a context of ${context}.`,
        { facts: { prompt: prompt.length, context } },
      )
    }
    const rng = createRng(seed)
    const ids = [...prompt]
    const logprobs: number[] = []
    let finish: SampledSequence['finish'] = 'length'
    while (logprobs.length < most) {
      // A reply takes a while, as that of any engine: others go on in between.
      await new Promise(setImmediate)
      signal?.throwIfAborted()
      const logits = this.logits.get(keyOf(ids, ids.length - 1, this.order))
      const id = choose(logits, vocabulary, request, rng.next())
      const logprob = Math.fround((logits?.[id] ?? 0) - logSumExp(logits, vocabulary))
      ids.push(id)
      logprobs.push(logprob)
      onTokens?.(Int32Array.of(id), Float32Array.of(logprob))
      if (stop.includes(id)) {
        finish = 'stop'
        break
      }
    }
    return {
      ids: Int32Array.from(ids.slice(prompt.length)),
      logprobs: Float32Array.from(logprobs),
      finish,
      version: this.version,
    }
  }

  async score(data: readonly Pick<Datum, 'input' | 'target'>[]): Promise<Float32Array[]> {
    checkData(data, this.capabilities)
    return scored(data, this.logits, this.order, this.capabilities.vocabulary).logprobs
  }

  forget(): void {}

  async close(): Promise<void> {
    this.closed = true
  }
}

/** The id that a uniform number from 0 to 1 picks. */
function choose(
  logits: Row | undefined,
  vocabulary: number,
  { temperature = 1, topK = vocabulary, topP = 1 }: SampleRequest,
  uniform: number,
): number {
  const ids = Array.from({ length: vocabulary }, (_, id) => id)
  const logit = (id: number) => logits?.[id] ?? 0
  ids.sort((a, b) => logit(b) - logit(a) || a - b)
  if (temperature === 0) return ids[0]!
  const weights = ids
    .slice(0, Math.max(1, topK))
    .map((id) => Math.exp((logit(id) - logit(ids[0]!)) / temperature))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  let mass = 0
  const last = weights.findIndex((weight) => {
    mass += weight
    return mass >= topP * all
  })
  const kept = last < 0 ? weights : weights.slice(0, last + 1)
  let left = uniform * kept.reduce((sum, weight) => sum + weight, 0)
  const place = kept.findIndex((weight) => {
    left -= weight
    return left < 0
  })
  return ids[place < 0 ? kept.length - 1 : place]!
}
