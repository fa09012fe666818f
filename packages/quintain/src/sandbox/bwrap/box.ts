import type {
  Box,
  ExecOptions,
  ExecResult,
  ReadOptions,
  Snapshot,
  SnapshotOptions,
} from '../../core/sandbox.ts'
import type { BoxPlan, PlacedFile } from '../box-options.ts'
import { sandboxFault } from '../sandbox-fault.ts'
import { Talks } from '../talks.ts'
import type { Channel, Frame } from './channel.ts'
import { runCommand } from './command.ts'
import { BwrapFiles } from './files.ts'
import { BoxLink, type Housing } from './link.ts'
import { Relay } from './relay.ts'

/** A box whose inside is reached over the channel to its supervisor only. */
export class BwrapBox implements Box {
  readonly driver = 'bwrap'
  readonly isolation = 'namespaces'
  readonly id: string
  readonly workdir: string
  readonly #plan: BoxPlan
  readonly #link: BoxLink
  readonly #files: BwrapFiles
  readonly #relay: Relay
  readonly #talks = new Talks()
  #stopped: Promise<void> | undefined

  constructor(id: string, plan: BoxPlan, channel: Channel, housing: Housing) {
    this.id = id
    this.workdir = plan.workdir
    this.#plan = plan
    this.#link = new BoxLink(channel, housing)
    this.#files = new BwrapFiles(this.#link, plan.workdir)
    this.#relay = new Relay(this.#link, plan.sockets)
  }

  /** What the supervisor says. */
  take(frame: Frame): void {
    if (!this.#relay.take(frame)) this.#link.take(frame)
  }

  /** The supervisor is gone. */
  gone(): void {
    this.#relay.end()
    this.#link.gone()
    this.#talks.end()
  }

  /** Puts the first files in place and opens the sockets. Throws a sandbox fault when that does not work. */
  async furnish(files: readonly PlacedFile[]): Promise<void> {
    const placed = files.map(async (file) => ({ what: file.path, made: await this.#files.place(file) }))
    const opened = this.#relay.listen().map(async (made) => ({ what: 'a socket', made: await made }))
    for (const { what, made } of await Promise.all([...placed, ...opened])) {
      if (!made.ok)
        throw sandboxFault('sandbox_start_failed', `the box could not be filled: ${what}: ${made.message}`)
    }
  }

  exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    return runCommand({ link: this.#link, plan: this.#plan, talks: this.#talks }, command, options)
  }

  talk(name: string, input?: string | Uint8Array) {
    return this.#talks.say(name, input)
  }

  async read(path: string, options?: ReadOptions) {
    return this.#files.read(path, options)
  }

  async write(path: string, data: string | Uint8Array, { mode = 0o644 }: { mode?: number } = {}) {
    return this.#files.write(path, data, mode)
  }

  async list(path: string) {
    return this.#files.list(path)
  }

  async snapshot(paths?: readonly string[], options?: SnapshotOptions) {
    return this.#files.snapshot(paths, options)
  }

  async restore(snapshot: Snapshot, { at }: { at?: string } = {}) {
    return this.#files.restore(snapshot, at)
  }

  stop(): Promise<void> {
    this.#stopped ??= (async () => {
      this.#relay.end()
      this.#link.close()
      this.#talks.end()
      await this.#link.housing.end()
    })()
    return this.#stopped
  }
}
