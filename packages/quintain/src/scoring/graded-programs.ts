import { posix } from 'node:path'
import type { Box, ExecResult } from '../core/index.ts'
import type { Message } from './checks-messages.ts'

export type Call = Extract<Message, { type: 'call' }>

/** How a graded program, or the fetching of a file, ended. */
export interface Ended {
  status: number
  out: Uint8Array
  err: Uint8Array
}

const none = new Uint8Array()

/**
 * Runs what the tests ask for in a box of its own, which is started for the first call. That box and the one of the tests
 * have nothing in common: nothing that a graded program does can touch a test, a result or its runner.
 */
export class GradedPrograms {
  private readonly start: () => Promise<Box>
  private readonly wallMs: number
  private box: Promise<Box> | undefined

  /** `wallMs`: wall clock of one program. */
  constructor(start: () => Promise<Box>, wallMs: number) {
    this.start = start
    this.wallMs = wallMs
  }

  /** Rejects when the box fails. */
  async answer({ kind, cwd, stdin, args }: Call): Promise<Ended> {
    this.box ??= this.start()
    const box = await this.box
    if (kind === 'file') return fetched(box, posix.resolve(cwd, args[0] ?? ''))
    const options = { stdin, wallMs: this.wallMs, binary: true }
    let end = await box.exec(args, { ...options, cwd })
    // A folder that only the tests have, such as theirs: then where commands of the box start.
    if (end.notStarted === 'no_folder') end = await box.exec(args, options)
    return {
      status: statusOf(end),
      out: end.stdoutBytes ?? Buffer.from(end.stdout),
      err: why(end) ?? end.stderrBytes ?? Buffer.from(end.stderr),
    }
  }

  /** Stops the box. */
  async close(): Promise<void> {
    const box = await this.box?.catch(() => undefined)
    await box?.stop()
  }
}

async function fetched(box: Box, path: string): Promise<Ended> {
  const found = await box.read(path)
  return found.ok
    ? { status: 0, out: found.data, err: none }
    : { status: 1, out: none, err: Buffer.from(`fetch: ${path}: ${found.reason}\n`) }
}

/** Why a program did not start, as shells say it on standard error. */
function why({ notStarted }: ExecResult): Uint8Array | undefined {
  return notStarted === undefined
    ? undefined
    : Buffer.from(`graded: the program did not start: ${notStarted}\n`)
}

/** An exit status as shells give it. */
function statusOf({ exitCode, timedOut, truncated, notStarted }: ExecResult): number {
  if (timedOut) return 124
  if (truncated.stdout) return 125
  if (notStarted === 'not_executable') return 126
  if (notStarted !== undefined) return 127
  return exitCode ?? 137
}
