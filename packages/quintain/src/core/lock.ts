import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { appendFile, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { QuintainError } from './errors.ts'
import { ioError } from './io-error.ts'

/** Who a lock file says that it belongs to. */
interface Owner {
  pid: number
  host: string
  /** The namespace in which `pid` means something: containers may share a folder and a host name, not their processes. */
  space: string
  /** Boot and time at which the process started, so that a reused pid is not taken for its old owner. Empty where the system does not say. */
  started: string
}

interface Claim {
  path: string
  owner: Owner | undefined
  held: boolean
}

/** Files of claims: `lock-<pid>-<random>`. No two claims ever have one name, so a dead one can be removed without a race. */
const claimName = /^lock-\d+-[0-9a-f]+$/
/** A claim is written before it gets its name; one that cannot be read after so long was left behind by a power loss. */
const unreadableMs = 10_000
/** For so long a process waits for others that are deciding at the same moment. */
const patienceMs = 30_000

function ofKernel(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

function startOf(pid: number): string {
  const stat = ofKernel(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  if (stat === '') return ''
  const boot = ofKernel(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())
  // Counted after the command name, which may itself contain spaces and parentheses: state, …, start time (field 22).
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie has ended, whether or not its parent has asked after it.
  if (fields[0] === 'Z') return 'ended'
  return `${boot}/${fields[19] ?? ''}`
}

const space = (): string => ofKernel(() => readlinkSync('/proc/self/ns/pid'))

function here(owner: Owner): boolean {
  return owner.host === hostname() && owner.space === space()
}

/** False only for a process of this very machine that is known to be gone; what cannot be known is taken for alive. */
function alive(owner: Owner): boolean {
  if (!here(owner)) return true
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
  return owner.started === '' || startOf(owner.pid) === owner.started
}

function ownerOf(line: string | undefined): Owner | undefined {
  try {
    const owner = JSON.parse(line ?? '') as Owner
    return Number.isInteger(owner.pid) && typeof owner.host === 'string' ? owner : undefined
  } catch {
    return undefined
  }
}

async function isDead(claim: Claim): Promise<boolean> {
  if (claim.owner !== undefined) return !alive(claim.owner)
  const found = await stat(claim.path).catch(() => undefined)
  // Either way round, so that a clock that was set back does not keep the file for good.
  return found === undefined || Math.abs(Date.now() - found.mtimeMs) > unreadableMs
}

/** The claims of others that live; those of the dead are cleared away. */
async function livingClaims(dir: string, mine: string): Promise<Claim[]> {
  const living: Claim[] = []
  for (const name of await readdir(dir)) {
    if (!claimName.test(name) || name === mine) continue
    const path = join(dir, name)
    const text = await readFile(path, 'utf8').catch(() => undefined)
    if (text === undefined) continue
    const [first, second] = text.split('\n')
    const claim: Claim = { path, owner: ownerOf(first), held: second === 'held' }
    if (await isDead(claim)) await rm(path, { force: true })
    else living.push(claim)
  }
  return living
}

function refusal(dir: string, { path, owner, held }: Claim): QuintainError {
  if (owner === undefined || !held) {
    return new QuintainError(
      'run_locked',
      `${dir} stays locked; delete ${path} if no other process uses it.`,
      { facts: { dir } },
    )
  }
  const advice = here(owner)
    ? 'Wait for it, or stop it first.'
    : `Wait for it; if that machine is gone, or this folder is a copy, delete ${path}.`
  return new QuintainError(
    'run_locked',
    `${dir} is being written by process ${owner.pid} on ${owner.host}. ${advice}`,
    { facts: { dir, pid: owner.pid, host: owner.host } },
  )
}

/**
 * Held while a process writes to a run; a second one is refused with `run_locked`. A lock whose owner is dead, by the
 * kernel's word, is taken over.
 *
 * Every process puts up a claim of its own and only then looks for others: of two, the later one to look sees the
 * earlier one's claim, so never do both go on. Who sees another claim takes its own down and, unless that one is held
 * already, tries again after a random while.
 *
 * Throws `run_locked`, and `disk_full` or `journal_io` when no claim can be written.
 */
export async function lockFolder(dir: string): Promise<{ release(): Promise<void> }> {
  const mine: Owner = {
    pid: process.pid,
    host: hostname(),
    space: space(),
    started: startOf(process.pid),
  }
  const name = `lock-${process.pid}-${randomBytes(8).toString('hex')}`
  const path = join(dir, name)
  const draft = join(dir, `.${name}`)
  const release = () => rm(path, { force: true })
  const end = performance.now() + patienceMs
  for (let round = 1; ; round++) {
    let others: Claim[]
    try {
      others = await livingClaims(dir, name)
      if (others.length === 0) {
        // A claim has its name only once it is written, so that nobody reads half of one.
        await writeFile(draft, `${JSON.stringify(mine)}\n`, { mode: 0o600 })
        await rename(draft, path)
        others = await livingClaims(dir, name)
        if (others.length === 0) {
          await appendFile(path, 'held\n')
          return { release }
        }
        await release()
      }
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {})
      await release().catch(() => {})
      throw ioError(error, dir)
    }
    const holder = others.find(({ held }) => held)
    if (holder !== undefined || performance.now() > end) throw refusal(dir, holder ?? others[0]!)
    await pause(5 + Math.random() * Math.min(200, 20 * round))
  }
}
