import { readdirSync, readFileSync } from 'node:fs'

/** Resident memory of a process and all its descendants at one moment, in bytes. */
export interface MemorySample {
  /** `performance.timeOrigin + performance.now()` of the sampling process. */
  at: number
  bytes: number
  processes: number
}

/** Samples the resident memory of a process tree by /proc. Linux only. */
export function watchMemory(root: number, everyMs: number): { stop(): MemorySample[] } {
  const samples: MemorySample[] = []
  const take = (): void => {
    const tree = processTree(root)
    const bytes = tree.reduce((sum, pid) => sum + residentBytes(pid), 0)
    samples.push({ at: performance.timeOrigin + performance.now(), bytes, processes: tree.length })
  }
  const timer = setInterval(take, everyMs)
  return {
    stop() {
      clearInterval(timer)
      return samples
    },
  }
}

/**
 * Memory of a process and all its descendants now: resident, where what they share counts for each of them, and
 * proportional, where it counts once. Linux only.
 */
export function processMemory(root: number): {
  bytes: number
  proportionalBytes: number
  processes: number
} {
  const tree = processTree(root)
  const sum = (of: (pid: number) => number) => tree.reduce((total, pid) => total + of(pid), 0)
  return { bytes: sum(residentBytes), proportionalBytes: sum(proportionalBytes), processes: tree.length }
}

/** A process and all its descendants now, itself first. Linux only. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const parent = parentOf(name)
    if (parent === undefined) continue
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [Number(name)])
    else siblings.push(Number(name))
  }
  const tree = [root]
  for (let at = 0; at < tree.length; at++) tree.push(...(children.get(tree[at]!) ?? []))
  return tree
}

function parentOf(pid: string): number | undefined {
  const text = read(`/proc/${pid}/stat`)
  // The name of the program stands in brackets and may hold anything.
  return text === undefined ? undefined : Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1])
}

function residentBytes(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/status`) ?? '')
  return kib === null ? 0 : Number(kib[1]) * 1024
}

function proportionalBytes(pid: number): number {
  const kib = /^Pss:\s+(\d+) kB$/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')
  return kib === null ? 0 : Number(kib[1]) * 1024
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
