import { isThrown } from '../../core/errors.ts'
import { FaultError } from '../../core/fault-error.ts'
import type {
  Box,
  BoxEntry,
  ExecOptions,
  ExecResult,
  FileResult,
  ReadOptions,
  Snapshot,
  SnapshotOptions,
} from '../../core/sandbox.ts'
import { boxPath } from '../box-name.ts'
import { type BoxPlan, checkVariables, refuseOption } from '../box-options.ts'
import { notStarted, toCommand } from '../exec-result.ts'
import { noSuchPath } from '../file-refusal.ts'
import { sandboxFault, stoppedFault } from '../sandbox-fault.ts'
import { defaultReadBytes } from '../snapshot-limits.ts'
import type { Request } from './messages.ts'
import type { BoxThread } from './thread.ts'

/** An interpreter that does not look at the clock any more for so long is ended with its thread. */
const stuckMs = 10_000

/** A box whose files and commands are in a thread of ours. Its results are of the types asked for: we wrote both ends. */
export class MemoryBox implements Box {
  readonly driver = 'bash'
  readonly isolation = 'memory'
  readonly id: string
  readonly workdir: string
  readonly #plan: BoxPlan
  readonly #thread: BoxThread
  readonly #onStop: () => void
  readonly #running = new Set<() => void>()
  #stopped: Promise<void> | undefined

  constructor(options: { id: string; plan: BoxPlan; thread: BoxThread; onStop: () => void }) {
    const { id, plan, thread, onStop } = options
    this.#onStop = onStop
    this.id = id
    this.workdir = plan.workdir
    this.#plan = plan
    this.#thread = thread
    thread.boxes += 1
  }

  async furnish(): Promise<void> {
    const { workdir, env, files, readOnlyFiles, limits } = this.#plan
    const placed = await this.#ask<FileResult<object>>({
      op: 'start',
      workdir,
      env,
      files,
      readOnlyFiles,
      limits,
    })
    if (!placed.ok)
      throw sandboxFault('sandbox_start_failed', `the box could not be filled: ${placed.message}`)
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    checkVariables(options.env ?? {})
    if (options.talk !== undefined)
      refuseOption('bash', 'talk', 'gives a command all of its input at once; leave it out')
    this.#check()
    const began = performance.now()
    const { signal, ...plain } = options
    const cwd = boxPath(options.cwd ?? this.workdir, this.workdir)
    if (toCommand(command, 'bash') === undefined || cwd === undefined) return notStarted('invalid', began)
    if (signal?.aborted) return notStarted('aborted', began)
    const wallMs = Math.min(options.wallMs ?? this.#plan.limits.wallMs, this.#plan.limits.wallMs)
    const flag = new Int32Array(new SharedArrayBuffer(4))
    let stuck: NodeJS.Timeout | undefined
    const abort = () => {
      Atomics.store(flag, 0, 1)
      stuck = setTimeout(() => void this.#thread.terminate(), stuckMs)
    }
    const watch = setTimeout(() => void this.#thread.terminate(), wallMs + stuckMs)
    signal?.addEventListener('abort', abort, { once: true })
    this.#running.add(abort)
    try {
      const request: Request = { op: 'exec', command, options: { ...plain, cwd }, wallMs, abort: flag }
      const result = await this.#ask<ExecResult>(request)
      this.#check()
      return result
    } catch (error) {
      if (this.#stopped !== undefined || this.#thread.ended === undefined || !isThrown(error, FaultError))
        throw error
      // The thread ended under this command, most likely by it: that is how it ended.
      const durationMs = performance.now() - began
      const { outOfMemory } = this.#thread.ended
      return {
        ...notStarted('aborted', began),
        aborted: Atomics.load(flag, 0) === 1,
        timedOut: Atomics.load(flag, 0) === 0 && durationMs >= wallMs,
        signal: 'SIGKILL',
        outOfMemory,
      }
    } finally {
      this.#running.delete(abort)
      clearTimeout(stuck)
      clearTimeout(watch)
      signal?.removeEventListener('abort', abort)
    }
  }

  async read(path: string, { maxBytes = defaultReadBytes }: ReadOptions = {}) {
    const whole = this.#path(path)
    if (whole === undefined) return noSuchPath()
    return this.#ask<FileResult<{ data: Uint8Array; mode: number }>>({ op: 'read', path: whole, maxBytes })
  }

  async write(path: string, data: string | Uint8Array, { mode = 0o644 }: { mode?: number } = {}) {
    const whole = this.#path(path)
    if (whole === undefined) return noSuchPath()
    const bytes = new Uint8Array(Buffer.from(data as string))
    return this.#ask<FileResult<object>>({ op: 'write', path: whole, data: bytes, mode: mode & 0o777 })
  }

  async list(path: string) {
    const whole = this.#path(path)
    if (whole === undefined) return noSuchPath()
    return this.#ask<FileResult<{ entries: BoxEntry[] }>>({ op: 'list', path: whole })
  }

  async snapshot(
    paths: readonly string[] = [this.workdir],
    options: SnapshotOptions = {},
  ): Promise<Snapshot> {
    const whole = paths.map((path) => ({ path, real: this.#path(path) }))
    const snapshot = await this.#ask<Snapshot>({
      op: 'snapshot',
      paths: whole.flatMap(({ real }) => real ?? []),
      options,
    })
    for (const { path, real } of whole)
      if (real === undefined) snapshot.skipped.push({ path, reason: 'missing' })
    return snapshot
  }

  async restore(snapshot: Snapshot, { at = '/' }: { at?: string } = {}) {
    const whole = this.#path(at)
    if (whole === undefined) return noSuchPath()
    return this.#ask<FileResult<object>>({ op: 'restore', snapshot, at: whole })
  }

  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      this.#onStop()
      for (const abort of this.#running) abort()
      this.#thread.boxes -= 1
      // A thread that is gone has taken the box with it.
      await this.#thread.ask(this.id, { op: 'stop' }).catch(() => {})
    })()
    return this.#stopped
  }

  #path(path: string): string | undefined {
    this.#check()
    return boxPath(path, this.workdir)
  }

  #check(): void {
    if (this.#stopped !== undefined) throw stoppedFault()
  }

  async #ask<T>(request: Request): Promise<T> {
    return (await this.#thread.ask(this.id, request)) as T
  }
}
