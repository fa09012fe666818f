import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { dirname } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { BoxLimits, ExecResult } from '../../core/sandbox.ts'
import { withStreams } from '../../core/with-streams.ts'
import { KeptOutput, outputFields } from '../command-output.ts'
import type { Talk } from '../talks.ts'
import type { WasmBuild } from './build.ts'

const here = fileURLToPath(import.meta.url)
const main = fileURLToPath(new URL(`./main.${here.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))

export interface InterpreterOptions {
  build: WasmBuild
  code: string
  /** `sys.argv` from the second on. */
  arguments: readonly string[]
  env: Readonly<Record<string, string>>
  limits: BoxLimits
  stdin: Uint8Array
  /** Its input stays open, and its output is for whoever talks with it. */
  talk: Talk | undefined
  signal: AbortSignal | undefined
}

/** Runs code in an interpreter and a process of its own, to its end. */
export async function runInterpreter(options: InterpreterOptions): Promise<ExecResult> {
  const { limits, signal, talk, stdin } = options
  const began = performance.now()
  const output = { out: new KeptOutput(limits.outputBytes), err: new KeptOutput(limits.outputBytes) }
  const child = start(options)
  const { stdin: input, stdout, stderr } = withStreams(child)
  let timedOut = false
  let aborted = false
  const deadline = setTimeout(() => {
    timedOut = true
    child.kill('SIGKILL')
  }, limits.wallMs)
  const abort = () => {
    aborted = true
    child.kill('SIGKILL')
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  input.on('error', () => {})
  if (stdin.length > 0) input.write(stdin)
  if (talk === undefined) input.end()
  else talk.attach((bytes) => input.write(bytes))
  stdout.on('data', (chunk: Buffer) => {
    if (talk === undefined) output.out.add(chunk)
    else talk.hear(chunk)
  })
  stderr.on('data', (chunk: Buffer) => output.err.add(chunk))
  try {
    const [exitCode, ended] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, by) => resolve([code, by]))
    })
    return {
      ...{ exitCode, signal: ended, timedOut, aborted: aborted && !timedOut, outOfMemory: null },
      ...outputFields(output.out.end(), output.err.end(), false),
      durationMs: performance.now() - began,
    }
  } finally {
    clearTimeout(deadline)
    signal?.removeEventListener('abort', abort)
    talk?.end()
  }
}

function start({
  build,
  code,
  arguments: words,
  env,
  limits,
}: InterpreterOptions): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawn(
    process.execPath,
    [
      '--permission',
      ...[build.folder, dirname(main)].map((folder) => `--allow-fs-read=${folder}`),
      // For one thread of its own; main.ts takes the means away before Python starts.
      '--allow-worker',
      '--disallow-code-generation-from-strings',
      '--no-addons',
      '--disable-warning=SecurityWarning',
      '--disable-warning=ExperimentalWarning',
      '--max-old-space-size=512',
      main,
      build.module,
      ...[String(limits.memoryMb), String(limits.diskMb), JSON.stringify(env), code, ...words],
    ],
    // The last is open as long as this process is.
    { env: {}, cwd: build.folder, stdio: ['pipe', 'pipe', 'pipe', 'pipe'], windowsHide: true },
  )
}
