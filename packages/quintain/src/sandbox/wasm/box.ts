import { QuintainError } from '../../core/errors.ts'
import type { Box, ExecOptions, ExecResult } from '../../core/sandbox.ts'
import { type BoxPlan, checkVariables } from '../box-options.ts'
import { notStarted } from '../exec-result.ts'
import { sandboxFault, stoppedFault } from '../sandbox-fault.ts'
import { Talks } from '../talks.ts'
import type { WasmBuild } from './build.ts'
import { runInterpreter } from './interpreter.ts'

const pythons: ReadonlySet<string> = new Set(['python3', 'python'])

/** Where nothing is but interpreters, each with files of its own that end with it. */
export class WasmBox implements Box {
  readonly driver = 'wasm'
  readonly isolation = 'memory'
  readonly workdir = '/home/pyodide'
  readonly id: string
  readonly #plan: BoxPlan
  readonly #build: WasmBuild
  readonly #talks = new Talks()
  readonly #over = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor({ id, plan, build }: { id: string; plan: BoxPlan; build: WasmBuild }) {
    this.id = id
    this.#plan = plan
    this.#build = build
  }

  /** Runs `['python3', …flags, '-c', code, …arguments]`, and nothing else. */
  async exec(command: string | readonly string[], options: ExecOptions = {}): Promise<ExecResult> {
    if (this.#over.signal.aborted) throw stoppedFault()
    const began = performance.now()
    const words = typeof command === 'string' ? [] : command
    const at = words.indexOf('-c')
    const code = words[at + 1]
    if (!pythons.has(words[0] ?? '') || at < 0 || code === undefined) return notStarted('not_found', began)
    if (words.some((word) => word.includes('\0'))) return notStarted('invalid', began)
    const { limits } = this.#plan
    const { env = {}, signal, wallMs = limits.wallMs, outputBytes = limits.outputBytes } = options
    checkVariables(env)
    const running = runInterpreter({
      ...{ build: this.#build, code, arguments: words.slice(at + 2) },
      env: { ...this.#plan.env, ...env, HOME: this.workdir },
      limits: {
        ...limits,
        wallMs: Math.min(wallMs, limits.wallMs),
        outputBytes: Math.min(outputBytes, limits.outputBytes),
      },
      stdin: Buffer.from((options.stdin ?? '') as string),
      talk: options.talk === undefined ? undefined : this.#talks.begin(options.talk),
      signal: AbortSignal.any([this.#over.signal, ...(signal === undefined ? [] : [signal])]),
    })
    this.#running.add(running)
    try {
      return await running
    } catch (thrown) {
      throw sandboxFault(
        'sandbox_start_failed',
        'the process of the interpreter could not be started',
        thrown,
      )
    } finally {
      this.#running.delete(running)
    }
  }

  talk(name: string, input?: string | Uint8Array) {
    return this.#talks.say(name, input)
  }

  async stop(): Promise<void> {
    this.#over.abort()
    await Promise.allSettled([...this.#running])
    this.#talks.end()
  }

  read(): Promise<never> {
    return noFiles()
  }
  write(): Promise<never> {
    return noFiles()
  }
  list(): Promise<never> {
    return noFiles()
  }
  snapshot(): Promise<never> {
    return noFiles()
  }
  restore(): Promise<never> {
    return noFiles()
  }
}

async function noFiles(): Promise<never> {
  throw new QuintainError(
    'options_invalid',
    'A box of the driver wasm runs Python graders and holds no files. Name bwrap, docker or podman (--sandbox) for boxes that do.',
  )
}
