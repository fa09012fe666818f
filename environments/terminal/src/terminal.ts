import { type Box, FaultError, type Sandbox, type World } from 'quintain'
import { bashTool } from './bash-tool.ts'
import type { TaskFolder } from './task-folder.ts'

/** Where the agent works, and where its artefacts lie in the boxes of the tests. */
export const workdir = '/box'

/** How an attempt went, as far as the terminal saw it. What was made is among the artefacts. */
export interface TerminalState {
  commands: number
  /** Commands that ended with something other than 0, of their own accord. */
  failures: number
  timeouts: number
  /** Commands of whose output a part was left out. */
  truncations: number
}

export interface TerminalOptions {
  /** Seconds of a command that does not say how long it may take. */
  commandTimeout: number
  /** Bytes that are shown of each output stream of a command. */
  outputBytes: number
}

/** A box with a task's files in it, and a `bash` tool. */
export class Terminal implements World<TerminalState> {
  readonly box: Box
  readonly options: TerminalOptions
  readonly state: TerminalState = { commands: 0, failures: 0, timeouts: 0, truncations: 0 }
  /** Where the next command starts. */
  cwd: string

  private constructor(box: Box, options: TerminalOptions) {
    this.box = box
    this.options = options
    this.cwd = box.workdir
  }

  /** Throws a fault of owner `sandbox` where the box has not what the task needs. */
  static async open(task: TaskFolder, sandbox: Sandbox, options: TerminalOptions): Promise<Terminal> {
    const box = await sandbox.start({ workdir, files: task.files })
    await needPrograms(box, task)
    if (task.setup !== undefined) {
      const made = await box.exec(['bash', '-c', task.setup])
      if (made.exitCode !== 0)
        throw boxFault(
          'setup_failed',
          `the files of ${task.id} could not be made: ${made.stderr.slice(0, 500)}`,
        )
    }
    return new Terminal(box, options)
  }

  tools() {
    return [bashTool(this)]
  }

  finish(): TerminalState {
    return this.state
  }
}

async function needPrograms(box: Box, { id, programs }: TaskFolder): Promise<void> {
  if (programs.length === 0) return
  const look = 'for program; do command -v "$program" > /dev/null || echo "$program"; done'
  const { stdout } = await box.exec(['bash', '-c', look, 'bash', ...programs])
  const absent = stdout.split('\n').filter(Boolean)
  if (absent.length === 0) return
  throw boxFault(
    'program_missing',
    `${id} needs ${absent.join(' and ')}, which the boxes of the driver ${box.driver} do not have; install ${absent.length === 1 ? 'it' : 'them'} where its boxes get their programs from, or use another driver (--sandbox)`,
  )
}

function boxFault(code: string, message: string): FaultError {
  return new FaultError({ owner: 'sandbox', code, message, retryable: false })
}
