import { GrowingReply } from '../growing-reply.ts'
import type { Renderer } from '../renderer.ts'
import { sampleReply } from '../sample-reply.ts'
import type { Leave } from './admission.ts'
import type { Answering, Question } from './question.ts'
import type { EndedReply } from './reply-form.ts'
import type { WeightsLease } from './served-weights.ts'

/** A reply on its way: what was sampled of it, and what of that was told. */
export interface Sampling {
  readonly index: number
  readonly prompt: Int32Array
  readonly growing: GrowingReply
  ended: EndedReply | undefined
  /** How far it was each time that more was sampled, of what is not told. */
  grown: { tokens: number; characters: number }[]
  told: { begun: boolean; tokens: number; characters: number; end: boolean }
}

/** The replies to a question, before anything of them is sampled. */
export function repliesTo({ ask, prompts, textOf }: Question, { stop }: Pick<Renderer, 'stop'>): Sampling[] {
  const stopIds = new Set([...stop, ...ask.stopIds])
  return prompts.flatMap((prompt, at) =>
    Array.from({ length: ask.choices }, (_, choice) => ({
      index: at * ask.choices + choice,
      prompt,
      growing: new GrowingReply({ textOf, stopTexts: ask.stopTexts, stopIds }),
      ended: undefined,
      grown: [],
      told: { begun: false, tokens: 0, characters: 0, end: false },
    })),
  )
}

interface SamplingOptions {
  question: Question
  answering: Answering
  /** Of each reply, where it may be sampled. */
  places: readonly Promise<Leave>[]
  lease: WeightsLease
  /** Of all replies together; each has its own of it. */
  seed: string
  signal: AbortSignal
  /** Aborts the signal. */
  giveUp(reason: unknown): void
  /** Told when there is more of any. */
  onTokens?: (() => void) | undefined
}

/** Samples replies to their ends. One that fails takes the others with it. */
export async function sampleAll(
  replies: readonly Sampling[],
  options: SamplingOptions,
): Promise<EndedReply[]> {
  return Promise.all(
    replies.map(async (reply, at) => {
      const leave = await options.places[at]
      try {
        return await sampleOne(reply, options)
      } catch (thrown) {
        options.giveUp(thrown)
        throw thrown
      } finally {
        leave?.()
      }
    }),
  )
}

async function sampleOne(reply: Sampling, options: SamplingOptions): Promise<EndedReply> {
  const { question, answering, lease, seed, signal, onTokens } = options
  const { ask } = question
  const { renderer, weights } = answering
  const { index, prompt, growing } = reply
  const session = question.sessions?.[index]
  const finish = await sampleReply(
    lease.sampler,
    {
      prompt,
      maxTokens: Math.min(ask.maxTokens ?? Number.POSITIVE_INFINITY, weights.context - prompt.length),
      ...(ask.temperature === undefined ? {} : { temperature: ask.temperature }),
      ...(ask.topP === undefined ? {} : { topP: ask.topP }),
      ...(ask.topK === undefined ? {} : { topK: ask.topK }),
      stop: [...renderer.stop, ...ask.stopIds],
      seed: `${seed}:${index}`,
      ...(session === undefined ? {} : { session }),
    },
    {
      reply: growing,
      watchesText: ask.stopTexts.length > 0,
      signal,
      ...(onTokens === undefined
        ? {}
        : {
            onTokens() {
              reply.grown.push({ tokens: growing.ids.length, characters: growing.said.length })
              onTokens()
            },
          }),
    },
  )
  const last = growing.ids.at(-1)
  const byId = finish === 'stop' && last !== undefined && !renderer.stop.includes(last) ? last : null
  const told = {
    index,
    prompt,
    text: growing.said,
    ids: growing.ids,
    logprobs: growing.logprobs,
    finish,
    stoppedBy: growing.stoppedBy ?? byId,
  }
  const ended: EndedReply = { ...told, message: question.messageOf(told) }
  reply.ended = ended
  onTokens?.()
  return ended
}
