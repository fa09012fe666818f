import type { ExecResult, GradingBox, GradingSandbox } from '../../core/index.ts'
import type { PythonGrade, PythonRuntime, RunPython } from '../graders/grader.ts'
import { type Answer, AnswerReader } from './answer.ts'
import { type Call, packCall } from './call.ts'
import { imagePackages } from './image.ts'
import { type Imports, importsOf } from './imports.ts'
import { runner } from './runner.ts'

export interface PythonOptions {
  /** Wall clock of one call, in milliseconds; 2 minutes when absent, and never more than its share of the budget of the grading. */
  wallMs?: number
}

/** The vendor's: source, wall clock, memory, disk, one core. */
const sourceBytes = 256 * 1000
const vendorWallMs = 120_000
const limits = { memoryMb: 2048, diskMb: 1024, cpuMs: vendorWallMs, outputBytes: 65_536, pids: 256 }
/** Of the budget of a grading: there may be two such calls, and what else is graded. */
const shareOfBudget = 0.4
/** For a process to be gone that has answered. */
const endMs = 1000
const messageKept = 4000
const talk = 'python'
/** The driver that runs CPython in WebAssembly. */
const wasm = 'wasm'

const env = {
  ...{ OPENBLAS_NUM_THREADS: '1', OMP_NUM_THREADS: '1', MKL_NUM_THREADS: '1' },
  NLTK_DATA: '/python/environment/nltk_data',
}

/**
 * Runs Python graders as a hosted vendor does: the source, unchanged, defines `grade(sample, item)`, which gets dictionaries
 * and returns a number. Each call has a box and an interpreter of its own, without network, within the vendor's limits (2
 * minutes, 2 GB memory, 1 GB disk; docs/python-graders.md).
 *
 * What the source does is a value: `python_grader_runtime_error` for an exception, for what is no finite number, for an
 * interpreter that ended or was ended. `python_grader_server_error` says that it could not be run here: no box with walls, no
 * Python, or a package that is missing. Throws faults of owner `sandbox`.
 */
export function pythonIn(sandbox: GradingSandbox, { wallMs = vendorWallMs }: PythonOptions = {}): RunPython {
  const budget = shareOfBudget * (sandbox.wallMs ?? Number.POSITIVE_INFINITY)
  const deadlineMs = Math.min(wallMs, vendorWallMs, budget)
  return async (source, { sample, item }, { signal } = {}) => {
    const began = performance.now()
    const failure = (
      code: Extract<PythonGrade, { ok: false }>['code'],
      message: string,
      more: { stdout?: string; runtime?: PythonRuntime } = {},
    ): PythonGrade => ({
      ...{ ok: false, code, message, stdout: '', runtime: null, ...more },
      ms: performance.now() - began,
    })
    signal?.throwIfAborted()
    if (Buffer.byteLength(source) >= sourceBytes)
      return failure(
        'python_grader_server_error',
        'The source is larger than 256 kB, which is the most that a Python grader may be.',
      )
    let call: Call
    try {
      call = packCall(source, [sample, item])
    } catch {
      return failure(
        'python_grader_runtime_error',
        'The sample or the item is no JSON: it has cycles, or is nested too deeply.',
      )
    }
    const imports = importsOf(source)
    const box = await sandbox.start({
      artefacts: 'none',
      limits,
      env,
      python: { arguments: ['-I', '-B', '-X', 'utf8', '-c', runner, argumentOf(imports)], talk },
    })
    try {
      const { talk: say, ended } = box
      if (say === undefined || ended === undefined)
        return failure('python_grader_server_error', withoutWalls(box.driver))
      const { answer, end, late } = await converse({ box, say, ended }, call, { deadlineMs, signal })
      signal?.throwIfAborted()
      const stdout = end.stderr
      if (answer === undefined) {
        if (end.notStarted !== undefined)
          return failure('python_grader_server_error', notStarted(end.notStarted))
        return failure('python_grader_runtime_error', whyNone(end, { late, deadlineMs }), { stdout })
      }
      const runtime = runtimeOf(answer, imports, box.driver)
      if (answer.kind === 'missing')
        return failure('python_grader_server_error', missing(answer.text, box.driver), { stdout, runtime })
      const value = Number(answer.text)
      if (answer.kind === 'ok' && answer.text !== '' && Number.isFinite(value))
        return { ok: true, value, stdout, runtime, ms: performance.now() - began }
      return failure('python_grader_runtime_error', answer.text.slice(-messageKept), { stdout, runtime })
    } finally {
      await box.stop()
    }
  }
}

