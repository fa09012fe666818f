import { createRequire } from 'node:module'
import type { Availability, Box, BoxOptions, SandboxDriver } from '../../core/sandbox.ts'
import { planBox, refuseOption } from '../box-options.ts'
import { sandboxFault } from '../sandbox-fault.ts'
import { MemoryBox } from './box.ts'
import { BoxThread } from './thread.ts'

const mostThreads = 4

/**
 * A shell and its files in memory, by the optional package `just-bash`: some eighty programs of its own (coreutils, grep,
 * sed, awk, jq, tar, …) in an interpreter that knows no real file, process or socket. No background processes, no git,
 * no compilers; output and files that are no UTF-8 do not survive its text. Boxes share a few threads: a command that
 * hangs the interpreter takes its neighbours with it, as faults.
 */
export function bashDriver(): SandboxDriver {
  return new MemoryDriver()
}

class MemoryDriver implements SandboxDriver {
  readonly name = 'bash'
  readonly isolation = 'memory'
  readonly #threads = new Set<BoxThread>()
  readonly #boxes = new Set<Box>()
  #started = 0

  async available(): Promise<Availability> {
    try {
      createRequire(import.meta.url).resolve('just-bash')
      return { available: true }
    } catch {
      return { available: false, reason: 'the package just-bash is not installed (npm install just-bash)' }
    }
  }

  async start(options: BoxOptions = {}): Promise<Box> {
    const plan = planBox(options)
    if (plan.image !== undefined) refuseOption('bash', 'image', 'has no system of its own; leave it out')
    if (plan.mounts.length > 0) refuseOption('bash', 'mounts', 'sees no file of the host; use files')
    if (plan.sockets.length > 0) refuseOption('bash', 'network', 'has no sockets; use bwrap or a container')
    const top = (path: string) => path.split('/')[1]
    const inWork = plan.readOnlyFiles.some(
      ({ path }) => top(path) === top(plan.workdir) || path.split('/').length < 3,
    )
    if (inWork)
      refuseOption('bash', 'readOnlyFiles', 'keeps them in top-level folders of their own, such as /tests')
    const available = await this.available()
    if (!available.available) throw sandboxFault('sandbox_start_failed', available.reason)
    options.signal?.throwIfAborted()
    this.#started += 1
    const box: MemoryBox = new MemoryBox({
      id: `bash-${process.pid}-${this.#started}`,
      plan,
      thread: this.#thread(),
      onStop: () => this.#boxes.delete(box),
    })
    this.#boxes.add(box)
    try {
      await box.furnish()
      return box
    } catch (error) {
      await box.stop()
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#boxes].map((box) => box.stop()))
    await Promise.all([...this.#threads].map((thread) => thread.terminate()))
  }

  /** An idle thread, else a new one while there may be more, else the one with the fewest boxes. */
  #thread(): BoxThread {
    const [least] = [...this.#threads].sort((a, b) => a.boxes - b.boxes)
    if (least !== undefined && (least.boxes === 0 || this.#threads.size >= mostThreads)) return least
    const thread = new BoxThread(() => this.#threads.delete(thread))
    this.#threads.add(thread)
    return thread
  }
}
