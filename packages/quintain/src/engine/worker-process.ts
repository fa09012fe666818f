import { type ChildProcess, fork } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { dirname, sep } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Permissions } from '../core/index.ts'
import { now, setInterval, setTimeout } from '../core/own-time.ts'
import { readBatch } from './from-worker.ts'
import type { EnvironmentLocation } from './locate.ts'
import { Outbox } from './outbox.ts'
import type { FromWorker, ToWorker } from './protocol.ts'
import { watchdogFd } from './watchdog.ts'

/** What a worker said of its own end. */
export interface WorkerEnd {
  /** Whose code ran when it ended; undefined when nobody's or unknown. */
  seq?: number
  stage?: string
  how: 'blocked' | 'exited' | 'killed' | 'unresponsive'
  detail: string
}

export interface WorkerProcessOptions {
  location: EnvironmentLocation
  permissions: Permissions
  /** Rollouts that it is to hold at once. */
  inFlight: number
  /** Where the worker's standard output and error go; they may hold secrets. */
  log(text: string): void
  onMessage(message: FromWorker): void
  /** Called once, when the process is gone for a reason other than `kill()`. */
  onEnd(end: WorkerEnd): void
}

/** What `nice` adds where it is told nothing else. */
const niceness = 10
const lowestPriority = 19

/** Above so many rollouts, memory goes before the last of the speed. */
const manyInFlight = 1_500

const pingMs = 2_000
/** Time for a worker's last word to come through after its end. */
const lastWordMs = 1_000
/** A worker whose process answers nothing for so long, though its own watchdog found no block, is stopped or swapped out. */
const unresponsiveMs = 600_000