interface Conversation {
  answer: Answer | undefined
  end: ExecResult
  /** It was the deadline that ended it. */
  late: boolean
}

async function converse(
  {
    box,
    say,
    ended,
  }: { box: GradingBox } & Required<Pick<GradingBox, 'ended'>> & { say: NonNullable<GradingBox['talk']> },
  call: Call,
  { deadlineMs, signal }: { deadlineMs: number; signal: AbortSignal | undefined },
): Promise<Conversation> {
  const over = new AbortController()
  const stop = () => over.abort()
  let late = false
  const deadline = setTimeout(() => {
    late = true
    stop()
  }, deadlineMs)
  signal?.addEventListener('abort', stop, { once: true })
  const ending = ended.call(box, { signal: over.signal })
  ending.catch(() => {})
  const reader = new AnswerReader(call.nonce)
  let grace: NodeJS.Timeout | undefined
  try {
    let answer: Answer | undefined
    for (let input: Uint8Array = call.bytes; answer === undefined; input = new Uint8Array()) {
      const said = await say.call(box, talk, input)
      answer = reader.take(said.output)
      if (said.ended) break
      if (reader.isFlooded) {
        stop()
        break
      }
    }
    // It ends by itself; what it has left running, and what holds its output, does not.
    grace = setTimeout(stop, endMs)
    return { answer, end: await ending, late: late && answer === undefined }
  } finally {
    clearTimeout(deadline)
    clearTimeout(grace)
    signal?.removeEventListener('abort', stop)
  }
}

function argumentOf({ packages, modules }: Imports): string {
  const image = Object.fromEntries(
    Object.entries(imagePackages).map(([name, { distribution }]) => [name, distribution]),
  )
  return JSON.stringify({ packages, modules, image, memory: limits.memoryMb * 2 ** 20 })
}

function runtimeOf({ python, packages }: Answer, imports: Imports, driver: string): PythonRuntime {
  const unlike = imports.packages.filter((name) => packages[name] !== imagePackages[name]?.version)
  return { kind: driver === wasm ? 'wasm' : 'box', python, packages, unlike }
}

function withoutWalls(driver: string): string {
  return `Python graders run in boxes with walls, and ${driver} has none: name bwrap, docker or podman (--sandbox), or install the package pyodide for graders that need nothing but the standard library.`
}

function notStarted(reason: NonNullable<ExecResult['notStarted']>): string {
  return `There is no Python in the box (python3: ${reason}). Install python3, or name an interpreter by QUINTAIN_PYTHON.`
}

function missing(names: string, driver: string): string {
  const imported = names.split(' ')
  const wanted = imported.map((name) => {
    const known = imagePackages[name]
    return known === undefined ? name : `${known.distribution}==${known.version}`
  })
  const needs = `The source imports ${imported.join(', ')}, which`
  const packages = wanted.join(' ')
  return driver === wasm
    ? `${needs} Python in WebAssembly does not have: it has the standard library alone. Run it in boxes of bwrap, docker or podman (--sandbox), with a Python that has ${packages} (QUINTAIN_PYTHON).`
    : `${needs} the Python of the box does not have. Make a virtual environment with ${packages} (python3 -m venv graders && graders/bin/pip install ${packages}) and name its python by QUINTAIN_PYTHON.`
}

/** Why there is no answer. */
function whyNone(end: ExecResult, { late, deadlineMs }: { late: boolean; deadlineMs: number }): string {
  if (late) return `The source ran longer than ${deadlineMs / 1000} s and was ended.`
  if (end.outOfMemory === true) return 'The source took more memory than 2 GB and was ended.'
  if (end.aborted) return 'The source wrote to the channel of its answer, or left it open, and was ended.'
  if (end.signal !== null) return `The interpreter was ended by ${end.signal}.`
  return `The source ended its interpreter (exit status ${end.exitCode}) before grade returned.`
}
