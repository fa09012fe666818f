import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { sandboxFault } from '../sandbox-fault.ts'
import type { Answered, Request } from './messages.ts'

const here = fileURLToPath(import.meta.url)
const mainFile = new URL(`./thread-main.${here.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)
const heapMb = 1024

/** A thread in which boxes live; when it ends, they all do. */
export class BoxThread {
  /** Boxes that live here. */
  boxes = 0
  readonly #worker: Worker
  readonly #calls = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>()
  readonly #onEnd: () => void
  #lastCall = 0
  #ended: { outOfMemory: boolean } | undefined

  constructor(onEnd: () => void) {
    this.#onEnd = onEnd
    // Nothing of ours: no variables, no arguments, no output of its own.
    this.#worker = new Worker(mainFile, {
      env: {},
      argv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    this.#worker.unref()
    this.#worker.on('message', (answered: Answered) => {
      const call = this.#calls.get(answered.call)
      this.#calls.delete(answered.call)
      this.#keepAlive()
      if ('failed' in answered)
        call?.reject(sandboxFault('sandbox_io', `the interpreter failed: ${answered.failed}`))
      else call?.resolve(answered.result)
    })
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      this.#end({ outOfMemory: error.code === 'ERR_WORKER_OUT_OF_MEMORY' }),
    )
    this.#worker.on('exit', () => this.#end({ outOfMemory: false }))
  }

  /** Set once the thread is gone, with the reason. */
  get ended(): { outOfMemory: boolean } | undefined {
    return this.#ended
  }

  /** Throws a sandbox fault when the thread ends first. */
  ask(box: string, request: Request): Promise<unknown> {
    if (this.#ended !== undefined) return Promise.reject(lost())
    this.#lastCall += 1
    const call = this.#lastCall
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject })
      this.#keepAlive()
      this.#worker.postMessage({ call, box, request })
    })
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate()
    this.#end({ outOfMemory: false })
  }

  /** The process lives on while something is asked, and not because boxes are open. */
  #keepAlive(): void {
    if (this.#calls.size > 0) this.#worker.ref()
    else this.#worker.unref()
  }

  #end(how: { outOfMemory: boolean }): void {
    if (this.#ended !== undefined) return
    this.#ended = how
    for (const { reject } of this.#calls.values()) reject(lost())
    this.#calls.clear()
    this.#onEnd()
  }
}

function lost(): Error {
  return sandboxFault('sandbox_lost', 'the thread in which the box lived has ended')
}
