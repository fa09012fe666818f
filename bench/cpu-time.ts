import { readFileSync } from 'node:fs'

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

function endedChildrenMs(): number {
  let text: string
  try {
    text = readFileSync('/proc/self/stat', 'utf8')
  } catch {
    return Number.NaN
  }
  // proc(5): counted from behind the program's name, which stands in brackets, cutime and cstime are 13 and 14.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * tickMs
}
