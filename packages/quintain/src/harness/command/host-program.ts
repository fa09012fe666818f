import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { clearTimeout, setTimeout } from '../../core/own-time.ts'
import { withStreams } from '../../core/with-streams.ts'
import { KeptOutput, outputFields } from '../../sandbox/command-output.ts'
import { keeper } from '../../sandbox/process/driver.ts'
import { isAlive } from '../../sandbox/process-table.ts'
import { LineQueue, mostLineBytes } from './line-queue.ts'
import type { LineProgram } from './place.ts'
import type { ProgramEnd } from './program-end.ts'

/** How long output may still come after a program is gone, from what it left in the background. */
const outputGraceMs = 100

/** A program of this machine in a process group of its own. */
export class HostProgram implements LineProgram {
  /** How it ended. Never rejects. */
  readonly ended: Promise<ProgramEnd>
  private readonly child: ChildProcessWithoutNullStreams
  private readonly lines: LineQueue | undefined
  private over = false
  /** Whether anything of its process group may be left. A group that is gone may be another's by the time we stop. */
  private groupLeft = true
  /** Its group need not end with us any more. */
  private letGo = (): void => {}

  /** With `lines`, its output is read by `line()` and kept nowhere else. */
  constructor(options: {
    argv: readonly string[]
    env: Readonly<Record<string, string>>
    cwd: string
    outputBytes: number
    lines: boolean
  }) {
    const [program = '', ...rest] = options.argv
    const spawned = spawn(program, rest, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.child = withStreams(spawned)
    const { pid } = this.child
    if (pid !== undefined) this.letGo = keeper.hold(pid)
    const { stdin, stdout, stderr } = this.child
    // A program need not read what it is told.
    stdin.on('error', () => {})
    const out = new KeptOutput(options.outputBytes)
    const err = new KeptOutput(options.outputBytes)
    this.lines = options.lines ? new LineQueue(stdout, mostLineBytes) : undefined
    stdout.on('data', (chunk: Buffer) => (this.lines === undefined ? out.add(chunk) : this.lines.push(chunk)))
    stderr.on('data', (chunk: Buffer) => err.add(chunk))
    this.ended = new Promise((resolve) => {
      let end: Pick<ProgramEnd, 'exitCode' | 'signal' | 'notStarted'> = { exitCode: null, signal: null }
      const settle = () => {
        if (this.over) return
        this.over = true
        this.lines?.end()
        // What it left in the background may hold its pipes; nobody reads them any more.
        for (const stream of [stdin, stdout, stderr]) stream.destroy()
        resolve({ ...end, timedOut: false, ...outputFields(out.end(), err.end(), false) })
      }
      this.child.once('error', ({ code }: NodeJS.ErrnoException) => {
        end = { ...end, notStarted: refusals[code ?? ''] ?? 'no_process' }
        settle()
      })
      this.child.once('exit', (exitCode, signal) => {
        end = { exitCode, signal }
        this.groupLeft = this.child.pid !== undefined && isAlive(-this.child.pid)
        if (!this.groupLeft) this.letGo()
        setTimeout(settle, outputGraceMs)
      })
      this.child.once('close', settle)
    })
  }

  write(text: string): void {
    if (!this.child.stdin.destroyed) this.child.stdin.write(text)
  }

  endInput(): void {
    this.child.stdin.end()
  }

  /** Its next line; undefined when it has ended. */
  line(): Promise<string | undefined> {
    return this.lines?.next() ?? Promise.resolve(undefined)
  }

  /** Ends it and its process group: asks, and after so many milliseconds does not ask. */
  async stop(graceMs: number): Promise<void> {
    if (!this.over) {
      this.signalGroup('SIGTERM')
      let timer: NodeJS.Timeout | undefined
      await Promise.race([
        this.ended,
        new Promise((resolve) => {
          timer = setTimeout(resolve, graceMs)
        }),
      ])
      clearTimeout(timer)
    }
    this.signalGroup('SIGKILL')
    this.letGo()
    await this.ended
  }

  private signalGroup(signal: NodeJS.Signals): void {
    if (this.child.pid === undefined || !this.groupLeft) return
    try {
      process.kill(-this.child.pid, signal)
    } catch {
      // It is gone.
    }
  }
}

/** How a program ended that the system would not start, or could not be asked to. */
export function refusedStart(thrown: unknown): ProgramEnd & Required<Pick<ProgramEnd, 'notStarted'>> {
  const { code = '' } = thrown as NodeJS.ErrnoException
  const notStarted = code.startsWith('ERR_INVALID') ? 'invalid' : (refusals[code] ?? 'no_process')
  return { exitCode: null, signal: null, timedOut: false, stdout: '', stderr: '', notStarted }
}

const refusals: Record<string, NonNullable<ProgramEnd['notStarted']>> = {
  ENOENT: 'not_found',
  EACCES: 'not_executable',
  E2BIG: 'too_long',
}
