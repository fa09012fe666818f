import { resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import type { EpisodeParity } from '../doors/episodes/index.ts'
import { printableLine } from '../report/index.ts'
import { openSandboxDriver } from '../sandbox-drivers.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { parseLimits, parseOptions } from './parse.ts'
import { type EndpointOptions, PlayerOpener } from './players.ts'
import { findRuns } from './run-path.ts'

export interface DoorParityOptions extends EndpointOptions {
  /** Through which doors; all when absent. */
  door?: string[]
  /** How many tasks, or episodes of each run. */
  tasks?: number
  policy?: string[]
  /** Runs whose episodes are played again, instead of new ones. */
  run?: string[]
  option?: string[]
  seed?: string
  split?: string
  limit?: string[]
  seat?: string[]
  judge?: string[]
  sandbox?: string
  json?: boolean
  markdown?: boolean
}

/** Tasks that are played when nobody says how many. */
const usualTasks = 10

/**
 * Plays episodes of an environment again through doors and prints what is the same. Exits with 1 where an episode differs and
 * no loss that the door declares explains it, with 3 when it was interrupted.
 */
export async function doorParity(env: string, options: DoorParityOptions, io: CliIo): Promise<ExitCode> {
  const { doorNames, loadDoor } = await import('../doors/serve/door-names.ts')
  const doors = await Promise.all([...new Set(options.door ?? doorNames)].map(loadDoor))
  const runs = (await Promise.all((options.run ?? []).map((run) => findRuns(run, io.cwd)))).flat()
  const fromRuns = ['policy', 'option', 'seed', 'split', 'limit'] as const
  const beside = fromRuns.find((name) => options[name] !== undefined)
  if (runs.length > 0 && beside !== undefined)
    throw new QuintainError('usage', `A run says its own --${beside}; give --run or --${beside}.`)
  const { environmentParity, episodeParityText, isSame, parityMarkdown } = await import(
    '../doors/episodes/index.ts'
  )
  const { readRecordings } = await import('../models/index.ts')
  const say = (text: string) => void io.stderr.write(`${printableLine(text, 1_000)}\n`)
  const interrupts = listenForInterrupts(io, say, 'Stopping; nothing is kept of a comparison.')
  const opener = new PlayerOpener(options, io)
  try {
    const seats = await opener.seats(options.seat)
    const judges = await opener.judges(options.judge)
    const parity = await environmentParity({
      env,
      cwd: io.cwd,
      doors,
      runs,
      tasks: options.tasks ?? usualTasks,
      openSandbox: openSandboxDriver,
      openRecordings: (path) => readRecordings(resolve(io.cwd, path)),
      signal: interrupts.signal,
      log: say,
      say: (what) => say(`${env}: ${what}`),
      ...(options.policy === undefined ? {} : { policies: options.policy }),
      ...(options.option === undefined ? {} : { options: parseOptions(options.option) }),
      ...(options.limit === undefined ? {} : { limits: parseLimits(options.limit) }),
      ...(options.seed === undefined ? {} : { seed: options.seed }),
      ...(options.split === undefined ? {} : { split: options.split }),
      ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
      ...(Object.keys(seats).length === 0 ? {} : { seats }),
      ...(Object.keys(judges).length === 0 ? {} : { judges }),
    })
    io.stdout.write(printed(parity, options, { episodeParityText, parityMarkdown }))
    return isSame(parity) ? exitCodes.done : exitCodes.belowThreshold
  } catch (thrown) {
    if (interrupts.signal.aborted) return exitCodes.incomplete
    throw thrown
  } finally {
    interrupts.stop()
    await opener.close()
  }
}

function printed(
  parity: EpisodeParity,
  { json, markdown }: DoorParityOptions,
  as: { episodeParityText(of: EpisodeParity): string; parityMarkdown(of: EpisodeParity): string },
): string {
  if (json) return `${JSON.stringify(parity, null, 2)}\n`
  return markdown ? `${as.parityMarkdown(parity)}\n` : as.episodeParityText(parity)
}
