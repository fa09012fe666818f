import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecOptions, ExecResult } from '../../core/sandbox.ts'
import { withStreams } from '../../core/with-streams.ts'
import { type BoxPlan, checkVariables } from '../box-options.ts'
import { KeptOutput, outputFields } from '../command-output.ts'
import { notStarted, toCommand } from '../exec-result.ts'
import { isAlive, killQuietly, processesWith } from '../process-table.ts'
import { sandboxFault, stoppedFault } from '../sandbox-fault.ts'
import type { Talks } from '../talks.ts'
import { whenQuiet } from './last-output.ts'

/** How long output may still come after a command is gone, from what it left in the background. */
const outputGraceMs = 100
/** Variable by which the processes of one command are found, each with a value of its own. */
const commandMark = 'QUINTAIN_COMMAND'
let commands = 0

/** What a command of a process box needs to know of it. */
export interface ProcessBoxParts {
  plan: BoxPlan
  /** Folder of the box. */
  root: string
  /** Variable and value by which processes of the box are found. */
  mark: readonly [name: string, value: string]
  shell: string
  /** Process groups of commands that may still have somebody in them. */
  groups: Set<number>
  talks: Talks
  isStopped(): boolean
}

/** Runs a command in `folder`, undefined for one that cannot be. */
export async function runProcess(
  box: ProcessBoxParts,
  command: string | readonly string[],
  folder: string | undefined,
  options: ExecOptions,
): Promise<ExecResult> {
  checkVariables(options.env ?? {})
  const began = performance.now()
  const talk = options.talk === undefined ? undefined : box.talks.begin(options.talk)
  const never = (reason: Parameters<typeof notStarted>[0]) => {
    talk?.end()
    return notStarted(reason, began)
  }
  const argv = toCommand(command, box.shell)
  if (argv === undefined || folder === undefined) return never('invalid')
  if (options.signal?.aborted) return never('aborted')
  // Started before anything else of the box is done, so that what ends its commands ends this one.
  if (!isFolder(folder)) return never('no_folder')
  const { limits, env } = box.plan
  const cap = Math.min(options.outputBytes ?? limits.outputBytes, limits.outputBytes)
  const out = new KeptOutput(cap)
  const err = new KeptOutput(cap)
  // A shell of ours in front sets what Node cannot: no core files, and so many seconds of the processor.
  const limited = `ulimit -c 0; ulimit -t ${Math.ceil(limits.cpuMs / 1000)}; exec "$@"`
  const [mark, value] = box.mark
  commands += 1
  const own = `${process.pid}-${commands}-${value}`
  let child: ChildProcessWithoutNullStreams
  try {
    const spawned = spawn('/bin/sh', ['-c', limited, 'box', ...argv], {
      cwd: folder,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        ...env,
        HOME: join(box.root, env['HOME']!),
        PWD: folder,
        TMPDIR: join(box.root, 'tmp'),
        ...options.env,
        [mark]: value,
        [commandMark]: own,
      },
    })
    child = withStreams(spawned)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EMFILE') return never(startRefusal(error))
    talk?.end()
    throw sandboxFault('sandbox_io', 'no file descriptor is left to start a command with', error)
  }
  return new Promise<ExecResult>((resolve, reject) => {
    if (child.pid !== undefined) box.groups.add(child.pid)
    let timedOut = false
    let aborted = false
    let done = false
    const kill = () => {
      if (child.pid === undefined) return
      killQuietly(-child.pid)
      endLeft(`${commandMark}=${own}`)
    }
    const deadline = setTimeout(
      () => {
        timedOut = true
        kill()
      },
      Math.min(options.wallMs ?? limits.wallMs, limits.wallMs),
    )
    const abort = () => {
      aborted = !timedOut
      kill()
    }
    options.signal?.addEventListener('abort', abort, { once: true })
    let heard = 0
    child.stdout.on('data', (chunk: Buffer) => {
      if (done) return
      heard += chunk.length
      if (talk === undefined) out.add(chunk)
      else talk.hear(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => void (done || err.add(chunk)))
    child.stdin.on('error', () => {})
    if (talk === undefined) child.stdin.end(options.stdin ?? '')
    else {
      child.stdin.write(options.stdin ?? '')
      talk.attach((input) => void child.stdin.write(input))
    }
    const settle = (fields: Partial<ExecResult>) => {
      if (done) return
      done = true
      clearTimeout(deadline)
      options.signal?.removeEventListener('abort', abort)
      talk?.end()
      child.stdin.destroy()
      // What it left in the background may go on writing; nobody reads it, and it does not keep us alive.
      for (const stream of [child.stdout, child.stderr])
        if ('unref' in stream) (stream as { unref(): void }).unref()
      if (box.isStopped()) {
        reject(stoppedFault())
        return
      }
      resolve({
        exitCode: null,
        signal: null,
        timedOut,
        aborted,
        outOfMemory: null,
        ...outputFields(out.end(), err.end(), options.binary === true),
        durationMs: performance.now() - began,
        ...fields,
      })
    }
    child.once('error', (error) => settle({ notStarted: startRefusal(error) }))
    let code: number | null = null
    let signal: string | null = null
    const end = () => {
      // What a shell says of a program that it cannot start, where we asked for that program and no shell.
      if (typeof command !== 'string' && (code === 127 || code === 126) && heard === 0)
        return settle({ notStarted: code === 127 ? 'not_found' : 'not_executable' })
      settle({ exitCode: code, signal })
    }
    child.once('exit', (exitCode, name) => {
      code = exitCode
      // A group that is gone may be another's by the time we stop.
      if (child.pid !== undefined && !isAlive(-child.pid)) box.groups.delete(child.pid)
      signal = name
      setTimeout(() => whenQuiet(() => heard + err.written, end), outputGraceMs)
    })
    child.once('close', end)
  })
}

/** Ends what left its group (`setsid`) and kept this variable; one that starts others meanwhile is met again. */
function endLeft(variable: string): void {
  for (let round = 0; round < 3; round++) {
    const left = processesWith(variable)
    for (const pid of left) killQuietly(pid)
    if (left.length === 0) return
  }
}

/** Why the system would not start a process. */
function startRefusal(error: unknown): NonNullable<ExecResult['notStarted']> {
  const { code } = error as NodeJS.ErrnoException
  return code === 'E2BIG' ? 'too_long' : code === 'EAGAIN' || code === 'ENOMEM' ? 'no_process' : 'not_found'
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
