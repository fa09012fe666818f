import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Box,
  ExecOptions,
  ExecResult,
  ReadOptions,
  Snapshot,
  SnapshotOptions,
} from '../../core/sandbox.ts'
import type { BoxPlan, PlacedFile } from '../box-options.ts'
import { killQuietly, processesWith } from '../process-table.ts'
import { stoppedFault } from '../sandbox-fault.ts'
import { Talks } from '../talks.ts'
import { runProcess } from './command.ts'
import { ProcessFiles } from './files.ts'

/** A folder below the machine's temporary one, and processes that start in it. */
export class ProcessBox implements Box {
  readonly driver = 'process'
  readonly isolation = 'none'
  readonly id: string
  readonly workdir: string
  readonly #plan: BoxPlan
  readonly #root: string
  readonly #shell: string
  readonly #files: ProcessFiles
  readonly #groups = new Set<number>()
  readonly #talks = new Talks()
  readonly #onStop: () => void
  #stopped: Promise<void> | undefined

  constructor(options: { id: string; plan: BoxPlan; root: string; shell: string; onStop: () => void }) {
    this.id = options.id
    this.#plan = options.plan
    this.#root = options.root
    this.#shell = options.shell
    this.#onStop = options.onStop
    this.#files = new ProcessFiles(options.root, options.plan.workdir)
    this.workdir = join(options.root, options.plan.workdir)
  }

  async furnish(files: readonly PlacedFile[]): Promise<void> {
    for (const file of files) {
      const made = await this.#files.place(file)
      if (!made.ok) throw new Error(`${file.path}: ${made.message}`)
    }
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    this.#check()
    const folder = options.cwd === undefined ? this.workdir : this.#files.inside(options.cwd)
    const box = {
      plan: this.#plan,
      root: this.#root,
      mark: ['QUINTAIN_BOX', this.#root] as const,
      shell: this.#shell,
      groups: this.#groups,
      talks: this.#talks,
      isStopped: () => this.#stopped !== undefined,
    }
    return runProcess(box, command, folder, options)
  }

  talk(name: string, input?: string | Uint8Array) {
    return this.#talks.say(name, input)
  }

  async read(path: string, options?: ReadOptions) {
    this.#check()
    return this.#files.read(path, options)
  }

  async write(path: string, data: string | Uint8Array, { mode = 0o644 }: { mode?: number } = {}) {
    this.#check()
    return this.#files.write(path, data, mode)
  }

  async list(path: string) {
    this.#check()
    return this.#files.list(path)
  }

  async snapshot(paths?: readonly string[], options?: SnapshotOptions) {
    this.#check()
    if (options?.still === true) await this.#endAll()
    return this.#files.snapshot(paths, options)
  }

  async restore(snapshot: Snapshot, { at }: { at?: string } = {}) {
    this.#check()
    return this.#files.restore(snapshot, at)
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#end()
    return this.#stopped
  }

  async #end(): Promise<void> {
    await this.#endAll()
    this.#talks.end()
    await rm(this.#root, { recursive: true, force: true, maxRetries: 5 }).catch(() => removeTree(this.#root))
    this.#onStop()
  }

  async #endAll(): Promise<void> {
    for (let round = 0; round < 20; round++) {
      for (const group of this.#groups) killQuietly(-group)
      // Those that have left their group, found by a variable that they inherited.
      const left = processesWith(`QUINTAIN_BOX=${this.#root}`)
      for (const pid of left) killQuietly(pid)
      if (left.length === 0) break
      await sleep(10)
    }
  }

  #check(): void {
    if (this.#stopped !== undefined) throw stoppedFault()
  }
}

/** As a process: it has no limit on the length of paths, and opens folders that were closed to their owner. */
async function removeTree(root: string): Promise<void> {
  for (const argv of [
    ['chmod', '-R', 'u+rwx', root],
    ['rm', '-rf', root],
  ]) {
    await new Promise<void>((resolve) => {
      const child = spawn(argv[0]!, argv.slice(1), { stdio: 'ignore' })
      child.once('error', () => resolve())
      child.once('exit', () => resolve())
    })
  }
}
