import { messageOf, QuintainError } from '../core/errors.ts'
import {
  type Model,
  type ModelContext,
  ModelFault,
  type ModelRequest,
  type ModelResponse,
} from '../core/model.ts'
import { cancelled } from '../models/fault.ts'
import { uniqueCallId } from '../models/index.ts'
import type { SampleRequest, Sampler } from './engine.ts'
import { HeldConversations, repliesIn } from './held-conversations.ts'
import { type Reply, readReply } from './read-reply.ts'
import type { Renderer } from './renderer.ts'

/** A policy in a seat. */
export interface PolicyModel extends Model {
  /** Of the weights that the next call is answered with. */
  readonly version: number
  /**
   * Answers with other weights from the next call on; replies in flight keep those with which they began. Settles when
   * none of them is left, so that the earlier sampler may be closed.
   */
  use(sampler: Sampler): Promise<void>
}

export interface PolicyModelOptions {
  sampler: Sampler
  renderer: Renderer
  /** For records; `embedded` when absent. */
  id?: string
  /** Part of the seed of each reply, beside task, repeat, seat, version and the number of the call. */
  seed?: string | number
  /** Where a request does not say it: 1, and as many as the context holds. */
  temperature?: number
  maxTokens?: number
  /** Conversations whose tokens are kept, so that they go on without being rendered again. */
  conversations?: number
}

/**
 * A sampler and a renderer as a model. What a conversation of an attempt's seat said is kept as ids: a request that goes on
 * from it is prompted with those and what was added; one whose history is another is rendered anew from where they part.
 * A reply brings its ids, log-probabilities at temperature 1 and the version of the weights.
 *
 * The same seed, weights, task, repeat, seat and number of the call give the same reply. `sampling.extra.top_k` is
 * heeded. A prompt that does not fit is a `ModelFault` with the outcome `context_overflow`.
 */
export function policyModel(options: PolicyModelOptions): PolicyModel {
  return new Policy(options)
}

/** Replies that are being sampled with some weights, and who waits for their end. */
interface InFlight {
  replies: number
  whenDrained: (() => void)[]
}

class Policy implements PolicyModel {
  readonly id: string
  readonly priced = true
  private readonly options: PolicyModelOptions
  private readonly renderer: Renderer
  private readonly held: HeldConversations
  private sampler: Sampler
  private readonly inFlight = new Map<Sampler, InFlight>()
  private unnamedCalls = 0

  constructor(options: PolicyModelOptions) {
    this.options = options
    this.id = options.id ?? 'embedded'
    this.sampler = options.sampler
    this.renderer = options.renderer
    this.held = new HeldConversations(options.renderer, options.conversations ?? 10_000, (session) =>
      this.sampler.forget(session),
    )
  }

  get version(): number {
    return this.sampler.version
  }

  costOf(): number {
    return 0
  }

  async use(sampler: Sampler): Promise<void> {
    const earlier = this.sampler
    this.sampler = sampler
    const inFlight = this.inFlight.get(earlier)
    if (earlier === sampler || inFlight === undefined) return
    await new Promise<void>((resolve) => inFlight.whenDrained.push(resolve))
  }

  async generate(request: ModelRequest, context: ModelContext): Promise<ModelResponse> {
    const began = performance.now()
    const sampler = this.sampler
    const inFlight = this.inFlight.get(sampler) ?? { replies: 0, whenDrained: [] }
    this.inFlight.set(sampler, inFlight)
    inFlight.replies++
    try {
      return await this.answer(sampler, { request, context, began })
    } catch (error) {
      if (this.isSucceeded(sampler, error) && context.onDelta === undefined) {
        return await this.generate(request, context)
      }
      throw asFault(error, context.signal)
    } finally {
      if (--inFlight.replies === 0) {
        this.inFlight.delete(sampler)
        for (const drained of inFlight.whenDrained) drained()
      }
    }
  }

  async countTokens(request: ModelRequest): Promise<number> {
    return this.renderer.render(request.messages, request.tools).length
  }

  close(): void {
    this.held.clear()
  }

  /** Whether a reply failed because its sampler was closed while the next was in use already. */
  private isSucceeded(sampler: Sampler, error: unknown): boolean {
    return this.sampler !== sampler && QuintainError.isInstance(error) && error.code === 'sampler_closed'
  }

