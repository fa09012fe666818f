/**
 * The contract of sandboxes: a driver starts boxes, and a box runs commands and holds files. Everything that crosses it
 * is plain data (text, numbers, `Uint8Array`), so that a box can be driven from another process; the one exception is
 * an `AbortSignal`, which a proxy turns into a message.
 *
 * What the party in the box does (a command that fails, hangs, floods or fills the disk; a file that is not there) is a
 * value. What the driver fails at is a `FaultError` of owner `sandbox`, see `SandboxFaultCode`. What the caller got
 * wrong is a `QuintainError` with the code `options_invalid`.
 */
export interface SandboxDriver {
  /** `process`, `bash`, `bwrap`, `docker`, `podman`, or the name of a driver from elsewhere. */
  readonly name: string
  readonly isolation: Isolation
  /** Whether boxes can be started here and now, found out by starting what is needed for one. Never throws. */
  available(): Promise<Availability>
  /**
   * A fresh box that holds `files` and nothing of any other box.
   *
   * Throws `options_invalid` for options that this driver cannot honour, and a sandbox fault when no box came up.
   */
  start(options?: BoxOptions): Promise<Box>
  /** Removes what boxes of processes that are gone have left on this machine, and says how many. */
  sweep?(): Promise<number>
  /** Stops all boxes of this driver and lets go of what it holds. */
  close?(): Promise<void>
}

/**
 * What stands between a box and the machine: nothing (`none`: the command can do what we can), an interpreter that has
 * no way out of our memory (`memory`), namespaces of the kernel, or a container of an engine.
 */
export type Isolation = 'none' | 'memory' | 'namespaces' | 'container'

export type Availability = { available: true } | { available: false; reason: string }

/** Where and how a box starts. Nothing of the host is inside but what stands here and the system's own programs. */
export interface BoxOptions {
  /**
   * The system in the box: an image reference for container drivers, a folder with an unpacked root file system for
   * `bwrap`. Left out: the driver's default (the host's programs, read-only; a small image; none).
   */
  image?: string
  /** Absolute path of the folder in which commands start, made if need be. Default `/box`. */
  workdir?: string
  /** Files that are there from the beginning, by path; a relative path is in the working directory. */
  files?: BoxFiles
  /**
   * Files that nothing in the box can change, replace or remove, by path: tests, or what an earlier box left. A driver
   * that cannot keep that promise refuses them with `options_invalid`.
   */
  readOnlyFiles?: BoxFiles
  /** Every variable that commands see beside `PATH`, `HOME`, `LANG`, `USER`, `SHELL` and `PWD`. Nothing of the host's is inherited. */
  env?: Readonly<Record<string, string>>
  limits?: Partial<BoxLimits>
  /** Default `none`: not even the host's loopback. */
  network?: BoxNetwork
  /** Host folders that are seen read-only in the box. For those who run the platform; never taken from a task. */
  mounts?: readonly BoxMount[]
  /** Shown by tools of the host (`ps`, labels of containers): who this box is for. No secret belongs here. */
  label?: string
  /** Gives up starting; a box that is up by then is stopped. */
  signal?: AbortSignal
}

export type BoxFiles = Readonly<Record<string, BoxFileContent>>
/** Contents (text as UTF-8), with the permission bits (default 0o644), or where a symbolic link leads. */
export type BoxFileContent =
  | string
  | Uint8Array
  | { data: string | Uint8Array; mode?: number }
  | { link: string }

export interface BoxLimits {
  /** Wall clock of one command, milliseconds; a command may ask for less, never for more. */
  wallMs: number
  /** Processor time of one process, milliseconds. */
  cpuMs: number
  /** Memory of all processes together, MiB; of each process where the machine offers nothing better. */
  memoryMb: number
  /** Processes and threads alive at once. */
  pids: number
  /** All files that the box writes together, MiB. */
  diskMb: number
  /** Kept of each output stream of a command, bytes: the first and the last half of it. */
  outputBytes: number
}

export const defaultBoxLimits: Readonly<BoxLimits> = {
  wallMs: 60_000,
  cpuMs: 600_000,
  memoryMb: 1024,
  pids: 256,
  diskMb: 512,
  outputBytes: 262_144,
}

/** No network at all, or none but these sockets, which nothing else shares. */
export type BoxNetwork = 'none' | { sockets: readonly BoxSocket[] }
/** What listens in the box, and where on the host its connections end: a port of the loopback interface or a Unix socket. */
export interface BoxSocket {
  box: { port: number } | { path: string }
  host: { port: number } | { path: string }
}

export interface BoxMount {
  /** Absolute path of a folder or file of the host. */
  source: string
  /** Absolute path in the box. */
  target: string
}

