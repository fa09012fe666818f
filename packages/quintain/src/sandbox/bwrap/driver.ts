import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Duplex, Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { Availability, Box, BoxOptions, SandboxDriver } from '../../core/sandbox.ts'
import { withStreams } from '../../core/with-streams.ts'
import { type BoxPlan, planBox, refuseOption } from '../box-options.ts'
import { findProgram } from '../find-program.ts'
import { killQuietly, startOf } from '../process-table.ts'
import { sandboxFault } from '../sandbox-fault.ts'
import { Turnstile } from '../turnstile.ts'
import { bwrapOptions, descriptors, ownEtc, refuseReadOnlyPlaces } from './arguments.ts'
import { BwrapBox } from './box.ts'
import { type Cgroup, cgroupParents, makeCgroup, sweepCgroups } from './cgroup.ts'
import { Channel, type Frame } from './channel.ts'
import { supervisorArguments, thisMachine } from './machine.ts'
import { seccompFilter } from './seccomp.ts'
import { supervisor } from './supervisor.ts'

const startLimitMs = 30_000
/** In which a box that is given up says which process is its first. */
const numberLimitMs = 5000
/** Boxes that come up at once: more only take the processor from one another. */
const startsAtOnce = 8
/** Users that nobody has: far above those of people, services and containers. One a box, where we may choose. */
const firstUser = 1_900_000_000
const users = 90_000_000
const mostReadOnlyFiles = 256
const errorBytes = 4096
/** Those below need a capability. */
const firstFreePort = 1024

/**
 * Boxes in namespaces of the kernel, by bubblewrap (0.8 or newer): user, processes, network, IPC, host name and cgroup of
 * their own, no capability, no new privileges, a system call filter, a root of limited size in memory, and the system's
 * programs read-only. Limits of memory and processes hold for the whole box where a cgroup can be made, else for each
 * process. Nothing is left on the disk, and a box dies with the process that started it.
 */
export function bwrapDriver(options: { program?: string } = {}): SandboxDriver {
  return new BwrapDriver(options.program)
}

class BwrapDriver implements SandboxDriver {
  readonly name = 'bwrap'
  readonly isolation = 'namespaces'
  readonly #program: string | undefined
  readonly #boxes = new Set<Box>()
  readonly #door = new Turnstile(startsAtOnce)
  readonly #machine = thisMachine()
  #parents: ReturnType<typeof cgroupParents> | undefined
  #available: Promise<Availability> | undefined
  #started = 0

  constructor(program: string | undefined) {
    this.#program = program ?? findProgram('bwrap')
  }

  available(): Promise<Availability> {
    this.#available ??= this.#probe()
    return this.#available
  }

