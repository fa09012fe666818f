import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Availability, Box, BoxOptions, SandboxDriver } from '../../core/sandbox.ts'
import { boxHome, planBox, refuseOption } from '../box-options.ts'
import { findProgram } from '../find-program.ts'
import { killQuietly, processesWith, startOf } from '../process-table.ts'
import { sandboxFault } from '../sandbox-fault.ts'
import { ProcessBox } from './box.ts'
import { Keeper } from './keeper.ts'

const prefix = 'quintain-box-'
/** How the folders of this process's boxes begin. */
const ours = join(tmpdir(), `${prefix}${process.pid}-${startOf(process.pid) ?? '0'}-`)

/** Ends what runs in boxes of this process should it die. */
export const keeper = new Keeper(ours)

/**
 * No isolation: a command is a process of this machine, with our rights, our network and our files, in a folder of its
 * own and without our variables. Only for code that you would run yourself. Wall clock, processor time and output are
 * limited; memory, processes and disk are not. It has no root of its own, so paths outside the working directory are
 * paths below a temporary folder for `read`, `write` and `files`, and paths of the machine for commands.
 */
export function processDriver(): SandboxDriver {
  return new ProcessDriver()
}

class ProcessDriver implements SandboxDriver {
  readonly name = 'process'
  readonly isolation = 'none'
  readonly #boxes = new Set<Box>()
  #started = 0

  async available(): Promise<Availability> {
    return this.#shell() === undefined
      ? { available: false, reason: 'there is no bash and no sh' }
      : { available: true }
  }

  async start(options: BoxOptions = {}): Promise<Box> {
    const plan = planBox(options)
    if (plan.image !== undefined) refuseOption('process', 'image', 'has no system of its own; leave it out')
    if (plan.readOnlyFiles.length > 0)
      refuseOption('process', 'readOnlyFiles', 'cannot protect files; use another driver')
    if (plan.mounts.length > 0)
      refuseOption('process', 'mounts', 'cannot mount; its commands see the host itself')
    if (plan.sockets.length > 0)
      refuseOption('process', 'network', 'cannot relay; its commands see the host itself')
    const shell = this.#shell()
    if (shell === undefined) throw sandboxFault('sandbox_start_failed', 'there is no bash and no sh')
    options.signal?.throwIfAborted()
    keeper.start()
    const root = await mkdtemp(ours).catch((error: unknown) => {
      throw sandboxFault('sandbox_start_failed', 'a temporary folder could not be made', error)
    })
    this.#started += 1
    const box = new ProcessBox({
      id: `process-${process.pid}-${this.#started}`,
      plan,
      root,
      shell,
      onStop: () => this.#boxes.delete(box),
    })
    this.#boxes.add(box)
    try {
      for (const folder of [plan.workdir, boxHome, '/tmp'])
        await mkdir(join(root, folder), { recursive: true })
      await box.furnish(plan.files)
    } catch (error) {
      await box.stop()
      const why = error instanceof Error ? error.message : 'no reason was given'
      throw sandboxFault('sandbox_start_failed', `the box could not be filled: ${why}`, error)
    }
    return box
  }

  /** Folders of processes that are gone, with what still runs in them. */
  async sweep(): Promise<number> {
    let removed = 0
    for (const name of await readdir(tmpdir())) {
      const [, pid, start] = new RegExp(`^${prefix}(\\d+)-(\\d+)-`).exec(name) ?? []
      if (pid === undefined || startOf(Number(pid)) === start) continue
      const root = join(tmpdir(), name)
      for (const left of processesWith(`QUINTAIN_BOX=${root}`)) killQuietly(left)
      await rm(root, { recursive: true, force: true })
      removed += 1
    }
    return removed
  }

  async close(): Promise<void> {
    await Promise.all([...this.#boxes].map((box) => box.stop()))
  }

  #shell(): string | undefined {
    return findProgram('bash') ?? findProgram('sh')
  }
}
