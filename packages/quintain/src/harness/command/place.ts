import type { FileResult } from '../../core/index.ts'
import type { ProgramEnd } from './program-end.ts'

/** Where the program of one attempt runs. */
export interface Place {
  /** The file in which a program finds its task, as the program names it. */
  readonly taskFile: string
  write(path: string, text: string): Promise<FileResult<object>>
  read(path: string): Promise<FileResult<{ data: Uint8Array }>>
  /** Runs the program to its end. When `signal` aborts it is ended, and the call resolves all the same. */
  run(argv: readonly string[], options: RunOptions): Promise<ProgramEnd>
  /** Starts a program that talks in lines. Absent where that cannot be. */
  start?(argv: readonly string[], options: Pick<RunOptions, 'env'>): LineProgram
  /** Ends what is left and removes what is there. */
  close(): Promise<void>
}

/** A program that is told lines and answers lines. */
export interface LineProgram {
  /** How it ended. */
  readonly ended: Promise<ProgramEnd>
  write(text: string): void
  /** Its next line; undefined when it has ended. */
  line(): Promise<string | undefined>
  /** Ends it: asks where that can be done, and after so many milliseconds does not ask. */
  stop(graceMs: number): Promise<void>
}

export interface RunOptions {
  env: Readonly<Record<string, string>>
  stdin: string
  signal: AbortSignal
}
