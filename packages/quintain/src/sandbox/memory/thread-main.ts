// A thread of the driver `bash`: holds the files of boxes, and runs their commands in an interpreter.
import { parentPort } from 'node:worker_threads'
import { Bash, InMemoryFs, MountableFs } from 'just-bash'
import { messageOf } from '../../core/errors.ts'
import type { BoxLimits, ExecResult } from '../../core/sandbox.ts'
import { boxHome } from '../box-options.ts'
import { KeptOutput, outputFields } from '../command-output.ts'
import { notStarted } from '../exec-result.ts'
import { listFolder, placeFile, readFile, restoreInto, snapshotOf } from './memory-files.ts'
import type { Answered, Asked, Request } from './messages.ts'
import { readOnlyFs } from './read-only-fs.ts'

interface MemoryBox {
  files: Bash['fs']
  env: Record<string, string>
  workdir: string
  limits: BoxLimits
}

const boxes = new Map<string, MemoryBox>()
/** A command may print this much before it is stopped; of that, `outputBytes` are kept. */
const mostPrinted = 64 * 2 ** 20
/** Loops end by the clock; these bound what runs between two looks at it. */
const loops = 1_000_000_000

parentPort!.on('message', ({ call, box, request }: Asked) => {
  answer(box, request)
    .then((result): Answered => ({ call, result }))
    .catch((error: unknown): Answered => ({ call, failed: error instanceof Error ? error.name : 'unknown' }))
    .then((answered) => parentPort!.postMessage(answered))
})

async function answer(id: string, request: Request): Promise<unknown> {
  if (request.op === 'start') return start(id, request)
  if (request.op === 'stop') return boxes.delete(id)
  const box = boxes.get(id)!
  if (request.op === 'exec') return exec(box, request)
  if (request.op === 'read') return readFile(box.files, request.path, request.maxBytes)
  if (request.op === 'write') return placeFile(box.files, request)
  if (request.op === 'list') return listFolder(box.files, request.path)
  if (request.op === 'snapshot') return snapshotOf(box.files, request.paths, request.options)
  return restoreInto(box.files, request.snapshot, request.at)
}

async function start(id: string, request: Extract<Request, { op: 'start' }>): Promise<unknown> {
  const { workdir, env, limits } = request
  const base = new InMemoryFs({}, { maxTotalBytes: Math.ceil(limits.diskMb * 2 ** 20) })
  const protectedFiles = new Map<string, InMemoryFs>()
  for (const file of request.readOnlyFiles) {
    const top = `/${file.path.split('/')[1]}`
    const inner = protectedFiles.get(top) ?? new InMemoryFs()
    protectedFiles.set(top, inner)
    await placeFile(inner, { ...file, path: file.path.slice(top.length) })
  }
  const mounts = [...protectedFiles].map(([mountPoint, inner]) => ({
    mountPoint,
    filesystem: readOnlyFs(inner),
  }))
  const files = mounts.length === 0 ? base : new MountableFs({ base, mounts })
  for (const folder of [workdir, boxHome, '/tmp']) await base.mkdir(folder, { recursive: true })
  boxes.set(id, { files, env, workdir, limits })
  for (const file of request.files) {
    const placed = await placeFile(files, file)
    if (!placed.ok) return placed
  }
  return { ok: true }
}

async function exec(box: MemoryBox, request: Extract<Request, { op: 'exec' }>): Promise<ExecResult> {
  const began = performance.now()
  const { command, options, wallMs, abort } = request
  const cwd = options.cwd ?? box.workdir
  const folder = await box.files.stat(cwd).catch(() => undefined)
  if (!folder?.isDirectory) return notStarted('no_folder', began)
  const bash = new Bash({ fs: box.files, cwd, executionLimits: executionLimits(box.limits, wallMs) })
  const text = typeof command === 'string' ? command : command.map(quoted).join(' ')
  const run = bash.exec(text, {
    rawScript: true,
    cwd,
    replaceEnv: true,
    env: { ...box.env, PWD: cwd, ...options.env },
    signal: sharedSignal(abort, wallMs),
    ...(options.stdin === undefined
      ? {}
      : { stdin: Buffer.from(options.stdin as string).toString('latin1'), stdinKind: 'bytes' as const }),
  })
  // A redirection that fails, and whatever else the interpreter throws, is what a shell says before it gives up.
  const { stdout, stderr, exitCode } = await run.catch((error: unknown) => ({
    stdout: '',
    stderr: `bash: ${messageOf(error)}\n`,
    exitCode: 1,
  }))
  const durationMs = performance.now() - began
  const aborted = Atomics.load(abort, 0) !== 0
  if (typeof command !== 'string' && exitCode === 127 && stderr.endsWith('command not found\n'))
    return notStarted('not_found', began)
  const cap = Math.min(options.outputBytes ?? box.limits.outputBytes, box.limits.outputBytes)
  const kept = [stdout, stderr].map((output) => {
    const keeper = new KeptOutput(cap)
    keeper.add(Buffer.from(output, 'utf8'))
    return keeper.end()
  })
  // 124 with time left is the command's own.
  const timedOut = !aborted && exitCode === 124 && durationMs >= wallMs
  return {
    exitCode: timedOut || aborted ? null : exitCode,
    signal: timedOut || aborted ? 'SIGKILL' : null,
    timedOut,
    aborted,
    outOfMemory: null,
    ...outputFields(kept[0]!, kept[1]!, options.binary === true),
    durationMs,
  }
}

function executionLimits({ memoryMb, diskMb }: BoxLimits, wallMs: number) {
  const memory = Math.ceil(memoryMb * 2 ** 20)
  return {
    maxExecutionTimeMs: wallMs,
    maxCommandCount: loops,
    maxLoopIterations: loops,
    maxAwkIterations: 10_000_000,
    maxSedIterations: 10_000_000,
    maxJqIterations: 10_000_000,
    maxLiveBytes: memory,
    maxStringLength: Math.min(memory, 64 * 2 ** 20),
    maxFileSystemBytes: Math.ceil(diskMb * 2 ** 20),
    maxOutputSize: mostPrinted,
  }
}

/** A signal that a busy interpreter sees, since it looks at memory and waits for no event. */
function sharedSignal(abort: Int32Array, wallMs: number): AbortSignal {
  const controller = new AbortController()
  // The event, for what waits; the flag, for what is busy.
  const waiting = setInterval(() => Atomics.load(abort, 0) !== 0 && controller.abort(), 20)
  setTimeout(() => clearInterval(waiting), wallMs + 1000).unref()
  waiting.unref()
  Object.defineProperty(controller.signal, 'aborted', { get: () => abort[0] !== 0 })
  return controller.signal
}

function quoted(argument: string): string {
  return `'${argument.replaceAll("'", `'\\''`)}'`
}
