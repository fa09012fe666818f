import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killQuietly, readOrEmpty, startOf } from '../process-table.ts'

/** A control group of one box. */
export interface Cgroup {
  /** Puts a process and what it will start under the limits. */
  attach(pid: number): void
  /** How many processes the kernel has killed in it for their memory; null where it does not count. */
  outOfMemoryKills(): number | null
  remove(): Promise<void>
}

export interface CgroupLimits {
  memoryBytes: number
  pids: number
}

/** A folder in which we may make control groups: of both controllers (version 2) or of one each (version 1). */
interface Parent {
  folder: string
  version: 1 | 2
  controllers: readonly ('memory' | 'pids')[]
}

const prefix = 'quintain-'

/**
 * The places where this process may make control groups, version 2 before version 1; empty where it may not. They are
 * below the group that this process is in, so that limits set on it hold for its boxes as well.
 */
export function cgroupParents(): Parent[] {
  try {
    const own = ownGroups()
    const mounts = groupMounts()
    const two = mounts.find(({ type }) => type === 'cgroup2')
    if (two !== undefined) {
      for (let path = below(two.root, own.get('') ?? '/'); ; path = join(path, '..')) {
        const parent = {
          folder: join(two.folder, path),
          version: 2,
          controllers: ['memory', 'pids'],
        } as const
        if (works(parent)) return [parent]
        if (path === '/') break
      }
    }
    return (['memory', 'pids'] as const).flatMap((controller) => {
      const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller))
      if (mount === undefined) return []
      const folder = join(mount.folder, below(mount.root, own.get(controller) ?? '/'))
      const parent: Parent = { folder, version: 1, controllers: [controller] }
      return works(parent) ? [parent] : []
    })
  } catch {
    return []
  }
}

let made = 0
/** Who we are in the names of our groups; known once, since later no file may be left to be opened. */
let owner: string | undefined

/** Throws as the file system does; the caller goes on without. */
export function makeCgroup(parents: readonly Parent[], limits: CgroupLimits): Cgroup {
  made += 1
  owner ??= ownName()
  const name = `${prefix}${owner}-${made}`
  const groups = parents.map((parent) => ({ parent, folder: join(parent.folder, name) }))
  try {
    for (const { parent, folder } of groups) {
      mkdirSync(folder)
      for (const [file, value] of settings(parent, limits)) writeFileSync(join(folder, file), value)
    }
  } catch (error) {
    for (const { folder } of groups) removeEmpty(folder)
    throw error
  }
  const memory = groups.find(({ parent }) => parent.controllers.includes('memory'))
  return {
    attach(pid) {
      for (const { folder } of groups) writeFileSync(join(folder, 'cgroup.procs'), String(pid))
    },
    outOfMemoryKills() {
      if (memory === undefined) return null
      const file = memory.parent.version === 2 ? 'memory.events' : 'memory.oom_control'
      const count = /^oom_kill (\d+)$/m.exec(readOrEmpty(join(memory.folder, file)))?.[1]
      return count === undefined ? null : Number(count)
    },
    async remove() {
      for (const { folder } of groups) await removeGroup(folder)
    },
  }
}

/** Removes the groups of processes that are gone, with whatever still runs in them. Returns how many there were. */
export async function sweepCgroups(parents: readonly Parent[]): Promise<number> {
  let removed = 0
  for (const { folder } of parents) {
    for (const name of readdirSync(folder)) {
      const [, namespace, pid, start] = /^quintain-(\d+)-(\d+)-(\d+)-\d+$/.exec(name) ?? []
      // Of processes in another namespace we cannot tell whether they are alive.
      if (namespace !== processNamespace() || startOf(Number(pid)) === start) continue
      await removeGroup(join(folder, name))
      removed += 1
    }
  }
  return removed
}

function settings({ version, controllers }: Parent, limits: CgroupLimits): [file: string, value: string][] {
  const bytes = String(limits.memoryBytes)
  const memory: [string, string][] =
    version === 2 ? [['memory.max', bytes]] : [['memory.limit_in_bytes', bytes]]
  return [
    ...(controllers.includes('memory') ? memory : []),
    ...(controllers.includes('pids') ? ([['pids.max', String(limits.pids)]] as [string, string][]) : []),
  ]
}

async function removeGroup(folder: string): Promise<void> {
  // A process that was killed is in its group until its parent has taken note.
  for (let tries = 0; tries < 100; tries++) {
    try {
      rmdirSync(folder)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    }
    for (const pid of readOrEmpty(join(folder, 'cgroup.procs')).split('\n')) {
      if (/^[1-9]\d*$/.test(pid)) killQuietly(Number(pid))
    }
    await sleep(Math.min(5 * (tries + 1), 100))
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It was not made.
  }
}

function ownName(): string {
  const start = startOf(process.pid)
  if (start === undefined) throw new Error('/proc tells nothing of this process')
  return `${processNamespace()}-${process.pid}-${start}`
}

/** Whether a group with its limits can be made there. */
function works(parent: Parent): boolean {
  const folder = join(parent.folder, `${prefix}probe-${process.pid}`)
  try {
    mkdirSync(folder)
  } catch {
    return false
  }
  try {
    for (const [file, value] of settings(parent, { memoryBytes: 1 << 28, pids: 64 }))
      writeFileSync(join(folder, file), value)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

/** Path of our own group by controller; the one of version 2 has no name. */
function ownGroups(): Map<string, string> {
  const groups = new Map<string, string>()
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').split('\n')) {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    for (const controller of controllers?.split(',') ?? []) groups.set(controller, path!)
  }
  return groups
}

function groupMounts(): { root: string; folder: string; type: string; options: string[] }[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [before, after] = line.split(' - ')
      const [, , , root, folder] = before?.split(' ') ?? []
      const [type, , options] = after?.split(' ') ?? []
      if (root === undefined || folder === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return []
      return [{ root, folder, type, options: options?.split(',') ?? [] }]
    })
}

/** A group's path below the part of the hierarchy that is mounted. */
function below(root: string, path: string): string {
  if (root === '/' || !path.startsWith(root)) return path
  return path.slice(root.length) || '/'
}

function processNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
}