  private async answer(
    sampler: Sampler,
    { request, context, began }: { request: ModelRequest; context: ModelContext; began: number },
  ): Promise<ModelResponse> {
    const seat = seatOf(context)
    const held = seat === undefined ? undefined : this.held.promptOf(seat, request)
    const prompt = held?.prompt ?? this.renderer.render(request.messages, request.tools)
    const { sampling = {}, tools = [] } = request
    const topK = sampling.extra?.['top_k']
    const asked: SampleRequest = {
      prompt,
      maxTokens: sampling.maxTokens ?? this.options.maxTokens ?? sampler.capabilities.context,
      temperature: sampling.temperature ?? this.options.temperature ?? 1,
      ...(sampling.topP === undefined ? {} : { topP: sampling.topP }),
      ...(typeof topK === 'number' && topK > 0 ? { topK } : {}),
      stop: this.renderer.stop,
      seed: this.seedOf(request, context, { version: sampler.version, asked: held?.asked }),
      ...(held === undefined ? {} : { session: held.session }),
    }
    const reply = await readReply(sampler, asked, {
      renderer: this.renderer,
      stop: sampling.stop ?? [],
      tools,
      signal: context.signal,
      onDelta: context.onDelta,
    })
    const message = withOwnCallIds(reply, request)
    if (seat !== undefined && held !== undefined) {
      this.held.keep(seat, held, { request, output: reply.ids, message })
    }
    await reply.tell(message)
    return {
      message,
      finish: reply.finish === 'length' ? 'length' : message.toolCalls === undefined ? 'stop' : 'tool_calls',
      usage: { fresh: prompt.length, cacheRead: 0, cacheWrite: 0, output: reply.ids.length },
      costUsd: 0,
      tokens: { promptIds: prompt, outputIds: reply.ids, logprobs: reply.logprobs },
      policyVersion: String(reply.version),
      timing: { totalMs: performance.now() - began, waitMs: 0 },
      ...(reply.flags.length === 0 ? {} : { flags: reply.flags }),
    }
  }

  /** The text that names a reply. Where neither an attempt nor a seed is known, each call is another: they are counted. */
  private seedOf(
    { messages, sampling }: ModelRequest,
    { task, repeat, seat }: ModelContext,
    { version, asked }: { version: number; asked: number | undefined },
  ): string {
    const again = asked ?? (sampling?.seed === undefined ? ++this.unnamedCalls : 0)
    const names = [this.options.seed, sampling?.seed, version, task, repeat, seat, repliesIn(messages), again]
    return JSON.stringify(names.map((name) => name ?? null))
  }
}

/** Conversations are those of one seat of one attempt. */
function seatOf({ attempt, seat }: ModelContext): string | undefined {
  return attempt === undefined ? undefined : `${attempt}/${seat ?? ''}`
}

/** The message with ids of calls that no earlier call of the conversation has. */
function withOwnCallIds({ message }: Reply, { messages }: ModelRequest): Reply['message'] {
  if (message.toolCalls === undefined) return message
  const taken = new Set<string>()
  for (const earlier of messages) {
    if (earlier.role === 'assistant') for (const { id } of earlier.toolCalls ?? []) taken.add(id)
  }
  return {
    ...message,
    toolCalls: message.toolCalls.map((call, at) => ({ ...call, id: uniqueCallId('', at, taken) })),
  }
}

/** What an engine or a renderer threw, as a model says it. */
function asFault(error: unknown, signal: AbortSignal): ModelFault {
  if (error instanceof ModelFault) return error
  if (signal.aborted) return cancelled()
  const code = QuintainError.isInstance(error) ? error.code : 'engine_failed'
  return new ModelFault(
    {
      // Of text that it has no tokens for, too: another policy reads it.
      owner: 'provider',
      stage: 'model',
      code,
      message: messageOf(error),
      // A sampler that is closed has a successor, and a thread that died leaves others.
      retryable: code === 'sampler_closed' || code === 'engine_failed',
    },
    { cause: error, ...(code === 'context_overflow' ? { outcome: 'context_overflow' } : {}) },
  )
}