  async #probe(): Promise<Availability> {
    if (process.platform !== 'linux') return { available: false, reason: 'bubblewrap needs Linux' }
    if (this.#machine === undefined)
      return { available: false, reason: `there is no system call filter for ${process.arch} yet` }
    if (this.#program === undefined)
      return { available: false, reason: 'bubblewrap is not installed (Debian, Fedora: package bubblewrap)' }
    try {
      const box = await this.start({ limits: { diskMb: 8 } })
      const { exitCode } = await box.exec('exit 7')
      await box.stop()
      return exitCode === 7
        ? { available: true }
        : { available: false, reason: 'a box does not run commands' }
    } catch (error) {
      return { available: false, reason: error instanceof Error ? error.message : 'no box comes up' }
    }
  }

  async start(options: BoxOptions = {}): Promise<Box> {
    const plan = planBox(options)
    if (plan.readOnlyFiles.length > mostReadOnlyFiles)
      refuseOption('bwrap', 'readOnlyFiles', `takes ${mostReadOnlyFiles} at most`)
    if (plan.sockets.some(({ box }) => 'port' in box && box.port < firstFreePort))
      refuseOption('bwrap', 'network', `can listen on ports from ${firstFreePort} on in a box`)
    refuseReadOnlyPlaces(plan)
    refuseTooMuch(plan)
    if (this.#program === undefined || this.#machine === undefined)
      throw sandboxFault('sandbox_start_failed', 'bubblewrap is not installed, or not for this machine')
    return this.#door.through(() => this.#start(plan, options.signal))
  }

  async sweep(): Promise<number> {
    return sweepCgroups(this.#groups())
  }

  async close(): Promise<void> {
    await Promise.all([...this.#boxes].map((box) => box.stop()))
  }

  #groups() {
    this.#parents ??= cgroupParents()
    return this.#parents
  }

  async #start(plan: BoxPlan, signal: AbortSignal | undefined): Promise<Box> {
    signal?.throwIfAborted()
    // Before there is anything that would have to be removed again.
    const options = bwrapOptions(plan)
    const cgroup = this.#makeCgroup(plan)
    let child: ChildProcess
    try {
      child = this.#spawn(plan, options, cgroup !== undefined)
    } catch (error) {
      await cgroup?.remove()
      throw sandboxFault('sandbox_start_failed', 'no process could be started for a box', error)
    }
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => resolve())
      child.once('error', () => resolve())
    })
    let inner: { pid: number; start: string | undefined } | undefined
    const housing = {
      shell: shellOf(plan.image),
      outOfMemoryKills: () => cgroup?.outOfMemoryKills() ?? null,
      end: async () => {
        // The first process of the box: with it the kernel ends every other. Its number may be another's by now.
        if (inner?.start !== undefined && startOf(inner.pid) === inner.start) killQuietly(inner.pid)
        child.kill('SIGKILL')
        await ended
        await cgroup?.remove()
      },
    }
    let complaint = ''
    ;(at(child, descriptors.errors) as Readable).on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString('utf8')).slice(-errorBytes)
    })
    let box: BwrapBox | undefined
    const info = readInfo(at(child, descriptors.info) as Readable).then((pid) => {
      if (pid !== undefined) inner = { pid, start: startOf(pid) }
      return pid
    })
    const timer = AbortSignal.timeout(startLimitMs)
    try {
      const ready = new Promise<void>((resolve, reject) => {
        const fail = (reason: string) =>
          reject(sandboxFault('sandbox_start_failed', `no box came up: ${complaint.trim() || reason}`))
        child.once('error', (error) => fail(error.message))
        const channel = new Channel(at(child, descriptors.channel) as Duplex, {
          frame: (frame: Frame) => (frame.type === 'H' ? resolve() : box?.take(frame)),
          // What bubblewrap says of it may come a moment after the channel has closed.
          end: (reason) => {
            void ended.then(() => {
              box?.gone()
              fail(reason)
            })
          },
        })
        this.#started += 1
        box = new BwrapBox(`bwrap-${process.pid}-${this.#started}`, plan, channel, housing)
        const giveUp = (reason: string) => () => fail(reason)
        timer.addEventListener('abort', giveUp(`it took longer than ${startLimitMs / 1000} s`))
        signal?.addEventListener('abort', giveUp('it was cancelled'), { once: true })
      })
      const [pid] = await Promise.all([info, ready])
      if (cgroup !== undefined && pid !== undefined) cgroup.attach(pid)
      const started = box!
      await started.furnish([...etcFiles(plan), ...plan.files])
      signal?.throwIfAborted()
      this.#boxes.add(started)
      void ended.then(() => this.#boxes.delete(started))
      return started
    } catch (error) {
      // Bubblewrap that is ended too early leaves the first process of the box, which does not yet die with it.
      await Promise.race([info, ended, pause(numberLimitMs, undefined, { ref: false })])
      await housing.end()
      throw error
    }
  }

  #makeCgroup({ limits }: BoxPlan): Cgroup | undefined {
    const parents = this.#groups()
    if (parents.length === 0) return undefined
    try {
      // Files are in memory too, and have a limit of their own.
      const memoryBytes = Math.ceil((limits.memoryMb + limits.diskMb) * 2 ** 20)
      // One for the supervisor.
      return makeCgroup(parents, { memoryBytes, pids: limits.pids + 1 })
    } catch (error) {
      throw sandboxFault('sandbox_start_failed', 'a control group could not be made', error)
    }
  }

  #spawn(plan: BoxPlan, options: Uint8Array, grouped: boolean): ChildProcess {
    const machine = this.#machine!
    const { memoryMb, pids } = plan.limits
    const floor = grouped
      ? { dataBytes: 0, processes: 0 }
      : { dataBytes: Math.ceil(memoryMb * 2 ** 20), processes: pids + 1 }
    const command = ['/usr/bin/perl', '-e', supervisor, ...supervisorArguments(machine, floor)]
    const readOnly = plan.readOnlyFiles.flatMap((file) => ('link' in file ? [Buffer.alloc(0)] : [file.data]))
    const spawned = spawn(this.#program!, ['--args', String(descriptors.options), '--', ...command], {
      argv0: plan.label === '' ? 'quintain-box' : `quintain-box ${plan.label}`,
      env: {},
      cwd: '/',
      stdio: [
        ...['ignore' as const, 'ignore' as const],
        ...['pipe' as const, 'pipe' as const, 'pipe' as const, 'pipe' as const, 'pipe' as const],
        ...readOnly.map(() => 'pipe' as const),
      ],
      ...ownUser(),
    })
    const child = withStreams(spawned)
    const give = (descriptor: number, bytes: Uint8Array) => {
      const pipe = at(child, descriptor)
      // Bubblewrap that failed before it read is told by its exit.
      pipe?.on('error', () => {})
      ;(pipe as Writable | null)?.end(bytes)
    }
    give(descriptors.options, options)
    give(descriptors.filter, seccompFilter(machine))
    readOnly.forEach((bytes, index) => void give(descriptors.firstFile + index, bytes))
    return child
  }
}

/** Refuses first files for which there is no room: an error of whoever asks, and none that comes right by itself. */
function refuseTooMuch({ files, limits }: BoxPlan): void {
  const bytes = files.reduce((sum, file) => sum + ('link' in file ? 0 : file.data.length), 0)
  if (bytes <= limits.diskMb * 2 ** 20) return
  const needed = Math.ceil(bytes / 2 ** 20)
  refuseOption(
    'bwrap',
    'files',
    `has no room for their ${needed} MiB within limits.diskMb (${limits.diskMb})`,
  )
}

/** A pipe of a child; a process that never was has none, and says why by its event. */
function at(child: ChildProcess, descriptor: number): Readable | Writable | null {
  const pipes: readonly (Readable | Writable | null | undefined)[] = child.stdio
  return pipes[descriptor] ?? null
}

/** As root, a box runs as a user that nobody else is; otherwise as us, of whom it knows nothing. */
function ownUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const user = firstUser + Math.floor(Math.random() * users)
  return { uid: user, gid: user }
}

function etcFiles({ image }: BoxPlan) {
  if (image !== undefined) return []
  return Object.entries(ownEtc).map(([path, text]) => ({ path, mode: 0o644, data: Buffer.from(text) }))
}

function shellOf(image: string | undefined): string {
  return existsSync(join(image ?? '/', 'bin/bash')) ? '/bin/bash' : '/bin/sh'
}

/** The number of the box's first process as we see it. */
async function readInfo(stream: Readable): Promise<number | undefined> {
  let text = ''
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8')
  })
  stream.on('error', () => {})
  if (!stream.readableEnded) await once(stream, 'close')
  const pid = /"child-pid": *(\d+)/.exec(text)?.[1]
  return pid === undefined ? undefined : Number(pid)
}
