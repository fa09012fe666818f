import { posix } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Box, ExecResult } from '../core/index.ts'
import { callsFolder } from './checks-script.ts'

/** How often the folder is looked into: soon after the tests have asked for something, more and more seldom else. */
const soonMs = 10
const seldomMs = 80
const mostStdin = 64 * 1024 * 1024

export interface ProgramsOptions {
  /** The box in which the tests ask. */
  tests: Box
  /** The box in which what they ask for runs; asked for once, when something is. */
  start(): Promise<Box>
  /** Wall clock of one program. */
  wallMs: number
}

/**
 * Carries what the tests ask for from their box to the one of the graded programs, and back how it ended. The two boxes
 * have nothing in common but this: nothing that a graded program does can touch a test, a result or its runner.
 */
export class GradedPrograms {
  private readonly options: ProgramsOptions
  private readonly seen = new Set<string>()
  private box: Promise<Box> | undefined
  private over = false

  constructor(options: ProgramsOptions) {
    this.options = options
  }

  /** Serves until `stop`. Rejects when a box fails. */
  async serve(): Promise<void> {
    const running = new Set<Promise<void>>()
    let failure: { thrown: unknown } | undefined
    let wait = soonMs
    while (!this.over && failure === undefined) {
      const listed = await this.options.tests.list(callsFolder)
      for (const { name } of listed.ok ? listed.entries : []) {
        if (!name.endsWith('.call') || this.seen.has(name)) continue
        this.seen.add(name)
        wait = soonMs
        const answer = this.answer(posix.join(callsFolder, name.slice(0, -'.call'.length)))
          .catch((thrown: unknown) => {
            failure ??= { thrown }
          })
          .finally(() => running.delete(answer))
        running.add(answer)
      }
      await pause(wait)
      if (running.size === 0) wait = Math.min(seldomMs, 1.2 * wait)
    }
    if (failure !== undefined) throw failure.thrown
  }

  stop(): void {
    this.over = true
  }

  /** Stops the box of the programs. */
  async close(): Promise<void> {
    this.over = true
    const box = await this.box?.catch(() => undefined)
    await box?.stop()
  }

  private async answer(at: string): Promise<void> {
    const { tests } = this.options
    const [call, stdin] = await Promise.all([
      tests.read(`${at}.call`),
      tests.read(at, { maxBytes: mostStdin }),
    ])
    const [kind, cwd = '/', ...args] = call.ok
      ? Buffer.from(call.data).toString('utf8').split('\0').slice(0, -1)
      : []
    this.box ??= this.options.start()
    const box = await this.box
    const ended =
      kind === 'run' && args.length > 0
        ? await this.run(box, args, cwd, stdin.ok ? stdin.data : new Uint8Array())
        : await fetched(box, posix.resolve(cwd, args[0] ?? ''))
    if (this.over) return
    await Promise.all([tests.write(`${at}.out`, ended.out), tests.write(`${at}.err`, ended.err)])
    // Last: the script waits for it.
    await tests.write(`${at}.end`, String(ended.status))
  }

  private async run(box: Box, command: string[], cwd: string, stdin: Uint8Array): Promise<Ended> {
    const end = await box.exec(command, { cwd, stdin, wallMs: this.options.wallMs, binary: true })
    return {
      status: statusOf(end),
      out: end.stdoutBytes ?? Buffer.from(end.stdout),
      err: end.stderrBytes ?? Buffer.from(end.stderr),
    }
  }
}

interface Ended {
  status: number
  out: Uint8Array
  err: Uint8Array
}

async function fetched(box: Box, path: string): Promise<Ended> {
  const found = await box.read(path)
  const none = new Uint8Array()
  return found.ok
    ? { status: 0, out: found.data, err: none }
    : { status: 1, out: none, err: Buffer.from(`fetch: ${path}: ${found.reason}\n`) }
}

/** An exit status as shells give it. */
function statusOf({ exitCode, timedOut, truncated, notStarted }: ExecResult): number {
  if (timedOut) return 124
  if (truncated.stdout) return 125
  if (notStarted === 'not_executable') return 126
  if (notStarted !== undefined) return 127
  return exitCode ?? 137
}
