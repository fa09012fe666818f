import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PythonEnvironment } from '../python/environment.ts'
import { root } from './served.ts'

const run = promisify(execFile)

/** What verifiers says of one rollout. `reward` is null where it says that there is none. */
export interface Rollout {
  task: string
  error: string | null
  reward: number | null
  /** Rewards and metrics by name, as they are shown. */
  rewards: Record<string, number | null>
  metrics: Record<string, number | null>
}

export interface EvalOptions {
  python: PythonEnvironment
  distribution: string
  /** Base URL of the model server, and the model's name there. */
  model: { url: string; name: string }
  tasks: number
  /** Folder of its results. */
  out: string
  /** Variables of the package: which server it plays on. */
  env: Record<string, string>
  /** More words. */
  words?: readonly string[]
}

/** Installs the client and exported packages, with nothing from an index. */
export async function install(python: PythonEnvironment, folders: readonly string[]): Promise<void> {
  const words = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-build-isolation', '--force-reinstall']
  await run(python.interpreter, [...words, join(root, 'python'), ...folders], { maxBuffer: 2 ** 26 })
}

/** `eval` of verifiers v1, by its env server, as prime-rl runs it. */
export async function evalV1(options: EvalOptions): Promise<Rollout[]> {
  const { distribution, model, tasks, out, words = [] } = options
  await runScript(options, 'eval', [
    distribution,
    ...['--model', model.name, '--client.base-url', model.url, '--client.api-key-var', 'MODEL_KEY'],
    ...['-n', `${tasks}`, '--no-push', '--no-rich', '-o', out],
    ...words,
  ])
  return lines(out, '**/traces.jsonl').map(rolloutV1)
}

interface EpisodeV1 {
  task: { key: string }
  errors: { message: string }[]
  traces: {
    ok: boolean
    errors: { message: string }[]
    rewards: Record<string, { score: number; weight: number } | null>
    metrics: Record<string, number | null>
  }[]
}

function rolloutV1(line: unknown): Rollout {
  const { task, errors, traces } = line as EpisodeV1
  const [trace] = traces
  const error = [...errors, ...(trace?.errors ?? [])][0]?.message ?? null
  const rewards = Object.entries(trace?.rewards ?? {})
  const known = rewards.flatMap(([, given]) => (given === null ? [] : [given.score * given.weight]))
  return {
    task: task.key,
    error: trace?.ok === true && errors.length === 0 ? null : (error ?? 'not ok'),
    reward: trace?.ok === true && known.length > 0 ? known.reduce((sum, one) => sum + one, 0) : null,
    rewards: Object.fromEntries(rewards.map(([name, given]) => [name, given?.score ?? null])),
    metrics: trace?.metrics ?? {},
  }
}

/** `vf-eval` of verifiers v0. */
export async function evalV0(options: EvalOptions): Promise<Rollout[]> {
  const { distribution, model, tasks, out, words = [] } = options
  await runScript(options, 'vf-eval', [
    distribution,
    ...['-m', model.name, '-b', model.url, '-k', 'MODEL_KEY', '-n', `${tasks}`, '-r', '1'],
    ...['--save-results', '--disable-tui', '-o', out],
    ...words,
  ])
  return lines(out, '**/results.jsonl').map(rolloutV0)
}

interface ResultV0 {
  info: { task_id: string }
  error: { error_chain_repr: string } | null
  reward: number | null
  metrics: Record<string, number>
}

function rolloutV0(line: unknown): Rollout {
  const { info, error, reward, metrics } = line as ResultV0
  return {
    task: info.task_id,
    error: error?.error_chain_repr ?? null,
    reward,
    rewards: metrics,
    metrics,
  }
}

async function runScript(
  { python, env, out }: EvalOptions,
  script: string,
  words: readonly string[],
): Promise<void> {
  const bin = join(python.interpreter, '..')
  const variables = { PATH: `${bin}:${process.env['PATH']}`, HOME: out, MODEL_KEY: 'none', ...env }
  await run(python.interpreter, [join(bin, script), ...words], {
    cwd: out,
    env: { ...variables, HF_HUB_OFFLINE: '1', NO_PROXY: '127.0.0.1,localhost' },
    maxBuffer: 2 ** 28,
    timeout: 600_000,
  })
}

/** The lines of the one file of a name. Python writes what is no number as NaN, which JSON has no word for. */
function lines(folder: string, pattern: string): unknown[] {
  const found = globSync(pattern, { cwd: folder })[0]
  if (found === undefined) throw new Error(`${folder} has no ${pattern}`)
  const text = readFileSync(join(folder, found), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line.replace(/(?<=[:,[] ?)NaN(?=[,}\]])/g, 'null')))
}