export interface Box {
  readonly id: string
  readonly driver: string
  readonly isolation: Isolation
  readonly workdir: string
  /**
   * Runs a command: text by the box's shell (`bash` where there is one, else `sh`), a list as program and arguments
   * without a shell. Commands may run at the same time; what they leave in the background lives until `stop`.
   *
   * Throws a sandbox fault when the box is gone; gone by `stop` is `sandbox_stopped`.
   */
  exec(command: string | readonly string[], options?: ExecOptions): Promise<ExecResult>
  /**
   * Gives input to a command that was started with this name as `talk`, and waits for what it writes next; what it wrote
   * since the last time comes at once. One call at a time. Drivers that cannot talk have no such method.
   */
  talk?(name: string, input?: string | Uint8Array): Promise<Said>
  /** The bytes of a regular file. A link is followed only where it stays in the top-level folder that it was reached by. */
  read(path: string, options?: ReadOptions): Promise<FileResult<{ data: Uint8Array; mode: number }>>
  /** Writes a file whole, making its folders; `mode` defaults to 0o644. */
  write(path: string, data: string | Uint8Array, options?: { mode?: number }): Promise<FileResult<object>>
  /** What a folder holds, sorted by name, without what its folders hold. */
  list(path: string): Promise<FileResult<{ entries: BoxEntry[] }>>
  /** Files, folders and links below the given paths (default: the working directory), as they are now. */
  snapshot(paths?: readonly string[], options?: SnapshotOptions): Promise<Snapshot>
  /** Puts the entries of a snapshot back at their paths, or below `at`. What else is there stays. */
  restore(snapshot: Snapshot, options?: { at?: string }): Promise<FileResult<object>>
  /** Ends every process of the box and removes it. May be called often; resolves when nothing is left. */
  stop(): Promise<void>
}

export interface ExecOptions {
  /** Default: the working directory of the box. */
  cwd?: string
  /** Added to the variables of the box, for this command. */
  env?: Readonly<Record<string, string>>
  /** Default: empty, at its end. */
  stdin?: string | Uint8Array
  /** At most the box's own limit. */
  wallMs?: number
  /** At most the box's own limit. */
  outputBytes?: number
  /** Bytes of the output as well as text. */
  binary?: boolean
  /**
   * A name to talk with it by, see `Box.talk`: its input stays open after `stdin`, and what it writes to its output is for
   * whoever talks with it and not in the result. Drivers without `talk` refuse it.
   */
  talk?: string
  /** Ends the command as its deadline does; the result then says `aborted`. */
  signal?: AbortSignal
}

/** How a command ended. None of it is an error of ours. */
export interface ExecResult {
  /** Null when a signal ended it or it never started. */
  exitCode: number | null
  /** Name of the signal that ended it, such as `SIGKILL`. */
  signal: string | null
  /** Its wall clock ran out: it and its process group were killed. */
  timedOut: boolean
  aborted: boolean
  /** The kernel killed a process of the box for its memory meanwhile; null where the machine does not tell. */
  outOfMemory: boolean | null
  /** Why it never started: no such program or folder, a name that is no program, no process left, arguments too long, a NUL in them. */
  notStarted?: 'not_found' | 'not_executable' | 'no_folder' | 'no_process' | 'too_long' | 'invalid'
  stdout: string
  stderr: string
  /** Only with `binary`. */
  stdoutBytes?: Uint8Array
  stderrBytes?: Uint8Array
  /** Bytes written, of which `outputBytes` were kept. The text then says between its halves how many are left out. */
  written: { stdout: number; stderr: number }
  truncated: { stdout: boolean; stderr: boolean }
  durationMs: number
}

/** What a command has said. */
export interface Said {
  output: Uint8Array
  /** It will write no more, and takes no more input. */
  ended: boolean
}

export interface ReadOptions {
  /** Larger files are `too_large`. Default 16 MiB. */
  maxBytes?: number
}

export interface BoxEntry {
  /** UTF-8; a byte that is none is U+DC00 + byte, as in Python's `surrogateescape` (PEP 383). So are all paths. */
  name: string
  kind: 'file' | 'folder' | 'link' | 'other'
  size: number
  mode: number
}

/** What became of a request for a file: what the box holds is the agent's doing, so a "no" is a value. */
export type FileResult<T> = ({ ok: true } & T) | { ok: false; reason: FileRefusal; message: string }
export type FileRefusal =
  /** There is no such file or folder. */
  | 'missing'
  /** It is something else: a folder where a file was asked for, a pipe, a device, a file on the way. */
  | 'wrong_kind'
  /** A link leads out of the top-level folder that it was reached by, such as `/box`. */
  | 'outside'
  | 'denied'
  | 'too_large'
  | 'no_space'

export interface SnapshotOptions {
  /** More than this in total is left out and said. Default 64 MiB. */
  maxBytes?: number
  /** Default 20,000. */
  maxEntries?: number
  /**
   * Ends every command of the box first, so that nothing changes while it is read. For a box that is stopped next; drivers
   * that cannot do it leave it.
   */
  still?: boolean
}

/** Plain data that `restore` of any driver takes. Links are kept as links and never followed. */
export interface Snapshot {
  version: 1
  entries: SnapshotEntry[]
  /** Left out, and why; an asked-for path that is not there is `missing`. */
  skipped: { path: string; reason: FileRefusal }[]
}
/** Absolute path in the box, permission bits, and contents or where the link leads. */
export type SnapshotEntry =
  | { kind: 'file'; path: string; mode: number; data: Uint8Array }
  | { kind: 'folder'; path: string; mode: number }
  | { kind: 'link'; path: string; target: string }

/**
 * Codes of the faults that drivers throw as `FaultError` with owner `sandbox`: no box came up (retryable), a box that
 * was there is gone (retryable), the engine or the channel to a box misbehaved (retryable), the box was stopped
 * before the call (not retryable).
 */
export type SandboxFaultCode = 'sandbox_start_failed' | 'sandbox_lost' | 'sandbox_io' | 'sandbox_stopped'
