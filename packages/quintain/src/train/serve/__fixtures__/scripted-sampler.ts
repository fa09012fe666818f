import { setImmediate as later } from 'node:timers/promises'
import { QuintainError } from '../../../core/index.ts'
import type { SampledSequence, SampleRequest, Sampler } from '../../engine.ts'
import { renderer } from './byte-tokens.ts'

/** A sampler that says what it is told to, a token a turn of the loop, and keeps what it was asked. */
export interface ScriptedSampler extends Sampler {
  readonly requests: SampleRequest[]
  readonly forgotten: string[]
  readonly closed: boolean
  /** Replies that were cut off. */
  readonly aborted: number
  /** While it is held, no token is sampled. */
  hold(): () => void
}

/** `says`: the ids of the reply to a prompt; cut at the most that were asked for. */
export function scriptedSampler(
  says: (request: SampleRequest) => readonly number[],
  { version = 0, context = 256 } = {},
): ScriptedSampler {
  const requests: SampleRequest[] = []
  const forgotten: string[] = []
  let held: PromiseWithResolvers<void> | undefined
  let closed = false
  let aborted = 0

  async function sample(
    request: SampleRequest,
    { signal, onTokens }: Parameters<Sampler['sample']>[1] = {},
  ): Promise<SampledSequence> {
    requests.push(request)
    const planned = says(request)
    const ids: number[] = []
    const logprobs: number[] = []
    for (const id of planned.slice(0, request.maxTokens)) {
      await held?.promise
      await later()
      if (signal?.aborted) {
        aborted += 1
        throw signal.reason
      }
      if (closed) throw new QuintainError('sampler_closed', 'The sampler was closed.')
      const logprob = Math.fround(-0.25 * (ids.length + 1))
      ids.push(id)
      logprobs.push(logprob)
      onTokens?.(Int32Array.of(id), Float32Array.of(logprob))
      if (request.stop?.includes(id)) break
    }
    const ended = request.stop?.includes(ids.at(-1) ?? -1) ? 'stop' : 'length'
    return { ids: Int32Array.from(ids), logprobs: Float32Array.from(logprobs), finish: ended, version }
  }

  return {
    version,
    capabilities: {
      name: 'scripted',
      losses: [],
      entropy: false,
      deterministic: true,
      context,
      vocabulary: renderer.vocabulary,
    },
    requests,
    forgotten,
    get closed() {
      return closed
    },
    get aborted() {
      return aborted
    },
    sample,
    score: async (data) => data.map(({ target }) => new Float32Array(target.length)),
    forget: (session) => void forgotten.push(session),
    hold() {
      const gate = Promise.withResolvers<void>()
      held = gate
      return () => {
        held = undefined
        gate.resolve()
      }
    },
    async close() {
      closed = true
    },
  }
}
