import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { messageOf, QuintainError } from '../../core/errors.ts'
import type { EngineMemory, Room } from './engine-memory.ts'
import type { FromThread, Job, ThreadStart, ToThread } from './jobs.ts'
import { kernelModule } from './kernels.ts'
import type { SamplingThreads } from './sampling/decoder.ts'
import { SamplingDispatch } from './sampling/sampling-dispatch.ts'
import type { EmbeddedShape } from './shape.ts'

const here = fileURLToPath(import.meta.url)
const mainFile = new URL(`./thread-main.${here.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

interface Asked {
  resolve: (value: number) => void
  reject: (error: unknown) => void
}

/**
 * The threads of one learner. Each has its own kernels and stack over the memory that they share, and does jobs of the learner and
 * sampling in turns. They do not keep the process alive when nothing is asked of them. When one dies all do, since what it had
 * of the gradient is lost: whatever was asked fails with `engine_failed`, and so does what is asked afterwards.
 */
export class EngineThreads implements SamplingThreads {
  readonly count: number
  readonly dispatch: SamplingDispatch
  private readonly workers: readonly Worker[]
  private readonly wake: Int32Array
  private readonly asked = new Map<number, Asked>()
  private lastId = 0
  private isSampling = false
  private isHeld = false
  private ended: QuintainError | undefined

  constructor({ memory, shape, room }: { memory: EngineMemory; shape: EmbeddedShape; room: Room }) {
    this.count = room.threads
    this.wake = memory.ints(memory.places.control.wake, room.threads)
    this.dispatch = new SamplingDispatch(this)
    this.workers = Array.from({ length: room.threads }, (_, thread) => {
      const start: ThreadStart = {
        thread,
        shape,
        room,
        places: memory.places,
        memory: memory.memory,
        module: kernelModule(),
      }
      return this.open(thread, start)
    })
  }

  private open(thread: number, workerData: ThreadStart): Worker {
    // Nothing of ours: no variables, no arguments.
    const worker = new Worker(mainFile, { env: {}, argv: [], execArgv: [], workerData })
    worker.on('message', (message: FromThread) => this.receive(thread, message))
    worker.on('error', (error) => this.fail(thread, messageOf(error)))
    worker.on('exit', () => this.fail(thread, 'it ended'))
    worker.unref()
    return worker
  }

  /** Jobs of one thread, in order, as one message. Each settles with what the thread answers. */
  ask(thread: number, ...jobs: Job[]): Promise<number>[] {
    if (this.ended !== undefined) return jobs.map(() => Promise.reject(this.ended))
    const numbered = jobs.map((job) => ({ id: ++this.lastId, job }))
    const answers = numbered.map(({ id }) => {
      const answer = new Promise<number>((resolve, reject) => this.asked.set(id, { resolve, reject }))
      // Who asks may be late to look, and a failure is then already there.
      answer.catch(() => undefined)
      return answer
    })
    this.keepAlive()
    this.send(thread, { kind: 'jobs', jobs: numbered })
    return answers
  }

  /** The same job for every thread, which meet each other in it. Gives what the first one answers. */
  async askAll(job: Job): Promise<number> {
    const answers = await Promise.all(this.workers.flatMap((_, thread) => this.ask(thread, job)))
    return answers[0]!
  }

  post(thread: number, work: Float64Array<ArrayBuffer>): void {
    this.send(thread, { kind: 'sampling', work }, [work.buffer])
  }

  hold(isAsked: boolean): void {
    this.isSampling = isAsked
    this.keepAlive()
  }

  /** Ends the threads. What is asked of them still fails with the reason, `engine_closed` when it is not given. */
  async close(reason = closed()): Promise<void> {
    this.end(reason)
    await Promise.all(this.workers.map((worker) => worker.terminate()))
  }

  private send(thread: number, message: ToThread, transfer: ArrayBuffer[] = []): void {
    this.workers[thread]!.postMessage(message, transfer)
    Atomics.add(this.wake, thread, 1)
    Atomics.notify(this.wake, thread)
  }

  private receive(thread: number, message: FromThread): void {
    if (message.kind === 'sampled') {
      this.dispatch.receive(thread, message.said)
      return
    }
    const asked = this.asked.get(message.id)
    this.asked.delete(message.id)
    this.keepAlive()
    if (message.kind === 'done') asked?.resolve(message.value)
    else asked?.reject(failed(thread, message.says))
  }

  private fail(thread: number, says: string): void {
    if (this.ended === undefined) void this.close(failed(thread, says))
  }

  private end(reason: QuintainError): void {
    if (this.ended !== undefined) return
    this.ended = reason
    for (const { reject } of this.asked.values()) reject(reason)
    this.asked.clear()
    for (let thread = 0; thread < this.count; thread++) this.dispatch.fail(thread, reason)
    this.keepAlive()
  }

  private keepAlive(): void {
    const isHeld = this.isSampling || this.asked.size > 0
    if (isHeld === this.isHeld) return
    this.isHeld = isHeld
    for (const worker of this.workers) isHeld ? worker.ref() : worker.unref()
  }
}

function failed(thread: number, says: string): QuintainError {
  return new QuintainError(
    'engine_failed',
    `Thread ${thread} of the embedded engine was lost: ${says}. Load the last checkpoint into a new learner and go on from there.`,
    { facts: { thread } },
  )
}

function closed(): QuintainError {
  return new QuintainError(
    'engine_closed',
    'The learner was closed. Load its checkpoint into a new one to go on.',
  )
}
