import { resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import type { Door } from '../doors/serve/door.ts'
import { openServer } from '../doors/serve/open-server.ts'
import { formatTable, printableLine, styleFor } from '../report/index.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Interrupts, listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { type CoreFlags, durationMs, type OpenCores, openCores } from './open-cores.ts'
import { banner, endLines, readyLine } from './serve-text.ts'

export interface ServeOptions extends CoreFlags {
  door?: string[]
  /** Show the table of planes, and serve nothing. */
  doors?: boolean
  host?: string
  port?: number
  /** Names of this machine by which requests may call it. */
  name?: string[]
  tokenEnv?: string
  tokenFile?: string
  metricsPort?: number
  lossy?: boolean
  grace?: string
  untilStdinCloses?: boolean
  json?: boolean
}

/** How long open sessions may go on when the server is told to end. */
const graceMs = 30_000

/**
 * Serves environments by doors until it is told to end; then no new sessions are taken, and those that are open have a grace.
 * 0 where all of them ended, 3 where some were cut off. What cannot be served is refused before anything listens.
 */
export async function serveCommand(
  envs: readonly string[],
  options: ServeOptions,
  io: CliIo,
): Promise<ExitCode> {
  const { allDoors, doorNames, loadDoor } = await import('../doors/serve/door-names.ts')
  if (options.doors === true) return showDoors(await allDoors(), options, io)
  const names = [...new Set(options.door ?? [])]
  if (envs.length === 0)
    throw new QuintainError('usage', 'Say which environment is served: quintain serve ENV --door ors.')
  if (names.length === 0) {
    throw new QuintainError(
      'usage',
      `Say by which door: ${doorNames.map((name) => `--door ${name}`).join(', ')}. Several may be open at once; --doors says what each is.`,
      { facts: { doors: doorNames } },
    )
  }
  const doors = await Promise.all(names.map(loadDoor))
  const ready = await checkedOptions(doors, options, io)
  const seconds = ready.graceMs / 1_000
  const say = (text: string) => void io.stderr.write(`${printableLine(text, 1_000)}\n`)
  const interrupts = listenForInterrupts(
    io,
    say,
    `Draining: no new sessions, and those that are open have ${seconds} s. Ctrl-C again ends them at once.`,
  )
  const stopWaiting = options.untilStdinCloses === true ? io.onStdinEnd?.(interrupts.interrupt) : undefined
  const stopGuarding = tellRejections(io, say)
  let opened: OpenCores | undefined
  try {
    opened = await openCores(envs, options, io)
    return await serve(opened, { ...ready, doors, known: await allDoors() }, { options, io, interrupts, say })
  } catch (error) {
    // Ctrl-C reaches processes that are still loading too, and what they say of that is no news.
    if (opened !== undefined || !interrupts.signal.aborted) throw error
    say('Ended before anything was served.')
    return exitCodes.done
  } finally {
    stopGuarding()
    stopWaiting?.()
    interrupts.stop()
    await opened?.closeModels()
  }
}

/** What can be refused before anything is opened. */
async function checkedOptions(doors: readonly Door[], options: ServeOptions, io: CliIo) {
  const { checkHost, readToken } = await import('../doors/serve/token.ts')
  const host = (options.host ?? '127.0.0.1').toLowerCase().replace(/^\[|\]$/g, '')
  const token = await readToken(
    {
      ...(options.tokenEnv === undefined ? {} : { tokenEnv: options.tokenEnv }),
      ...(options.tokenFile === undefined ? {} : { tokenFile: resolve(io.cwd, options.tokenFile) }),
    },
    io.env,
  )
  for (const door of doors) checkHost(door, { host, token })
  return {
    host,
    ...(token === undefined ? {} : { token }),
    graceMs: options.grace === undefined ? graceMs : durationMs(options.grace, '--grace'),
  }
}

interface Serving {
  options: ServeOptions
  io: CliIo
  interrupts: Interrupts
  say(text: string): void
}

async function serve(
  { cores, dirs, discard }: OpenCores,
  how: { host: string; token?: string; graceMs: number; doors: readonly Door[]; known: readonly Door[] },
  { options, io, interrupts, say }: Serving,
): Promise<ExitCode> {
  const { graceMs: grace, ...given } = how
  const server = await openServer({
    cores,
    ...given,
    port: options.port ?? 8_000,
    ...(options.name === undefined ? {} : { names: new Set(options.name.map((name) => name.toLowerCase())) }),
    lossy: options.lossy === true,
    operationsPort: options.metricsPort ?? 0,
    log: say,
  }).catch(async (error: unknown) => {
    await discard()
    throw error
  })
  const event = (name: string, facts: object) => {
    if (options.json) io.stdout.write(`${JSON.stringify({ event: name, ...facts })}\n`)
  }
  io.stdout.write(options.json ? readyLine(server.facts, dirs) : banner(server.facts, dirs, io.cwd))
  await aborted(interrupts.signal)
  event('draining', { open: server.open() })
  const { cut } = await server.drain({ graceMs: grace, hardSignal: interrupts.hardSignal })
  event('drained', { cut })
  if (!options.json) for (const line of endLines(cores, dirs, { cwd: io.cwd, cut })) say(line)
  return cut > 0 ? exitCodes.incomplete : exitCodes.done
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** A promise that nobody waits for is told and ends nothing: hundreds of sessions may be under way. */
function tellRejections(io: CliIo, say: (text: string) => void): () => void {
  if (io.ownsProcess !== true) return () => {}
  const tell = (error: unknown) =>
    say(
      `A promise was rejected that nobody waits for: ${error instanceof Error ? error.stack : String(error)}`,
    )
  process.on('unhandledRejection', tell)
  return () => void process.off('unhandledRejection', tell)
}

/** Columns of the table: those of an ordinary terminal. */
const tableWidth = 100

/** The table of planes: per door who may ask, what is at one address, and whether agents may have it. */
async function showDoors(doors: readonly Door[], { json }: ServeOptions, io: CliIo): Promise<ExitCode> {
  const { planeCells, planeRows } = await import('../doors/serve/plane-rows.ts')
  const [head = [], ...rows] = planeCells(doors)
  if (json) io.stdout.write(`${JSON.stringify(planeRows(doors), null, 2)}\n`)
  else io.stdout.write(formatTable(head, rows, styleFor(io.stdout, io.env), tableWidth))
  return exitCodes.done
}
