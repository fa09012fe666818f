import { type ChildProcess, fork, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, extname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { nemoEnvironment } from '../../conformance/nemo-gym/nemo-environment.ts'
import { type PythonEnvironment, pythonEnvironment } from '../../conformance/python/environment.ts'
import { cpuTimesOf } from '../cpu-time.ts'
import { processMemory } from '../process-memory.ts'
import type { Kind } from './kinds.ts'
import type { Load, LoadMoment } from './load-main.ts'

/** A server to be measured. */
export interface DoorServer {
  pid: number
  url: string
  /** Where its tasks are listed. */
  tasks: { split: string; ids: string[] }
  /** Resident bytes of the server and its workers. */
  memory(): ReturnType<typeof processMemory>
  close(): Promise<void>
}

const extension = extname(import.meta.url)
const here = dirname(fileURLToPath(import.meta.url))

/** The checkout, also where this file is the compiled one. */
export const root = checkout(here)

function checkout(folder: string): string {
  return existsSync(join(folder, 'environments/wordle/package.json')) ? folder : checkout(dirname(folder))
}

/** `quintain` as a user has it: the packed one, or the sources where the bench itself is not compiled. */
const quintain = fileURLToPath(new URL('../bin/quintain.js', import.meta.resolve('quintain')))

interface Ready {
  environments: { splits: { name: string; tasks: number }[] }[]
  doors: { door: string; addresses: { url: string }[] }[]
}

/** Serves an environment by a door with the command line, and by the native one, which lists its tasks. */
export async function serveOurs(
  env: Kind | 'orders',
  { door, out, more = [] }: { door: string; out: string; more?: readonly string[] },
): Promise<DoorServer> {
  const reference = env === 'counter' ? join(here, `counter${extension}`) : `@quintain/${env}`
  const doors = door === 'native' ? ['native'] : [door, 'native']
  const args = [quintain, 'serve', reference, ...doors.flatMap((name) => ['--door', name]), ...more]
  args.push('--port', '0', '--json', '--until-stdin-closes', '--out', out, '--grace', '1s')
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], cwd: here })
  const ready = JSON.parse(await firstLine(child)) as Ready
  const urlOf = (name: string) => ready.doors.find((one) => one.door === name)!.addresses[0]!.url
  const { name: split } = ready.environments[0]!.splits.find(({ tasks }) => tasks > 0)!
  const listed = await fetch(`${urlOf('native')}/v1/tasks?split=${split}&from=0&to=64`)
  const { tasks } = (await listed.json()) as { tasks: { id: string }[] }
  return {
    pid: child.pid!,
    url: urlOf(door),
    tasks: { split, ids: tasks.map(({ id }) => id) },
    memory: () => processMemory(child.pid!),
    close: () => ended(child, () => child.stdin.end()),
  }
}

interface Peer {
  environment(progress: (text: string) => void): Promise<PythonEnvironment | { unavailable: string }>
  program: string
  scheme: string
  /** It also has a quickest way, which is not how its users write environments. */
  quickest?: true
}

const installed = (folder: string) => (progress: (text: string) => void) =>
  pythonEnvironment(join(root, folder), progress)

const peers: Record<string, Peer> = {
  ors: { environment: installed('conformance/ors'), program: 'peer_ors.py', scheme: 'http' },
  openenv: {
    environment: installed('conformance/openenv'),
    program: 'peer_openenv.py',
    scheme: 'http',
    quickest: true,
  },
  'nemo-gym': {
    environment: (progress) => nemoEnvironment(progress, join(root, 'conformance/nemo-gym')),
    program: 'peer_nemo_gym.py',
    scheme: 'http',
  },
  hud: { environment: installed('conformance/hud'), program: 'peer_hud.py', scheme: 'tcp' },
}

/** The same game behind the protocol's own server in Python, or why there is none here. */
export async function serveTheirs(
  kind: Kind,
  door: string,
  { progress, quickest = false }: { progress: (text: string) => void; quickest?: boolean },
): Promise<DoorServer | { unavailable: string }> {
  const peer = peers[door]
  if (peer === undefined) return { unavailable: 'it has no server that can be installed here' }
  if (quickest && peer.quickest !== true) return { unavailable: 'it has one way only' }
  const python = await peer.environment(progress)
  if ('unavailable' in python) return python
  const port = await freePort()
  const program = join(root, 'bench/doors', peer.program)
  const child = spawn(python.interpreter, [program, kind, String(port), ...(quickest ? ['quickest'] : [])], {
    stdio: ['ignore', 'ignore', 'ignore'],
    cwd: dirname(program),
    env: { ...process.env, LOG_LEVEL: 'ERROR' },
  })
  await listening(child, port)
  return {
    pid: child.pid!,
    url: `${peer.scheme}://127.0.0.1:${port}`,
    tasks: { split: 'train', ids: Array.from({ length: 64 }, (_, place) => String(place)) },
    memory: () => processMemory(child.pid!),
    close: () => ended(child, () => child.kill('SIGKILL')),
  }
}

/** A WebSocket server that only answers, as the counter behind OpenEnv would: the most that any server could reach with this load. */
export async function serveBare(): Promise<DoorServer> {
  const child = fork(join(here, `bare-main${extension}`))
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(message as number))
    child.once('exit', (code) => reject(new Error(`the bare server ended with ${code}`)))
  })
  return {
    pid: child.pid!,
    url: `http://127.0.0.1:${port}`,
    tasks: { split: 'train', ids: ['count-0'] },
    memory: () => processMemory(child.pid!),
    close: () => ended(child, () => child.kill()),
  }
}

/** A load, and milliseconds of processor time that its steps took of the server's main process and of those below it. */
export type MeasuredLoad = Load & { mainMs: number; workersMs: number }

/** Plays one server from a process of its own. */
export function load(
  { url, tasks, pid }: DoorServer,
  how: { door: string; kind: Kind; sessions: number; warmMs: number; ms: number },
): Promise<MeasuredLoad> {
  const { door, kind, sessions, warmMs, ms } = how
  const args = [door, url, kind, tasks.split, sessions, warmMs, ms, ...tasks.ids].map(String)
  const child = fork(join(here, `load-main${extension}`), args)
  return new Promise((resolve, reject) => {
    let told: Load | undefined
    let from = { ownMs: 0, childrenMs: 0 }
    let spent = { mainMs: 0, workersMs: 0 }
    child.on('message', (message: Load | LoadMoment) => {
      if (typeof message === 'object') told = message
      else if (message === 'from') from = cpuTimesOf(pid)
      else {
        const until = cpuTimesOf(pid)
        spent = { mainMs: until.ownMs - from.ownMs, workersMs: until.childrenMs - from.childrenMs }
      }
    })
    child.on('exit', (code) => {
      if (told !== undefined && code === 0) resolve({ ...told, ...spent })
      else reject(new Error(`the load of ${door} ended with ${code}`))
    })
  })
}

async function firstLine(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stdout! })
  for await (const line of lines) return line
  throw new Error('the server ended before it was ready')
}

function ended(child: ChildProcess, end: () => void): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    end()
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Waits until something listens there; a Python server takes its time to load. */
async function listening(child: ChildProcess, port: number): Promise<void> {
  const { connect } = await import('node:net')
  for (const until = performance.now() + 120_000; performance.now() < until; ) {
    if (child.exitCode !== null) throw new Error(`a peer ended with ${child.exitCode}`)
    const there = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (there) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error('a peer did not begin to listen')
}
