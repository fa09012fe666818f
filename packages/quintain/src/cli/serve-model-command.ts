import { basename, relative, resolve } from 'node:path'
import { QuintainError } from '../core/index.ts'
import { printableLine } from '../report/index.ts'
import type { ModelServer, OpenPolicy } from '../train/index.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type Interrupts, listenForInterrupts } from './interrupts.ts'
import type { CliIo } from './io.ts'
import { durationMs } from './open-cores.ts'
import { modelBanner, modelReadyLine } from './serve-model-text.ts'

export interface ServeModelOptions {
  /** The name by which clients ask for the model. */
  modelName?: string
  host?: string
  port?: number
  /** Names of this machine by which requests may call it. */
  name?: string[]
  tokenEnv?: string
  tokenFile?: string
  controlPort?: number
  controlTokenEnv?: string
  controlTokenFile?: string
  concurrency?: number
  queue?: number
  threads?: number
  grace?: string
  untilStdinCloses?: boolean
  json?: boolean
}

/** How long replies that are under way may go on when the server is told to end. */
const graceMs = 30_000

/**
 * Serves the policy of a checkpoint as OpenAI's endpoints are served, until it is told to end; then no more requests are
 * taken, and replies that are under way have a grace. 0 where all of them ended, 3 where some were cut off.
 */
export async function serveModelCommand(
  path: string,
  options: ServeModelOptions,
  io: CliIo,
): Promise<ExitCode> {
  const say = (text: string) => void io.stderr.write(`${printableLine(text, 1_000)}\n`)
  const ready = await checkedOptions(options, io)
  const interrupts = listenForInterrupts(
    io,
    say,
    `Draining: no new requests, and replies that are under way have ${ready.graceMs / 1_000} s. Ctrl-C again ends them at once.`,
  )
  const stopWaiting = options.untilStdinCloses === true ? io.onStdinEnd?.(interrupts.interrupt) : undefined
  let policy: OpenPolicy | undefined
  try {
    const { openPolicy } = await import('../train/index.ts')
    policy = await openPolicy(
      resolve(io.cwd, path),
      options.threads === undefined ? {} : { threads: options.threads },
    )
    return await serve(
      policy,
      { ...ready, name: options.modelName ?? nameOf(path, io) },
      { options, io, interrupts, say },
    )
  } finally {
    stopWaiting?.()
    interrupts.stop()
    await policy?.close()
  }
}

interface Ready {
  host: string
  token?: string
  control?: { port: number; token: string }
  graceMs: number
}

/** What can be refused before anything is opened. */
async function checkedOptions(options: ServeModelOptions, io: CliIo): Promise<Ready> {
  if (options.modelName?.trim() === '')
    throw new QuintainError(
      'usage',
      '--model-name is empty: clients ask for a model by its name. Leave it out, and it is that of the folder.',
    )
  const { readToken } = await import('../doors/serve/token.ts')
  const inCwd = (file: string | undefined) => (file === undefined ? undefined : resolve(io.cwd, file))
  const token = await readToken({ tokenEnv: options.tokenEnv, tokenFile: inCwd(options.tokenFile) }, io.env)
  const controlToken = await readToken(
    {
      tokenEnv: options.controlTokenEnv,
      tokenFile: inCwd(options.controlTokenFile),
      option: '--control-token',
    },
    io.env,
  )
  if (options.controlPort === undefined && controlToken !== undefined) {
    throw new QuintainError(
      'usage',
      'A control token is for the address of --control-port PORT; 0 is any that is free.',
    )
  }
  if (options.controlPort !== undefined && controlToken === undefined) {
    throw new QuintainError(
      'usage',
      'Whoever reaches the control address exchanges the weights, so it needs a token of its own: --control-token-env NAME or --control-token-file FILE.',
    )
  }
  return {
    host: (options.host ?? '127.0.0.1').toLowerCase().replace(/^\[|\]$/g, ''),
    ...(token === undefined ? {} : { token }),
    ...(options.controlPort === undefined || controlToken === undefined
      ? {}
      : { control: { port: options.controlPort, token: controlToken } }),
    graceMs: options.grace === undefined ? graceMs : durationMs(options.grace, '--grace'),
  }
}

interface Serving {
  options: ServeModelOptions
  io: CliIo
  interrupts: Interrupts
  say(text: string): void
}

async function serve(
  policy: OpenPolicy,
  ready: Ready & { name: string },
  { options, io, interrupts, say }: Serving,
): Promise<ExitCode> {
  const { serveModel } = await import('../train/index.ts')
  const { name, host, token, control } = ready
  const server = await serveModel({
    weights: {
      sampler: await policy.learner.sampler(),
      version: String(policy.version),
      from: { path: policy.folder, digest: policy.digest },
    },
    renderer: policy.renderer,
    name,
    host,
    port: options.port ?? 8_000,
    ...(token === undefined ? {} : { token }),
    ...(options.name === undefined
      ? {}
      : { names: new Set(options.name.map((given) => given.toLowerCase())) }),
    ...(control === undefined
      ? {}
      : { control: { ...control, load: (path, version) => loaded(policy, resolve(io.cwd, path), version) } }),
    limits: {
      ...(options.concurrency === undefined ? {} : { inFlight: options.concurrency }),
      ...(options.queue === undefined ? {} : { waiting: options.queue }),
    },
    log: say,
  })
  const facts = { name, token: token !== undefined, server, policy }
  io.stdout.write(
    options.json ? modelReadyLine(facts) : modelBanner(facts, relative(io.cwd, policy.folder) || '.'),
  )
  await aborted(interrupts.signal)
  return end(server, ready.graceMs, { options, io, interrupts, say })
}

async function end(
  server: ModelServer,
  grace: number,
  { options, io, interrupts, say }: Serving,
): Promise<ExitCode> {
  const event = (said: string, facts: object) => {
    if (options.json) io.stdout.write(`${JSON.stringify({ event: said, ...facts })}\n`)
  }
  event('draining', { open: server.load.inFlight })
  const { cut } = await server.drain({ graceMs: grace, hardSignal: interrupts.hardSignal })
  event('drained', { cut })
  if (!options.json && cut > 0) say(`${cut} ${cut === 1 ? 'reply was' : 'replies were'} cut off.`)
  return cut > 0 ? exitCodes.incomplete : exitCodes.done
}

/** The weights of another checkpoint, for those who ask from now on. */
async function loaded(policy: OpenPolicy, path: string, version: string | undefined) {
  const { folder, digest, version: steps } = await policy.load(path)
  return {
    sampler: await policy.learner.sampler(),
    version: version ?? String(steps),
    from: { path: folder, digest },
  }
}

/** A model is called as its folder is. */
function nameOf(path: string, io: CliIo): string {
  return basename(resolve(io.cwd, path)) || 'policy'
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done()
    else signal.addEventListener('abort', () => done(), { once: true })
  })
}
