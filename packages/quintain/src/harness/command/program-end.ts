import type { ExecResult } from '../../core/index.ts'
import type { SeatStop } from '../../gateway/index.ts'
import { platformFault } from '../fault-stop.ts'

/** How a program of an agent ended. */
export type ProgramEnd = Pick<
  ExecResult,
  'exitCode' | 'signal' | 'timedOut' | 'stdout' | 'stderr' | 'notStarted'
> &
  Partial<Pick<ExecResult, 'truncated'>>

/** Of a program's last words, so much is kept for the private records. */
const tailLength = 4_000

/** A program of an agent failed: the agent's failure. The message is for everybody, the stack has all that it said last. */
export class ProgramFailure extends Error {
  override readonly name = 'ProgramFailure'

  constructor(how: string, stderr: string) {
    const tail = stderr.trim().slice(-tailLength)
    const last = tellingLine(tail).trim().slice(0, 120)
    super(`the program ${how}${last === '' ? '' : `; it said: ${last}`}`)
    this.stack = tail === '' ? this.message : `${this.message}\n${tail}`
  }
}

/** The last line that speaks of an error, such as the end of a Python traceback; the last line where none does. */
function tellingLine(text: string): string {
  const lines = text.split('\n')
  return lines.findLast((line) => /error|exception|failed|denied|refused/i.test(line)) ?? lines.at(-1) ?? ''
}

/** The failure of a program that ended badly; undefined for one that ended well. `hide` is taken out of what it said. */
export function failureOf(end: ProgramEnd, hide: string | undefined): ProgramFailure | undefined {
  if (end.exitCode === 0) return undefined
  const stderr = hide === undefined ? end.stderr : end.stderr.replaceAll(hide, '[key]')
  const how =
    end.exitCode === null
      ? `was ended by ${end.signal ?? 'a signal'}`
      : `ended with exit code ${end.exitCode}`
  return new ProgramFailure(how, stderr)
}

const notStartedReasons: Record<NonNullable<ProgramEnd['notStarted']>, string> = {
  not_found: 'is not where it runs',
  not_executable: 'cannot be executed',
  no_folder: 'was to start in a folder that is not there',
  no_process: 'got no process from the machine',
  too_long: 'was given arguments that are too long; give it its task on its input or in the file',
  invalid: 'was given arguments that no program can take',
}

/** A program that was never started: nobody's score, and the same at every try. */
export function notStartedFault(program: string, why: NonNullable<ProgramEnd['notStarted']>): SeatStop {
  const name = program.slice(program.lastIndexOf('/') + 1)
  return platformFault(
    'agent_not_started',
    `the program ${name} ${notStartedReasons[why]}`,
    why === 'no_process',
  )
}

/** Why a program did not start at a turn. After its first, it has removed what it starts with or in: its failure. */
export function notStarted(
  program: string,
  why: NonNullable<ProgramEnd['notStarted']>,
  turn: number,
): SeatStop | ProgramFailure {
  const removed = why === 'not_found' || why === 'not_executable' || why === 'no_folder'
  return turn > 0 && removed
    ? new ProgramFailure(`left itself no way to start for its next turn: it ${notStartedReasons[why]}`, '')
    : notStartedFault(program, why)
}
