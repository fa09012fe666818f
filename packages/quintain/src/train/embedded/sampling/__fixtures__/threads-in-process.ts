import type { EngineCapabilities, SampledSequence } from '../../../engine.ts'
import type { Decoder, SamplingThreads } from '../decoder.ts'
import { EmbeddedSampler } from '../embedded-sampler.ts'
import { SamplingDispatch } from '../sampling-dispatch.ts'
import { SamplingThread } from '../sampling-thread.ts'

/** Sampling "threads" that take turns on this one, a step for each in a turn of the event loop. */
export function threadsInProcess(decoders: readonly Decoder[]) {
  const messages = { out: 0, back: 0 }
  const held: boolean[] = []
  const running = new Set<number>()
  const silent = new Set<number>()
  const threads: SamplingThreads = {
    count: decoders.length,
    post(thread, work) {
      messages.out++
      if (silent.has(thread)) return
      workers[thread]!.receive(work)
      if (running.has(thread)) return
      running.add(thread)
      const turn = (): void => {
        if (silent.has(thread) || !workers[thread]!.busy) return void running.delete(thread)
        workers[thread]!.step()
        setImmediate(turn)
      }
      setImmediate(turn)
    },
    hold: (isAsked) => void held.push(isAsked),
  }
  const dispatch = new SamplingDispatch(threads)
  const workers = decoders.map(
    (decoder, thread) =>
      new SamplingThread(decoder, (said) => {
        messages.back++
        setImmediate(() => dispatch.receive(thread, said))
      }),
  )
  const { vocabulary, context } = decoders[0]!
  const capabilities: EngineCapabilities = {
    name: 'embedded',
    losses: 'any',
    entropy: true,
    deterministic: true,
    context,
    vocabulary,
  }
  let lastKey = 0
  return {
    dispatch,
    messages,
    workers,
    /** What `hold` was told. */
    held,
    /** The thread says nothing more. */
    silence: (thread: number): void => void silent.add(thread),
    sampler({ weights = 1, version = 0, onRelease = (): void => {} } = {}): EmbeddedSampler {
      return new EmbeddedSampler({
        dispatch,
        weights: { offset: weights, key: ++lastKey, version, release: onRelease },
        capabilities,
        score: () => Promise.resolve([]),
      })
    },
  }
}

/** A sequence as tests compare it. */
export function told({ ids, logprobs, finish, version }: SampledSequence) {
  return { ids: [...ids], logprobs: [...logprobs], finish, version }
}
