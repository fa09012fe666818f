import { QuintainError } from '../../../core/errors.ts'
import type { SampledSequence } from '../../engine.ts'
import type { SamplingThreads, WeightsCopy } from './decoder.ts'
import { PackedReader, PackedWriter, putRequest, saidKind, workKind } from './packed-work.ts'
import { seedWords } from './seeded-draw.ts'

/** Sessions whose thread is remembered. What is kept of one that was forgotten here gives way in its thread by itself. */
const mostSessions = 100_000

/** What is asked of a thread and not answered yet. */
interface Asked {
  thread: number
  weights: WeightsCopy
  onTokens: ((ids: Int32Array, logprobs: Float32Array) => void) | undefined
  resolve: (sequence: SampledSequence) => void
  reject: (reason: unknown) => void
  unlisten: () => void
}

/** A request whose settings are whole and which was looked at. */
export interface CheckedRequest {
  prompt: Int32Array
  maxTokens: number
  temperature: number
  topK: number
  topP: number
  stop: readonly number[]
  seed: string
  session: string | undefined
}

/**
 * Hands requests to the sampling threads and their answers back, on the main thread. What is asked in one tick goes out as
 * one message for each thread; a session stays with the thread that has its keys and values.
 */
export class SamplingDispatch {
  private readonly threads: SamplingThreads
  private readonly out: PackedWriter[]
  private readonly load: number[]
  private readonly dead = new Map<number, unknown>()
  private readonly asked = new Map<number, Asked>()
  private readonly sessions = new Map<string, { id: number; thread: number }>()
  private readonly fences = new Map<number, { open: Set<number>; pass: () => void }>()
  private lastId = 0
  private isScheduled = false
  private isHeld = false

  constructor(threads: SamplingThreads) {
    this.threads = threads
    this.out = Array.from({ length: threads.count }, () => new PackedWriter())
    this.load = Array.from({ length: threads.count }, () => 0)
  }

