import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Availability, Box, BoxOptions, SandboxDriver } from '../../core/sandbox.ts'
import { type BoxPlan, planBox, refuseOption } from '../box-options.ts'
import { startOf } from '../process-table.ts'
import { sandboxFault } from '../sandbox-fault.ts'
import { Turnstile } from '../turnstile.ts'
import { boxUser, ContainerBox, removeContainer } from './box.ts'
import { Engine, engineMessage } from './engine.ts'

export interface ContainerOptions {
  /** Unix socket of the engine. Default: where `DOCKER_HOST` says, else where the engine puts it. */
  socketPath?: string
  /** Image of boxes that name none. It needs `/bin/sh`; `bash` where commands are text for bash. Never pulled by us. */
  image?: string
}

const startsAtOnce = 8
/** A container whose owner is gone without a trace ends by itself. */
const lifetimeSeconds = 24 * 3600
const label = 'quintain.box'

/** Boxes in containers of Docker: no network, no capability, no new privileges, an unprivileged user. */
export function dockerDriver(options: ContainerOptions = {}): SandboxDriver {
  return new ContainerDriver('docker', options, ['/var/run/docker.sock'])
}

/** The same in containers of Podman, by the interface that it has in common with Docker. */
export function podmanDriver(options: ContainerOptions = {}): SandboxDriver {
  const user = process.getuid?.() ?? 0
  return new ContainerDriver('podman', options, [
    `/run/user/${user}/podman/podman.sock`,
    '/run/podman/podman.sock',
  ])
}

class ContainerDriver implements SandboxDriver {
  readonly name: string
  readonly isolation = 'container'
  readonly #engine: Engine | undefined
  readonly #image: string
  readonly #boxes = new Set<Box>()
  readonly #door = new Turnstile(startsAtOnce)
  #started = 0

  constructor(name: string, options: ContainerOptions, places: readonly string[]) {
    this.name = name
    this.#image = options.image ?? 'debian:stable-slim'
    const said = /^unix:\/\/(\/.+)$/.exec(process.env['DOCKER_HOST'] ?? '')?.[1]
    const socketPath = options.socketPath ?? (name === 'docker' ? said : undefined) ?? places.find(existsSync)
    this.#engine = socketPath === undefined ? undefined : new Engine(socketPath)
  }

  async available(): Promise<Availability> {
    if (this.#engine === undefined)
      return { available: false, reason: `no ${this.name} engine listens on a Unix socket here` }
    try {
      const answer = await this.#engine.ask('GET', `/images/${encodeURIComponent(this.#image)}/json`)
      if (answer.status === 200) return { available: true }
      const reason =
        answer.status === 404
          ? `the image ${this.#image} is not on this engine (${this.name} pull ${this.#image})`
          : engineMessage(answer)
      return { available: false, reason }
    } catch (error) {
      return {
        available: false,
        reason: error instanceof Error ? error.message : 'the engine does not answer',
      }
    }
  }

  async start(options: BoxOptions = {}): Promise<Box> {
    const plan = planBox(options)
    if (plan.sockets.some(({ box, host }) => 'port' in box || 'port' in host))
      refuseOption(this.name, 'network', 'relays Unix sockets only; give paths on both ends')
    const work = `${plan.workdir}/`
    if (plan.readOnlyFiles.some(({ path }) => path.startsWith(work) || path.split('/').length < 3))
      refuseOption(
        this.name,
        'readOnlyFiles',
        'keeps them in folders of their own outside the working directory, such as /tests',
      )
    const engine = this.#engine
    if (engine === undefined)
      throw sandboxFault('sandbox_start_failed', `no ${this.name} engine listens here`)
    return this.#door.through(async () => {
      options.signal?.throwIfAborted()
      return this.#start(engine, plan, options.signal)
    })
  }

  async #start(engine: Engine, plan: BoxPlan, signal: AbortSignal | undefined): Promise<Box> {
    this.#started += 1
    const id = `${this.name}-${process.pid}-${this.#started}`
    const made = await engine.ask('POST', '/containers/create', { json: container(plan, this.#image, id) })
    if (made.status !== 201)
      throw sandboxFault('sandbox_start_failed', `no container: ${engineMessage(made)}`)
    const { Id } = JSON.parse(made.body.toString('utf8')) as { Id: string }
    const box: ContainerBox = new ContainerBox({
      driver: this.name,
      id,
      plan,
      engine,
      container: Id,
      onStop: () => this.#boxes.delete(box),
    })
    this.#boxes.add(box)
    try {
      const started = await engine.ask('POST', `/containers/${Id}/start`)
      if (started.status !== 204)
        throw sandboxFault('sandbox_start_failed', `no container: ${engineMessage(started)}`)
      await box.furnish()
      signal?.throwIfAborted()
      return box
    } catch (error) {
      await box.stop()
      throw error
    }
  }

  /** Containers of processes of this machine that are gone. */
  async sweep(): Promise<number> {
    if (this.#engine === undefined) return 0
    const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
    const answer = await this.#engine.ask('GET', `/containers/json?all=1&filters=${filters}`)
    if (answer.status !== 200) throw sandboxFault('sandbox_io', engineMessage(answer))
    const containers = JSON.parse(answer.body.toString('utf8')) as {
      Id: string
      Labels: Record<string, string>
    }[]
    let removed = 0
    for (const { Id, Labels } of containers) {
      const [host, pid, start] = (Labels['quintain.owner'] ?? '').split(' ')
      if (host !== hostname() || startOf(Number(pid)) === start) continue
      await removeContainer(this.#engine, Id)
      removed += 1
    }
    return removed
  }

  async close(): Promise<void> {
    await Promise.all([...this.#boxes].map((box) => box.stop()))
  }
}

/** What an engine is asked to make. The variables of a box are given to its commands, not to its container. */
function container(plan: BoxPlan, image: string, id: string): unknown {
  const { limits, mounts, sockets } = plan
  const memory = Math.ceil(limits.memoryMb * 2 ** 20)
  const binds = [
    ...mounts.map(({ source, target }) => ({ Type: 'bind', Source: source, Target: target, ReadOnly: true })),
    ...sockets.map(({ box, host }) => ({
      Type: 'bind',
      Source: 'path' in host ? host.path : '',
      Target: 'path' in box ? box.path : '',
      ReadOnly: true,
    })),
  ]
  const cpuSeconds = Math.ceil(limits.cpuMs / 1000)
  const fileBytes = Math.ceil(limits.diskMb * 2 ** 20)
  return {
    Image: plan.image ?? image,
    Entrypoint: ['/bin/sh', '-c', `sleep ${lifetimeSeconds}`],
    Cmd: [],
    User: `${boxUser.uid}:${boxUser.gid}`,
    WorkingDir: '/',
    Env: [],
    Hostname: 'box',
    NetworkDisabled: true,
    Labels: {
      [label]: id,
      'quintain.owner': `${hostname()} ${process.pid} ${startOf(process.pid) ?? ''}`,
      'quintain.label': plan.label,
    },
    HostConfig: {
      AutoRemove: true,
      Init: true,
      NetworkMode: 'none',
      IpcMode: 'private',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Memory: memory,
      MemorySwap: memory,
      PidsLimit: Math.ceil(limits.pids) + 2,
      Mounts: binds,
      Ulimits: [
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'cpu', Soft: cpuSeconds, Hard: cpuSeconds + 1 },
        // Of each file: engines limit the whole only on some file systems.
        { Name: 'fsize', Soft: fileBytes, Hard: fileBytes },
      ],
    },
  }
}
