import { rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { folderNames } from '../core/folder-name.ts'
import type { Duration } from '../core/index.ts'
import { QuintainError, toMs } from '../core/index.ts'
import type { SessionCore } from '../doors/session/index.ts'
import { openSandboxDriver } from '../sandbox-drivers.ts'
import type { EnvironmentFlags } from './environment-flags.ts'
import type { CliIo } from './io.ts'
import { parseLimits, parseOptions } from './parse.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { newRunDir } from './run-path.ts'

/** Options of commands that open environments for doors; those of `eval` that mean the same. */
export interface CoreFlags extends EndpointOptions, EnvironmentFlags {
  maxSessions?: number
  idle?: string
}

export interface OpenCores {
  cores: SessionCore[]
  /** The folder of the run of each. */
  dirs: string[]
  /** Closes models that judges and other seats asked; cores are closed by whoever took them. */
  closeModels(): Promise<void>
  /** Takes the folders away again, for when nothing was served. Cores must be closed. */
  discard(): Promise<void>
}

/** Milliseconds of a duration as it is typed; a bare number is seconds, as in limits. Throws `limits_invalid`. */
export function durationMs(text: string, name: string): number {
  return toMs((/^\d+(\.\d+)?$/.test(text) ? `${text}s` : text) as Duration, name)
}

/**
 * Opens every environment, each with a run of its own. What was typed is looked at before any of them is. Throws as a run
 * does; nothing is left open then, and no folder.
 */
export async function openCores(envs: readonly string[], flags: CoreFlags, io: CliIo): Promise<OpenCores> {
  const limits = flags.limit === undefined ? undefined : parseLimits(flags.limit)
  const idleMs = flags.idle === undefined ? undefined : durationMs(flags.idle, '--idle')
  const optionsOf = optionsByEnvironment(envs, flags.option ?? [])
  const opener = new PlayerOpener(flags, io)
  const dirs: string[] = []
  const cores: SessionCore[] = []
  const discard = () => discardRuns(dirs)
  try {
    const seats = await opener.seats(flags.seat)
    const judges = await opener.judges(flags.judge)
    const { openSessionCore } = await import('../doors/session/index.ts')
    const { readRecordings } = await import('../models/index.ts')
    const places = runFolders(envs, flags.out, io.cwd)
    const opening = envs.map(async (env, place) => {
      const options = optionsOf[place]!
      const dir = places[place]!
      const core = await openSessionCore({
        env,
        dir,
        cwd: io.cwd,
        openSandbox: openSandboxDriver,
        openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
        ...(Object.keys(options).length === 0 ? {} : { options }),
        ...(Object.keys(seats).length === 0 ? {} : { seats }),
        ...(Object.keys(judges).length === 0 ? {} : { judges }),
        ...(limits === undefined ? {} : { limits }),
        ...(idleMs === undefined ? {} : { idleMs }),
        ...given(flags),
      })
      // It is ours to take away again only now: it was not there before.
      dirs.push(dir)
      return core
    })
    const settled = await Promise.allSettled(opening)
    for (const one of settled) if (one.status === 'fulfilled') cores.push(one.value)
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed !== undefined) throw failed.reason
    return { cores, dirs: places, closeModels: () => opener.close(), discard }
  } catch (error) {
    for (const core of cores) await core.close().catch(() => {})
    await opener.close()
    await discard()
    throw error
  }
}

/** Flags that go through as they are. */
function given({ tasks, split, seed, workers, boxes, sandbox, isolation, maxSessions }: CoreFlags) {
  return {
    ...(tasks === undefined ? {} : { tasks }),
    ...(split === undefined ? {} : { split }),
    ...(seed === undefined ? {} : { seed }),
    ...(workers === undefined ? {} : { workers }),
    ...(boxes === undefined ? {} : { boxes }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(maxSessions === undefined ? {} : { maxSessions }),
  }
}

/** Where the run of each environment goes: of one `--out` itself, of several a folder of its name in it. */
function runFolders(envs: readonly string[], out: string | undefined, cwd: string): string[] {
  if (out !== undefined && envs.length === 1) return [resolve(cwd, out)]
  const names = folderNames(envs.map((env) => basename(resolve(cwd, env))))
  if (out !== undefined) return names.map((name) => join(resolve(cwd, out), name))
  const now = new Date()
  return names.map((name) => newRunDir(cwd, name, 'served', now))
}

/**
 * Options of each environment: `key=value` is for all of them, `NAME:key=value` for the one whose name or path ends so.
 * Throws `usage` for one that is for none.
 */
export function optionsByEnvironment(
  envs: readonly string[],
  texts: readonly string[],
): Record<string, unknown>[] {
  const names = envs.map((env) => basename(env))
  const forWhom = texts.map((text) => /^([^=:]+):([^=]+=.*)$/s.exec(text))
  for (const found of forWhom) {
    if (found === null || names.includes(found[1]!)) continue
    throw new QuintainError(
      'usage',
      `--option ${JSON.stringify(found[0])}: no environment is called ${found[1]}. They are ${names.join(', ')}.`,
      { facts: { name: found[1] } },
    )
  }
  return names.map((name) =>
    parseOptions(
      texts.flatMap((text, place) => {
        const found = forWhom[place]
        if (found === undefined || found === null) return [text]
        return found[1] === name ? [found[2]!] : []
      }),
    ),
  )
}

/** A folder was made for each before anything could be refused; one that no session was in tells nobody anything. */
async function discardRuns(dirs: readonly string[]): Promise<void> {
  for (const dir of dirs) await rm(dir, { recursive: true, force: true })
}
