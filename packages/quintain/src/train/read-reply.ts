import { type AssistantMessage, textOf } from '../core/message.ts'
import type { ModelContext, ToolSpec } from '../core/model.ts'
import type { ReplyDelta } from '../core/wire.ts'
import type { SampledSequence, SampleRequest, Sampler } from './engine.ts'
import { GrowingReply } from './growing-reply.ts'
import type { Renderer } from './renderer.ts'
import { sampleReply } from './sample-reply.ts'

/** A reply as it was sampled and as it is said. */
export interface Reply extends SampledSequence {
  message: AssistantMessage
  flags: string[]
  /** Tells what was not told of it, and waits for the one who is told. */
  tell(message: AssistantMessage): Promise<void>
}

/**
 * Samples a reply and reads it: it ends at a text that is to end it, which it does not say, and `onDelta` is told its text as
 * it grows. Throws what the sampler throws.
 */
export async function readReply(
  sampler: Sampler,
  request: SampleRequest,
  options: {
    renderer: Renderer
    stop: readonly string[]
    tools: readonly ToolSpec[]
    signal: AbortSignal
    onDelta: ModelContext['onDelta']
  },
): Promise<Reply> {
  const { renderer, tools, signal, onDelta } = options
  const stopTexts = options.stop.filter((text) => text !== '')
  const growing = new GrowingReply({
    textOf: (ids) => textOf(renderer.parse(ids).message.content),
    stopTexts,
    stopIds: new Set(renderer.stop),
  })
  const teller = new Teller(onDelta)
  const finish = await sampleReply(sampler, request, {
    reply: growing,
    watchesText: stopTexts.length > 0,
    signal,
    // Where there are tools, text may yet turn out to be a call.
    ...(onDelta === undefined || tools.length > 0 ? {} : { onTokens: () => teller.tellText(growing.said) }),
  })
  const ids = Int32Array.from(growing.ids)
  const { message, flags } = renderer.parse(ids, { tools })
  const cut = growing.stoppedBy
  return {
    ids,
    logprobs: Float32Array.from(growing.logprobs),
    finish,
    version: sampler.version,
    message: cut === undefined ? message : { ...message, content: beforeText(textOf(message.content), cut) },
    // One that ended by the text that was asked for has its end.
    flags: cut === undefined ? flags : flags.filter((flag) => flag !== 'no_end'),
    tell: (whole) => teller.tellRest(whole),
  }
}

function beforeText(text: string, end: string): string {
  const at = text.indexOf(end)
  return at === -1 ? text : text.slice(0, at)
}

/** Tells the pieces of a reply one after the other; who is told may take time. */
class Teller {
  private readonly onDelta: ModelContext['onDelta']
  private told = 0
  private telling: Promise<void> = Promise.resolve()

  constructor(onDelta: ModelContext['onDelta']) {
    this.onDelta = onDelta
  }

  /** Tells what is new of a text that grows. */
  tellText(text: string): void {
    if (text.length <= this.told) return
    this.deliver({ type: 'text', text: text.slice(this.told) })
    this.told = text.length
  }

  async tellRest({ content, toolCalls = [] }: AssistantMessage): Promise<void> {
    if (this.onDelta === undefined) return
    this.tellText(textOf(content))
    for (const [call, { id, name, arguments: text }] of toolCalls.entries()) {
      this.deliver({ type: 'call', call, id, name })
      this.deliver({ type: 'arguments', call, text })
    }
    await this.telling
  }

  private deliver(delta: ReplyDelta): void {
    this.telling = this.telling.then(() => this.onDelta?.(delta))
    // It is thrown where the telling is waited for.
    this.telling.catch(() => {})
  }
}