  /** Samples, with weights that the caller keeps until this is settled. Rejects with the signal's reason when it is aborted. */
  sample(
    request: CheckedRequest,
    weights: WeightsCopy,
    { signal, onTokens }: { signal?: AbortSignal | undefined; onTokens?: Asked['onTokens'] | undefined } = {},
  ): Promise<SampledSequence> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      const { thread, session } = this.place(request.session)
      const id = ++this.lastId
      const abort = (): void => this.abandon(id, signal?.reason)
      signal?.addEventListener('abort', abort, { once: true })
      const unlisten = (): void => signal?.removeEventListener('abort', abort)
      this.asked.set(id, { thread, weights, onTokens, resolve, reject, unlisten })
      this.hold()
      this.load[thread]! += 1
      putRequest(this.out[thread]!, {
        ...request,
        id,
        key: weights.key,
        offset: weights.offset,
        session,
        streams: onTokens !== undefined,
        seed: seedWords(request.seed),
      })
      this.schedule()
    })
  }

  /** What was kept of a session may go. */
  forget(name: string): void {
    const session = this.sessions.get(name)
    if (session === undefined) return
    this.sessions.delete(name)
    this.out[session.thread]!.put(workKind.forget, session.id)
    this.schedule()
  }

  /** Rejects what is asked of some weights, and settles when no thread reads them any more. */
  async withdraw(weights: WeightsCopy, reason: unknown): Promise<void> {
    for (const [id, asked] of this.asked) if (asked.weights === weights) this.abandon(id, reason)
    const open = new Set<number>()
    for (let thread = 0; thread < this.threads.count; thread++) if (!this.dead.has(thread)) open.add(thread)
    if (open.size === 0) return
    await new Promise<void>((pass) => {
      const fence = ++this.lastId
      this.fences.set(fence, { open, pass })
      this.hold()
      for (const thread of open) this.out[thread]!.put(workKind.fence, fence)
      this.schedule()
    })
  }

  /** Takes in what a thread said. */
  receive(thread: number, said: Float64Array): void {
    const reader = new PackedReader(said)
    while (!reader.done) {
      const kind = reader.next()
      const id = reader.next()
      if (kind === saidKind.finished) this.finish(id, reader)
      else if (kind === saidKind.tokens) this.tell(id, reader.next(), reader.next())
      else if (kind === saidKind.notFinite) this.settled(id)?.reject(notFinite())
      else if (kind === saidKind.fence) this.pass(id, thread)
    }
  }

  /** A thread is gone: what was asked of it fails, and the others take what is asked from now on. */
  fail(thread: number, error: unknown): void {
    this.dead.set(thread, error)
    for (const [name, session] of this.sessions) if (session.thread === thread) this.sessions.delete(name)
    for (const [id, asked] of this.asked) if (asked.thread === thread) this.settled(id)?.reject(error)
    for (const fence of this.fences.keys()) this.pass(fence, thread)
  }

  private finish(id: number, reader: PackedReader): void {
    const finish = reader.next() === 1 ? 'stop' : 'length'
    const ids = Int32Array.from(reader.nextAll())
    const logprobs = Float32Array.from(reader.nextAll())
    const asked = this.settled(id)
    asked?.resolve({ ids, logprobs, finish, version: asked.weights.version })
  }

  private tell(id: number, token: number, logprob: number): void {
    try {
      this.asked.get(id)?.onTokens?.(Int32Array.of(token), Float32Array.of(logprob))
    } catch (thrown) {
      this.abandon(id, thrown)
    }
  }

  /** Takes a request from those that are asked; undefined when it was taken before. */
  private settled(id: number): Asked | undefined {
    const asked = this.asked.get(id)
    if (asked === undefined) return undefined
    this.asked.delete(id)
    this.load[asked.thread]! -= 1
    asked.unlisten()
    this.hold()
    return asked
  }

  private abandon(id: number, reason: unknown): void {
    const asked = this.settled(id)
    if (asked === undefined) return
    if (!this.dead.has(asked.thread)) this.out[asked.thread]!.put(workKind.cancel, id)
    this.schedule()
    asked.reject(reason)
  }

  private pass(id: number, thread: number): void {
    const fence = this.fences.get(id)
    if (fence === undefined || !fence.open.delete(thread) || fence.open.size > 0) return
    this.fences.delete(id)
    this.hold()
    fence.pass()
  }

  private place(name: string | undefined): { thread: number; session: number } {
    const known = name === undefined ? undefined : this.sessions.get(name)
    if (name !== undefined && known !== undefined) {
      // The newest stands last.
      this.sessions.delete(name)
      this.sessions.set(name, known)
      return { thread: known.thread, session: known.id }
    }
    const thread = this.idlest()
    if (name === undefined) return { thread, session: 0 }
    const session = ++this.lastId
    this.sessions.set(name, { id: session, thread })
    if (this.sessions.size > mostSessions) this.forget(this.sessions.keys().next().value!)
    return { thread, session }
  }

  private idlest(): number {
    let idlest = -1
    for (let thread = 0; thread < this.load.length; thread++) {
      if (this.dead.has(thread)) continue
      if (idlest === -1 || this.load[thread]! < this.load[idlest]!) idlest = thread
    }
    if (idlest === -1) throw [...this.dead.values()].at(-1)
    return idlest
  }

  private hold(): void {
    const isAsked = this.asked.size + this.fences.size > 0
    if (isAsked === this.isHeld) return
    this.isHeld = isAsked
    this.threads.hold(isAsked)
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    setImmediate(() => {
      this.isScheduled = false
      this.out.forEach((work, thread) => {
        if (work.empty) return
        const packed = work.take()
        if (!this.dead.has(thread)) this.threads.post(thread, packed)
      })
    })
  }
}

function notFinite(): QuintainError {
  return new QuintainError(
    'not_finite',
    'The logits of the policy are no numbers, so there is nothing to sample from. Go back to an earlier checkpoint.',
  )
}
