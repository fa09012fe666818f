import type { SampleRequest, Sampler } from './engine.ts'
import type { GrowingReply } from './growing-reply.ts'

/**
 * Samples a reply into `reply`, until it ends by itself, by its length or by a text. Gives how it ended. `onTokens`: asks to
 * be told when there is more. Throws what the sampler throws.
 */
export async function sampleReply(
  sampler: Sampler,
  request: SampleRequest,
  {
    reply,
    watchesText,
    signal,
    onTokens,
  }: {
    reply: GrowingReply
    /** A text may end the reply. */
    watchesText: boolean
    signal: AbortSignal
    onTokens?: () => void
  },
): Promise<'stop' | 'length'> {
  if (!watchesText && onTokens === undefined) {
    const { ids, logprobs, finish } = await sampler.sample(request, { signal })
    reply.add(ids, logprobs)
    reply.end()
    return finish
  }
  const enough = new AbortController()
  const stop = () => enough.abort(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    const { finish } = await sampler.sample(request, {
      signal: enough.signal,
      onTokens(ids, logprobs) {
        if (reply.add(ids, logprobs)) enough.abort()
        onTokens?.()
      },
    })
    reply.end()
    return reply.stoppedBy === undefined ? finish : 'stop'
  } catch (thrown) {
    if (reply.stoppedBy === undefined || signal.aborted) throw thrown
    reply.end()
    return 'stop'
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
