import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

interface Container {
  root: string
  config: Record<string, unknown>
  running: boolean
  children: Set<ChildProcess>
}

interface Exec {
  container: Container
  config: { Cmd: string[]; Env: string[]; AttachStdin: boolean }
  child?: ChildProcess
  exitCode: number | null
}

/** The host's programs; mounted and not linked, since the folder of a container lives on from command to command. */
const shell = ['usr', 'bin', 'sbin', 'lib', 'lib64'].flatMap((name) =>
  existsSync(`/${name}`) ? ['--ro-bind', `/${name}`, `/${name}`] : [],
)

/**
 * An engine of ours that speaks as much of Docker's HTTP interface as the driver uses, after its published description
 * (API 1.41): a container is a folder, a command runs in it by bubblewrap, archives are packed and unpacked by GNU tar.
 */
export class FakeEngine {
  /** What it says instead of starting a command. */
  execRefusal: string | undefined
  /** Commands that end go on for it. */
  undying = false
  readonly folder = mkdtempSync(join(tmpdir(), 'quintain-engine-'))
  readonly socketPath = join(this.folder, 'engine.sock')
  /** Everything that was asked, for tests of what a driver says. */
  readonly asked: { method: string; path: string; body: string }[] = []
  readonly containers = new Map<string, Container>()
  readonly images = new Set(['debian:stable-slim'])
  readonly #execs = new Map<string, Exec>()
  readonly #server: Server

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response))
    this.#server.on('upgrade', (request, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      this.#attach(request, socket as Socket)
    })
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.socketPath, () => resolve()))
  }

  async stop(): Promise<void> {
    for (const id of this.containers.keys()) this.#remove(id)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request)
    const url = new URL(request.url ?? '/', 'http://engine')
    const path = url.pathname.replace(/^\/v1\.41/, '')
    this.asked.push({
      method: request.method ?? '',
      path,
      body: url.pathname.endsWith('/archive') ? '' : body.toString(),
    })
    const json = (status: number, value?: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(value === undefined ? undefined : JSON.stringify(value))
    }
    const [, kind, id = '', verb] = /^\/(containers|exec|images)\/([^/]+)(?:\/(\w+))?$/.exec(path) ?? []
    if (kind === 'images')
      return this.images.has(decodeURIComponent(id)) ? json(200, {}) : json(404, { message: 'No such image' })
    if (kind === 'containers' && id === 'create') {
      const config = JSON.parse(body.toString()) as Record<string, unknown>
      if (!this.images.has(String(config['Image'])))
        return json(404, { message: `No such image: ${config['Image']}` })
      const container = randomBytes(8).toString('hex')
      const root = join(this.folder, container)
      for (const name of ['tmp', 'dev', 'proc', 'etc', 'home'])
        mkdirSync(join(root, name), { recursive: true })
      this.containers.set(container, { root, config, running: false, children: new Set() })
      return json(201, { Id: container, Warnings: [] })
    }
    if (kind === 'containers' && id === 'json') {
      const all = [...this.containers].map(([Id, { config }]) => ({ Id, Labels: config['Labels'] }))
      return json(200, all)
    }
    if (kind === 'exec') {
      const exec = this.#execs.get(id)
      if (exec === undefined) return json(404, { message: 'No such exec instance' })
      return json(200, { Running: this.undying || exec.exitCode === null, ExitCode: exec.exitCode })
    }
    const container = this.containers.get(id)
    if (container === undefined) return json(404, { message: `No such container: ${id}` })
    if (request.method === 'DELETE') {
      this.#remove(id)
      return json(204)
    }
    if (verb === 'start') {
      container.running = true
      return json(204)
    }
    if (verb === 'kill') {
      for (const child of container.children) child.kill('SIGKILL')
      return json(204)
    }
    if (verb === 'exec') {
      const exec = randomBytes(8).toString('hex')
      this.#execs.set(exec, {
        container,
        config: JSON.parse(body.toString()) as Exec['config'],
        exitCode: null,
      })
      return json(201, { Id: exec })
    }
    const target = join(container.root, url.searchParams.get('path') ?? '/')
    if (request.method === 'PUT') {
      const names = spawnSync('tar', ['-t'], { input: body }).stdout.toString().split('\n').filter(Boolean)
      const clash = names.some((name) => {
        const there = join(target, name.replace(/\/$/, ''))
        return isThere(there) && isFolder(there) !== name.endsWith('/')
      })
      if (clash) return json(400, { message: 'cannot overwrite directory with non-directory' })
      const { status, stderr } = spawnSync('tar', ['-x', '-C', target, '--no-same-owner', '-p'], {
        input: body,
      })
      return status === 0
        ? json(200)
        : json(400, { message: stderr.toString().replaceAll(container.root, '') })
    }
    if (!isThere(target)) return json(404, { message: 'Could not find the file in container' })
    const { stdout } = spawnSync('tar', ['-c', '-C', dirname(target), basename(target)], {
      maxBuffer: 2 ** 28,
    })
    response.writeHead(200, { 'content-type': 'application/x-tar' })
    response.end(stdout)
  }

  #attach(request: IncomingMessage, socket: Socket): void {
    const id = /\/exec\/([^/]+)\/start$/.exec(request.url ?? '')?.[1] ?? ''
    const exec = this.#execs.get(id)
    if (this.execRefusal !== undefined) {
      const said = JSON.stringify({ message: this.execRefusal })
      socket.end(
        `HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Length: ${said.length}\r\n\r\n${said}`,
        () => socket.destroySoon(),
      )
      return
    }
    // The request's own body comes first.
    let left = Number(request.headers['content-length'] ?? 0)
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n')
    if (exec === undefined) {
      socket.destroy()
      return
    }
    const { container, config } = exec
    const child = spawn(
      '/usr/bin/bwrap',
      [
        ...[
          '--bind',
          container.root,
          '/',
          ...shell,
          '--dev',
          '/dev',
          '--ro-bind',
          '/proc',
          '/proc',
          '--unshare-net',
        ],
        ...['--die-with-parent', '--clearenv', ...config.Env.flatMap(variable), '--', ...config.Cmd],
      ],
      { stdio: [config.AttachStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'], env: {}, detached: true },
    )
    container.children.add(child)
    exec.child = child
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => {
      const body = Math.min(left, chunk.length)
      left -= body
      if (chunk.length > body) child.stdin?.write(chunk.subarray(body))
    })
    socket.on('end', () => child.stdin?.end())
    child.stdin?.on('error', () => {})
    const frame = (which: number) => (chunk: Buffer) => {
      const head = Buffer.alloc(8)
      head[0] = which
      head.writeUInt32BE(chunk.length, 4)
      if (!socket.destroyed) socket.write(Buffer.concat([head, chunk]))
    }
    child.stdout?.on('data', frame(1))
    child.stderr?.on('data', frame(2))
    child.once('exit', (code, signal) => {
      exec.exitCode = code ?? 128 + (signal === 'SIGKILL' ? 9 : 15)
    })
    child.once('close', () => socket.end())
  }

  #remove(id: string): void {
    const container = this.containers.get(id)
    for (const { pid } of container?.children ?? []) {
      try {
        if (pid !== undefined) process.kill(-pid, 'SIGKILL')
      } catch {
        // It is gone.
      }
    }
    if (container !== undefined) rmSync(container.root, { recursive: true, force: true, maxRetries: 3 })
    this.containers.delete(id)
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

function isFolder(path: string): boolean {
  return isThere(path) && lstatSync(path).isDirectory()
}

function variable(text: string): string[] {
  const at = text.indexOf('=')
  return ['--setenv', text.slice(0, at), text.slice(at + 1)]
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of request) parts.push(chunk as Buffer)
  return Buffer.concat(parts)
}
