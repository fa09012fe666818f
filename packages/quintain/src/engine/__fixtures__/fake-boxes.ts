import {
  type Box,
  type BoxOptions,
  type ExecOptions,
  type ExecResult,
  FaultError,
  type SandboxDriver,
  type Snapshot,
} from '../../core/index.ts'

type Run = (command: string, options: ExecOptions, files: Map<string, string>) => string | Promise<string>

/** A driver whose boxes are a map of files and a function, and which remembers all that was done. */
export class FakeBoxes implements SandboxDriver {
  readonly name = 'fake'
  readonly isolation = 'namespaces'
  readonly started: BoxOptions[] = []
  open = 0
  mostOpen = 0
  closed = 0
  sweeps = 0
  private readonly run: Run
  private readonly failStarts: number

  constructor({
    run = () => '',
    failStarts = 0,
  }: {
    run?: Run
    /** So many boxes do not come up. */
    failStarts?: number
  } = {}) {
    this.run = run
    this.failStarts = failStarts
  }

  async available() {
    return { available: true as const }
  }

  async sweep() {
    this.sweeps++
    return 0
  }

  async close() {
    this.closed++
  }

  async start(options: BoxOptions = {}): Promise<Box> {
    const number = this.started.length
    if (number < this.failStarts) {
      this.started.push(options)
      throw new FaultError({
        owner: 'sandbox',
        code: 'sandbox_start_failed',
        message: 'no room',
        retryable: true,
      })
    }
    this.started.push(options)
    this.open++
    this.mostOpen = Math.max(this.mostOpen, this.open)
    await new Promise((resolve) => setTimeout(resolve, 2))
    const box = new FakeBox(number, options, this.run, () => this.open--)
    return box
  }
}

class FakeBox implements Box {
  readonly id: string
  readonly driver = 'fake'
  readonly isolation = 'namespaces'
  readonly workdir: string
  private readonly files = new Map<string, string>()
  private readonly run: Run
  private readonly gone: () => void
  private stopped = false

  constructor(number: number, options: BoxOptions, run: Run, gone: () => void) {
    this.id = `fake-${number}`
    this.workdir = options.workdir ?? '/box'
    this.run = run
    this.gone = gone
    for (const [path, content] of Object.entries({ ...options.files, ...options.readOnlyFiles }))
      this.files.set(this.at(path), textOf(content))
  }

  private at(path: string): string {
    return path.startsWith('/') ? path : `${this.workdir}/${path}`
  }

  private check(): void {
    if (!this.stopped) return
    throw new FaultError({ owner: 'sandbox', code: 'sandbox_stopped', message: 'stopped', retryable: false })
  }

  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    this.check()
    const text = typeof command === 'string' ? command : command.join(' ')
    const aborted = new Promise<undefined>((resolve) => {
      options.signal?.addEventListener('abort', () => resolve(undefined))
    })
    const stdout = await Promise.race([this.run(text, options, this.files), aborted])
    this.check()
    return {
      exitCode: stdout === undefined ? null : 0,
      signal: stdout === undefined ? 'SIGKILL' : null,
      timedOut: false,
      aborted: stdout === undefined,
      outOfMemory: null,
      stdout: String(stdout ?? ''),
      stderr: '',
      written: { stdout: 0, stderr: 0 },
      truncated: { stdout: false, stderr: false },
      durationMs: 0,
    }
  }

  async read(path: string) {
    this.check()
    const text = this.files.get(this.at(path))
    return text === undefined
      ? { ok: false as const, reason: 'missing' as const, message: 'no such file' }
      : { ok: true as const, data: Buffer.from(text), mode: 0o644 }
  }

  async write(path: string, data: string | Uint8Array) {
    this.check()
    this.files.set(this.at(path), textOf(data))
    return { ok: true as const }
  }

  async list() {
    return { ok: true as const, entries: [] }
  }

  async snapshot(paths: readonly string[] = [this.workdir]): Promise<Snapshot> {
    this.check()
    const entries = [...this.files]
      .filter(([path]) => paths.some((root) => path === root || path.startsWith(`${root}/`)))
      .map(([path, text]) => ({ kind: 'file' as const, path, mode: 0o644, data: Buffer.from(text) }))
    return { version: 1, entries, skipped: [] }
  }

  async restore(snapshot: Snapshot) {
    this.check()
    for (const entry of snapshot.entries)
      if (entry.kind === 'file') this.files.set(entry.path, textOf(entry.data))
    return { ok: true as const }
  }

  async stop() {
    if (this.stopped) return
    this.stopped = true
    await new Promise((resolve) => setTimeout(resolve, 2))
    this.gone()
  }
}

function textOf(content: NonNullable<BoxOptions['files']>[string]): string {
  if (typeof content === 'string') return content
  if (content instanceof Uint8Array) return Buffer.from(content).toString('utf8')
  return 'data' in content ? textOf(content.data) : `-> ${content.link}`
}
