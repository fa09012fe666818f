import { readdirSync, readFileSync } from 'node:fs'

/** When a process started, in clock ticks since the machine did: with its number, who it is. Undefined where it is not, or this is not Linux. */
export function startOf(pid: number): string | undefined {
  const stat = readOrEmpty(`/proc/${pid}/stat`)
  return stat === '' ? undefined : stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

/** Processes whose environment began with this variable: all of a box that did not hide. Empty where there is no /proc. */
export function processesWith(variable: string): number[] {
  let names: string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return []
  }
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number)
  return pids.filter((pid) => readOrEmpty(`/proc/${pid}/environ`).split('\0').includes(variable))
}

/** Kills a process, or with a negative number its group. */
export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

/** Whether there is such a process, or with a negative number such a group. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
