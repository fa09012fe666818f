import { execFile } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { verifiersToml } from '../../packages/quintain/src/doors/nemo-gym/index.ts'
import type { PythonEnvironment } from '../python/environment.ts'

const run = promisify(execFile)

/** What verifiers says of one rollout of a row. */
export interface Rollout {
  /** The row's task. */
  task: string
  error: string | null
  /** Null where it has none. */
  reward: number | null
  metrics: Record<string, number | null>
  /** Names of the tools that the agent was offered. */
  tools: string[]
}

export interface EvalOptions {
  python: PythonEnvironment
  /** Base URL of the model server, and the model's name there. */
  model: { url: string; name: string }
  /** A file of rows, and where their server is. */
  rows: string
  url: string
  tasks: number
  /** Folder of its results. */
  out: string
}

/** `eval` of verifiers v1 with its own taskset `nemo_gym` and no Python of ours: its rollouts come from rows and a URL. */
export async function evalRows(options: EvalOptions): Promise<Rollout[]> {
  const { python, model, rows, url, tasks, out } = options
  const bin = join(python.interpreter, '..')
  writeFileSync(join(out, 'verifiers.toml'), verifiersToml({ rows, url }))
  const words = [
    ...['@', join(out, 'verifiers.toml')],
    ...['--model', model.name, '--client.base-url', model.url, '--client.api-key-var', 'MODEL_KEY'],
    ...['-n', `${tasks}`, '--no-push', '--no-rich', '-o', out],
  ]
  const env = {
    PATH: `${programsAtHand(out, python)}:${bin}:${process.env['PATH']}`,
    HOME: out,
    MODEL_KEY: 'none',
    HF_HUB_OFFLINE: '1',
    NO_PROXY: '127.0.0.1,localhost',
  }
  await run(python.interpreter, [join(bin, 'eval'), ...words], {
    cwd: out,
    env,
    maxBuffer: 2 ** 28,
    timeout: 600_000,
  })
  const found = globSync('**/traces.jsonl', { cwd: out })[0]
  if (found === undefined) throw new Error(`${out} has no traces.jsonl`)
  return readFileSync(join(out, found), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => rolloutOf(JSON.parse(line.replace(/(?<=[:,[] ?)NaN(?=[,}\]])/g, 'null'))))
}

/**
 * verifiers makes the Python environment of its harness with uv, out of the network. What it would install is installed in
 * its own environment already, so this uv names that one, and no pip goes to look for another uv.
 */
function programsAtHand(out: string, { interpreter }: PythonEnvironment): string {
  const folder = join(out, 'programs')
  mkdirSync(folder, { recursive: true })
  const uv = `#!/bin/sh\ncase "$1 $2" in "python find") echo "${interpreter}" ;; esac\n`
  writeFileSync(join(folder, 'uv'), uv, { mode: 0o755 })
  writeFileSync(join(folder, 'pip'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  return folder
}

interface Trace {
  ok: boolean
  task: { data: { row: { task_id: string } } }
  tools?: { name: string }[] | null
  errors: { message: string }[]
  rewards: Record<string, { score: number; weight: number } | null>
  metrics: Record<string, number | null>
}

function rolloutOf(line: unknown): Rollout {
  const { errors, traces } = line as { errors: { message: string }[]; traces: [Trace] }
  const [trace] = traces
  const error = [...errors, ...trace.errors][0]?.message ?? (trace.ok ? null : 'not ok')
  const given = trace.rewards['nemo_gym'] ?? null
  return {
    task: trace.task.data.row.task_id,
    error,
    reward: given === null ? null : given.score * given.weight,
    metrics: trace.metrics,
    tools: (trace.tools ?? []).map(({ name }) => name).toSorted(),
  }
}
