import { accessSync, constants, statSync } from 'node:fs'
import { basename, isAbsolute, resolve } from 'node:path'
import {
  type BoxFiles,
  type BoxLimits,
  type BoxMount,
  QuintainError,
  type SandboxDriver,
} from '../../core/index.ts'
import { findProgram } from '../../sandbox/find-program.ts'

/** A program that is an agent, and how it is run. */
export interface CommandOptions {
  /**
   * Program and arguments; no shell reads them. What names a file by a relative path, such as `agent.js`, is found from
   * where we run (from `cwd`, where that is given).
   */
  argv: readonly string[]
  /** `process` (the default): a process for each turn of the environment. `lines`: one that is told and answers a line of JSON a turn. */
  turns?: 'process' | 'lines'
  /**
   * How it is told what to do: as text on its input (the default), in the file of `QUINTAIN_TASK_FILE` alone, which is
   * there in any case, or in its arguments, where `{input}`, `{task}`, `{task-file}`, `{model}` and `{base-url}` are
   * replaced.
   */
  task?: 'stdin' | 'file' | 'args'
  /** Where its answer is: all that it prints (the default), the last line of it, a file, or the last reply of its model. */
  answer?: 'stdout' | 'last-line' | 'last-reply' | { file: string }
  /** Variables beside those of the rollout, which it takes the place of. Nothing of ours is inherited but `PATH`. */
  env?: Readonly<Record<string, string>>
  /** Files that are in its folder when it starts. */
  files?: BoxFiles
  /** A folder of this machine to start in; a fresh one for each attempt when absent. */
  cwd?: string
  /** A box of its own for each attempt, without a network but for its model, its tools and the world's endpoints. */
  sandbox?: 'bwrap' | SandboxDriver
  /** Folders of this machine that its box sees, read-only: where the program is. */
  mounts?: readonly BoxMount[]
  /** Of its box. */
  limits?: Partial<BoxLimits>
  /** `world`: run in the box that the world has. */
  box?: 'world'
  /** Kept of each of its output streams: the first and the last half. Default 1 MiB. */
  outputBytes?: number
  /** Milliseconds between asking it to end and ending it. Default 2,000. */
  graceMs?: number
  /** For the records; the name of the program when absent. */
  name?: string
}

/** Options after their checks, with the defaults in. */
export interface CommandPlan {
  argv: readonly string[]
  turns: 'process' | 'lines'
  task: 'stdin' | 'file' | 'args'
  answer: NonNullable<CommandOptions['answer']>
  env: Readonly<Record<string, string>>
  files: BoxFiles
  cwd: string | undefined
  where: { kind: 'host' } | { kind: 'world' } | { kind: 'own'; driver: 'bwrap' | SandboxDriver }
  mounts: readonly BoxMount[]
  limits: Partial<BoxLimits>
  outputBytes: number
  graceMs: number
  name: string
}

/** Throws `usage` for what cannot be run as it is asked for, a program that is not there among it. */
export function planCommand(given: readonly string[] | CommandOptions): CommandPlan {
  const options: CommandOptions = isArgv(given) ? { argv: given } : given
  const [program] = options.argv
  if (typeof program !== 'string' || program === '')
    throw refused('give program and arguments, such as ["node", "agent.js"]')
  const where: CommandPlan['where'] =
    options.box === 'world'
      ? { kind: 'world' }
      : options.sandbox === undefined
        ? { kind: 'host' }
        : { kind: 'own', driver: options.sandbox }
  if (options.box === 'world' && options.sandbox !== undefined)
    throw refused('`box` and `sandbox` are two places; give one')
  if (where.kind !== 'own' && (options.mounts !== undefined || options.limits !== undefined))
    throw refused('`mounts` and `limits` are those of a `sandbox`; give one')
  if (where.kind !== 'host' && options.cwd !== undefined)
    throw refused('`cwd` is a folder of this machine; a box has folders of its own (`files`, `mounts`)')
  if (where.kind === 'world' && options.files !== undefined)
    throw refused('`files` are for a folder of the program; the box of a world is the world’s to fill')
  const argv = where.kind === 'host' ? onThisMachine(options) : options.argv
  return {
    argv,
    turns: options.turns ?? 'process',
    task: options.task ?? 'stdin',
    answer: options.answer ?? 'stdout',
    env: options.env ?? {},
    files: options.files ?? {},
    cwd: options.cwd === undefined ? undefined : resolve(options.cwd),
    where,
    mounts: options.mounts ?? [],
    limits: options.limits ?? {},
    outputBytes: options.outputBytes ?? 2 ** 20,
    graceMs: options.graceMs ?? 2_000,
    name: options.name ?? basename(program),
  }
}

export function isArgv(given: readonly string[] | CommandOptions): given is readonly string[] {
  return Array.isArray(given)
}

/** The program by its whole path: the folder that it starts in is not ours. */
function onThisMachine({ argv, cwd, env }: CommandOptions): readonly string[] {
  const [program = '', ...rest] = argv
  if (cwd !== undefined && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    throw refused(`there is no folder ${cwd}`)
  const path = program.includes('/')
    ? executable(isAbsolute(program) ? program : resolve(cwd ?? '.', program))
    : findProgram(program, env?.['PATH'] ?? process.env['PATH'] ?? '')
  // The program starts in a folder of its own, where a relative path leads nowhere.
  if (path !== undefined) return [path, ...(cwd === undefined ? rest.map(wholePath) : rest)]
  throw refused(
    `there is no program ${JSON.stringify(program)}${program.includes('/') ? '' : ' on the PATH'}; install it, or name it by its path`,
  )
}

/** An argument that names a file here, by its whole path. A bare word is none: it may be a command of the program. */
function wholePath(argument: string): string {
  return /[./]/.test(argument) && !isAbsolute(argument) && isFile(argument) ? resolve(argument) : argument
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK)
  } catch {
    return undefined
  }
  return isFile(path) ? path : undefined
}

/** Any text may be asked for: a script in an argument is longer than a name can be. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function refused(what: string): QuintainError {
  return new QuintainError('usage', `command: ${what}.`)
}
