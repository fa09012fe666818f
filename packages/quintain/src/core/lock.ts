import { readFileSync } from 'node:fs'
import { mkdir, open, readFile, rm, rmdir, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { QuintainError } from './errors.ts'

interface Owner {
  pid: number
  host: string
  /** When the process started, by the kernel's count, so that a reused pid is not taken for its old owner. */
  started: string
}

/** A takeover lasts microseconds; a guard folder older than this was left by a killed process. */
const guardLifeMs = 10_000

function processStart(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22, counted after the command name, which may itself contain spaces and parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function alive(owner: Owner): boolean {
  if (owner.host !== hostname()) return true
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return owner.started === '' || processStart(owner.pid) === owner.started
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Owner
  } catch {
    return undefined
  }
}

/** Held while a process writes to a run; a second one is refused with `run_locked`. Released by the kernel's word that its owner is dead. */
export async function lockFolder(dir: string): Promise<{ release(): Promise<void> }> {
  const path = join(dir, 'lock')
  const guard = join(dir, 'lock.takeover')
  const mine: Owner = { pid: process.pid, host: hostname(), started: processStart(process.pid) }

  const create = async (): Promise<boolean> => {
    try {
      const file = await open(path, 'wx')
      await file.writeFile(JSON.stringify(mine))
      await file.close()
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }

  for (let round = 0; round < 50; round++) {
    if (await create()) return { release: () => rm(path, { force: true }) }
    const owner = await readOwner(path)
    if (owner !== undefined && alive(owner)) {
      throw new QuintainError(
        'run_locked',
        `${dir} is being written by process ${owner.pid} on ${owner.host}. Wait for it, or stop it first.` +
          (owner.host === hostname() ? '' : ` If that machine is gone, delete ${path}.`),
        { facts: { dir, pid: owner.pid, host: owner.host } },
      )
    }
    // The owner is dead, or was killed before it wrote its name. One process at a time may clear it away.
    try {
      await mkdir(guard)
    } catch {
      const age = await stat(guard).then(
        (found) => Date.now() - found.mtimeMs,
        () => 0,
      )
      if (age > guardLifeMs) await rmdir(guard).catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 20))
      continue
    }
    try {
      const still = await readOwner(path)
      const unnamed =
        still === undefined &&
        (await stat(path).then(
          (found) => Date.now() - found.mtimeMs > 1_000,
          () => false,
        ))
      if (unnamed || (still !== undefined && !alive(still))) await rm(path, { force: true })
      else if (still === undefined) await new Promise((resolve) => setTimeout(resolve, 100))
    } finally {
      await rmdir(guard).catch(() => {})
    }
  }
  throw new QuintainError('run_locked', `${dir} stays locked; delete ${path} if no other process uses it.`, {
    facts: { dir },
  })
}
