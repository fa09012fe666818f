import { QuintainError } from '../../core/index.ts'
import type { ServedSplit, SessionCore } from '../session/session.ts'
import { checkDoor } from './check-door.ts'
import type { Door, DoorAddress, DoorOptions, OpenDoor } from './door.ts'
import { openOperations } from './operations.ts'
import { checkHost } from './token.ts'

export interface ServerOptions {
  /** Opened cores; the server closes them. */
  cores: readonly SessionCore[]
  doors: readonly Door[]
  /** Other doors that a refusal may name. */
  known?: readonly Door[]
  host: string
  /** Port of the first address; every address takes the next. 0: any that are free. */
  port: number
  token?: string
  names?: ReadonlySet<string>
  /** Accept what a door does not carry. */
  lossy: boolean
  /** Port of the address for operations. 0: any that is free. */
  operationsPort: number
  log(line: string): void
}

/** What is served, and where; as it is shown. Nothing in it is secret. */
export interface ServerFacts {
  environments: {
    name: string
    version: string
    slug: string
    digest: string
    splits: readonly ServedSplit[]
  }[]
  doors: DoorFacts[]
  operations: { url: string }
}

export interface DoorFacts {
  door: string
  title: string
  /** How clients show who they are. */
  authentication: string
  /** They must show the token of this server. */
  token: boolean
  merges: boolean
  addresses: readonly DoorAddress[]
  /** By slug of the environment: what is lost behind this door. Those that lose nothing are left out. */
  losses: Record<string, string[]>
}

export interface Server {
  readonly facts: ServerFacts
  /** Sessions whose world is held. */
  open(): number
  /**
   * Takes no more sessions and waits for those that are open: at most `graceMs`, or until `hardSignal`. Then everything ends,
   * and what is recorded is whole. Gives how many sessions were cut off. Asked again it gives the same. Throws what the
   * cores throw when they close, such as `disk_full`.
   */
  drain(options: { graceMs: number; hardSignal?: AbortSignal }): Promise<{ cut: number }>
}

/**
 * Opens doors on environments. Everything that would be refused is refused before anything listens, but for addresses that
 * cannot be had: `needs_unmet` for an environment that a door does not carry, `usage` for an address that needs a token or
 * two environments of one name. The cores are closed where it throws.
 */
export async function openServer(options: ServerOptions): Promise<Server> {
  const { cores, doors, token, host, log } = options
  const opened: { close(): Promise<void> }[] = []
  try {
    const losses = checkServer(options)
    const operations = await openOperations({ cores, port: options.operationsPort, log })
    opened.push(operations)
    const facts: DoorFacts[] = []
    let port = options.port
    for (const [place, door] of doors.entries()) {
      const doorOptions: DoorOptions = {
        host,
        port,
        ...(token === undefined ? {} : { token }),
        ...(options.names === undefined ? {} : { names: options.names }),
        log,
      }
      const open = await door.open(cores, doorOptions)
      opened.push(open)
      port = nextPort(port, open)
      facts.push({
        door: door.name,
        title: door.title,
        authentication: door.plane.authentication,
        token: token !== undefined,
        merges: door.plane.merges,
        addresses: open.addresses,
        losses: losses[place]!,
      })
    }
    return new OpenServer(cores, opened, {
      environments: cores.map(({ environment: { name, version, slug, digest }, splits }) => ({
        name,
        version,
        slug,
        digest,
        splits,
      })),
      doors: facts,
      operations: { url: operations.url },
    })
  } catch (error) {
    await closeAll([...opened, ...cores])
    throw error
  }
}

/** What is lost behind each door, by slug. */
function checkServer(options: ServerOptions): Record<string, string[]>[] {
  const { cores, doors, host, token, lossy, known = doors } = options
  const slugs = cores.map(({ environment }) => environment.slug)
  const twice = slugs.find((slug, place) => slugs.indexOf(slug) !== place)
  if (twice !== undefined) {
    throw new QuintainError('usage', `Two environments are called ${twice}: serve them by two commands.`, {
      facts: { slug: twice },
    })
  }
  for (const door of doors) checkHost(door, { host, token })
  return doors.map((door) => {
    const losses = cores.map(({ environment }): [string, string[]] => [
      environment.slug,
      checkDoor(door, environment, { lossy, others: known }),
    ])
    return Object.fromEntries(losses.filter(([, lost]) => lost.length > 0))
  })
}

/** The first port behind those that a door has taken in a row. */
function nextPort(port: number, { addresses }: OpenDoor): number {
  if (port === 0) return 0
  const taken = new Set(addresses.map(({ url }) => Number(new URL(url).port)))
  let next = port
  while (taken.has(next)) next += 1
  return next
}

/** Closes one after the other, all of them; what fails to close keeps no other open. Gives what they threw. */
async function closeAll(opened: readonly { close(): Promise<void> }[]): Promise<unknown[]> {
  const thrown: unknown[] = []
  for (const one of opened) await one.close().catch((error: unknown) => thrown.push(error))
  return thrown
}

class OpenServer implements Server {
  readonly facts: ServerFacts
  private readonly cores: readonly SessionCore[]
  private readonly opened: readonly { close(): Promise<void> }[]
  private ending: Promise<{ cut: number }> | undefined

  constructor(
    cores: readonly SessionCore[],
    opened: readonly { close(): Promise<void> }[],
    facts: ServerFacts,
  ) {
    this.cores = cores
    this.opened = opened
    this.facts = facts
  }

  open(): number {
    return this.cores.reduce((sum, core) => sum + core.stats().open, 0)
  }

  drain(options: Parameters<Server['drain']>[0]): Promise<{ cut: number }> {
    this.ending ??= this.end(options)
    return this.ending
  }

  private async end({ graceMs, hardSignal }: Parameters<Server['drain']>[0]): Promise<{ cut: number }> {
    const hard = Promise.withResolvers<void>()
    const stop = () => hard.resolve()
    if (hardSignal?.aborted) stop()
    hardSignal?.addEventListener('abort', stop, { once: true })
    await Promise.race([Promise.all(this.cores.map((core) => core.drain(graceMs))), hard.promise])
    hardSignal?.removeEventListener('abort', stop)
    const cut = this.open()
    // Doors first: nobody is told of sessions that end because the server does. Operations are asked to the end.
    const [operations, ...doors] = this.opened
    const thrown = await closeAll([...doors, ...this.cores, operations!])
    if (thrown.length > 0) throw thrown[0]
    return { cut }
  }
}
