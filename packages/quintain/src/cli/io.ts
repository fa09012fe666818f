/** Where a command writes; a stream of Node, or a list in a test. */
export interface Sink {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

/** Everything that a command may touch of the process it runs in. */
export interface CliIo {
  /** What was asked for: reports, tables, JSON. */
  stdout: Sink
  /** Progress, hints and errors. */
  stderr: Sink
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** The process is this command's own: what a user's code does to it is watched for while runs go on. */
  ownsProcess?: true
  /** Calls `handler` for each Ctrl-C; gives back what stops that. */
  onInterrupt?: (handler: () => void) => () => void
  /** Calls `handler` when standard input ends; gives back what stops that. */
  onStdinEnd?: (handler: () => void) => () => void
  /** Aborted: as one Ctrl-C. */
  signal?: AbortSignal
}