const here = fileURLToPath(import.meta.url)
const workerMain = fileURLToPath(
  new URL(`./worker-main.${here.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
)

/** One worker process: forked with an empty environment under Node's permission model, watched, and talked to in batches. */
export class WorkerProcess {
  private readonly child: ChildProcess
  /** The worker leads a process group, so that what it starts can be ended with it. */
  private readonly ownGroup: boolean
  private readonly options: WorkerProcessOptions
  private readonly outbox: Outbox<ToWorker>
  private ended = false
  private lastWord: WorkerEnd | undefined
  private lastHeard = now()
  private readonly pinger: NodeJS.Timeout
  private pings = 0

  constructor(options: WorkerProcessOptions) {
    this.options = options
    this.ownGroup = options.permissions.subprocess === true && process.platform !== 'win32'
    this.child = fork(workerMain, [], {
      env: {},
      detached: this.ownGroup,
      execArgv: [
        ...permissionFlags(options.location, options.permissions),
        // What waits for a reply lives long; a large young generation beside it would be the larger part of the memory.
        ...(options.inFlight > manyInFlight ? ['--max-semi-space-size=4'] : []),
      ],
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe'],
    })
    this.outbox = new Outbox((batch) => {
      if (this.child.connected) this.child.send(batch, () => {})
    })
    this.child.on('message', (batch: unknown) => {
      this.lastHeard = now()
      const messages = readBatch(batch, (what) => options.log(`left aside: the worker sent ${what}\n`))
      for (const message of messages) if (message.t !== 'pong') options.onMessage(message)
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => options.log(text))
    }
    // Without a file descriptor left there are no streams, whatever the type says.
    const words = this.child.stdio?.[watchdogFd] as Readable | undefined
    if (words != null) createInterface({ input: words }).on('line', (line) => this.hear(line))
    this.child.on('error', (error) => this.end({ how: 'killed', detail: error.message }))
    // `close` comes after the last of the pipes was read, so the worker's last word is in. It does not come while a
    // process that the worker started holds a pipe open.
    this.child.on('close', (code, signal) => this.ending(code, signal))
    this.child.on('exit', (code, signal) => {
      this.endGroup()
      setTimeout(() => this.ending(code, signal), lastWordMs).unref()
    })
    this.pinger = setInterval(() => this.ping(), pingMs)
    this.pinger.unref()
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  /** Lets this process go before it wherever both would work. */
  giveWay(): void {
    try {
      if (this.child.pid !== undefined)
        setPriority(this.child.pid, Math.min(getPriority() + niceness, lowestPriority))
    } catch {
      // A system that knows no priorities, or a process that is gone.
    }
  }

  /** `patient`: as `Outbox.push`. */
  send(message: ToWorker, options?: { patient: boolean }): void {
    this.outbox.push(message, options)
  }

  /** Ends the process at once; `onEnd` is not called. Resolves when it is gone. */
  async kill(): Promise<void> {
    const gone = this.child.exitCode !== null || this.child.signalCode !== null
    this.ended = true
    clearInterval(this.pinger)
    if (gone || this.child.pid === undefined) return
    const exited = new Promise<void>((resolve) => this.child.once('exit', () => resolve()))
    this.child.kill('SIGKILL')
    await exited
    this.endGroup()
  }

  /** Ends what an environment that may start processes has started. */
  private endGroup(): void {
    if (!this.ownGroup || this.child.pid === undefined) return
    try {
      process.kill(-this.child.pid, 'SIGKILL')
    } catch {
      // Nobody is left.
    }
  }

  private ending(code: number | null, signal: NodeJS.Signals | null): void {
    const detail = signal === null ? `exit code ${code}` : `signal ${signal}`
    this.end(this.lastWord ?? { how: 'killed', detail })
  }

  private ping(): void {
    if (now() - this.lastHeard > unresponsiveMs) {
      this.lastWord = { how: 'unresponsive', detail: `no word for ${unresponsiveMs} ms` }
      this.child.kill('SIGKILL')
    } else this.send({ t: 'ping', n: this.pings++ })
  }

  private hear(line: string): void {
    let word: { blocked?: number; exited?: number; seq?: number; stage?: string }
    try {
      word = JSON.parse(line) as typeof word
    } catch {
      return
    }
    const where = {
      ...(word.seq === undefined || word.seq < 0 ? {} : { seq: word.seq }),
      ...(word.stage ? { stage: word.stage } : {}),
    }
    if (word.blocked !== undefined) {
      this.lastWord = { how: 'blocked', detail: `blocked for ${word.blocked} ms`, ...where }
      this.child.kill('SIGKILL')
    } else if (word.exited !== undefined && this.lastWord === undefined) {
      this.lastWord = { how: 'exited', detail: `exit code ${word.exited}`, ...where }
    }
  }

  private end(end: WorkerEnd): void {
    if (this.ended) return
    this.ended = true
    clearInterval(this.pinger)
    this.options.onEnd(end)
  }
}

/** Node's flags for a process that may read its own code and what the environment declared, and nothing else. */
export function permissionFlags(location: EnvironmentLocation, permissions: Permissions): string[] {
  const flags = [
    '--permission',
    '--allow-worker',
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=SecurityWarning',
  ]
  for (const path of [
    ...location.readRoots,
    ...ownRoots(),
    ...(permissions.read ?? []),
    ...(permissions.write ?? []),
  ]) {
    flags.push(`--allow-fs-read=${path}`)
  }
  for (const path of permissions.write ?? []) flags.push(`--allow-fs-write=${path}`)
  if (permissions.subprocess === true) flags.push('--allow-child-process')
  if (permissions.addons === true) flags.push('--allow-addons')
  // Before Node 25 the permission model did not cover the network and does not know the flag.
  if (permissions.network === true && Number(process.versions.node.split('.')[0]) >= 25)
    flags.push('--allow-net')
  return flags
}

/** Quintain's own package and the `node_modules` that hold its dependencies. */
function ownRoots(): string[] {
  const packageDir = realpathSync(dirname(dirname(dirname(here))))
  const roots = [packageDir]
  const parts = packageDir.split(sep)
  const installed = parts.lastIndexOf('node_modules')
  if (installed >= 0) roots.push(parts.slice(0, installed + 1).join(sep))
  for (let dir = packageDir; dirname(dir) !== dir; dir = dirname(dir)) roots.push(`${dir}${sep}node_modules`)
  return roots
}
