import { readFileSync } from 'node:fs'
import { processTree } from './process-memory.ts'

/**
 * Milliseconds of processor time of this process, and of the children that it has seen end. They tell what a thing
 * costs even where other programs keep the machine busy. Children are counted on Linux only.
 */
export function cpuTimes(): { ownMs: number; childrenMs: number } {
  const { user, system } = process.cpuUsage()
  return { ownMs: (user + system) / 1000, childrenMs: endedChildrenMs() }
}

/** Clock ticks of Linux's /proc, of which there are 100 a second on every platform that Node has binaries for. */
const tickMs = 10

/** Milliseconds of processor time of another process so far, and of its descendants that live. Linux only. */
export function cpuTimesOf(pid: number): { ownMs: number; childrenMs: number } {
  const [own = 0, ...others] = processTree(pid).map((one) => ticksIn(`/proc/${one}/stat`, 11) * tickMs)
  return { ownMs: own, childrenMs: others.reduce((sum, ms) => sum + ms, 0) }
}

function endedChildrenMs(): number {
  return ticksIn('/proc/self/stat', 13) * tickMs
}

/** proc(5): counted from behind the program's name, which stands in brackets, utime and stime are 11 and 12, those of ended children 13 and 14. */
function ticksIn(file: string, place: number): number {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return Number.NaN
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[place]) + Number(fields[place + 1])
}
