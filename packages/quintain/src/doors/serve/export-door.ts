import type { SessionCore } from '../session/session.ts'

/** What is written for the other side of a door: a package, a configuration, a folder of rows. */
export interface ExportDoorOptions {
  /** The environment, opened; nothing is played of it. */
  core: SessionCore
  /** The environment for commands that start its server: the name of a package, or an absolute path. */
  reference: string
  /** Words behind it by which such a command serves the same: `--option`, `--split`, and the like. */
  serveArguments?: readonly string[]
  /** Where to, an absolute path; the folder is there, and empty unless the user said that it may be overwritten. */
  out: string
  /** Where a server of it runs already; absent: what is written starts one, or says how. */
  url?: string
  /** Version of the protocol, where there are several. */
  for?: 'v1' | 'v0'
}

export interface DoorExport {
  /** What was written, relative to `out`. */
  files: string[]
  /** What whoever uses it should know, a sentence each: losses, how it is started. */
  notes: string[]
}
