import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { runCli } from '../../packages/quintain/src/cli/run-cli.ts'
import { pythonEnvironment } from '../python/environment.ts'
import type { Checks } from './checks.ts'
import { exampleRun, gold } from './example-runs.ts'

const run = promisify(execFile)
const here = import.meta.dirname
const forms = ['sft', 'preference', 'tinker', 'trl', 'art', 'tokens'] as const

/** Columns that a Parquet file holds as the text of their JSON, by form. */
const jsonColumns = ['tools', 'trajectories', 'exceptions', 'metadata', 'metrics', 'spans']

interface Told {
  versions: Record<string, string>
  files: Record<
    string,
    { arrow?: Row[]; datasets: Row[]; messages?: string | null; metadata?: Record<string, string> }
  >
  datums: { length: number; tokens: number[]; inputs: Record<string, { dtype: string; data: number[] }> }[]
}
type Row = Record<string, unknown>

/** Writes rows of every form as both kinds of file, and has `datasets`, pyarrow and Tinker read them. */
export async function checkReaders(folder: string, checks: Checks): Promise<void> {
  const files = await writeFiles(folder)
  for (const form of forms) {
    const text = readFileSync(join(files, `${form}.jsonl`))
    checks.equal(`${form}: no secret is in it`, text.includes(gold), false)
  }
  const python = await pythonEnvironment(here, (text) => checks.say(text))
  if ('unavailable' in python) return checks.skip('datasets, pyarrow and tinker', python.unavailable)
  const { stdout } = await run(python.interpreter, [join(here, 'read_rows.py'), files], {
    maxBuffer: 2 ** 28,
    env: { ...process.env, HF_HUB_OFFLINE: '1' },
  })
  const told = JSON.parse(stdout.trim().split('\n').at(-1)!) as Told
  checks.say(
    `read by ${Object.entries(told.versions)
      .map((entry) => entry.join(' '))
      .join(', ')}`,
  )
  for (const form of forms) {
    const written = linesOf(join(files, `${form}.jsonl`))
    const read = told.files[`${form}.parquet`]!
    // Token counts and rewards are equal to the digit: nothing of a row is lost on the way.
    checks.equal(`${form}: pyarrow reads what was written`, read.arrow!.map(plain), written.map(plain))
    checks.equal(`${form}: datasets reads it from Parquet`, read.datasets.map(plain), written.map(plain))
    const lines = told.files[`${form}.jsonl`]!.datasets
    checks.equal(`${form}: datasets reads every line of JSON`, lines.length, written.length)
  }
  checks.equal(
    'sft: messages are a list of records',
    /^list<element: struct<role: string, content: string,/.test(told.files['sft.parquet']!.messages ?? ''),
    true,
  )
  const datums = linesOf(join(files, 'tinker.jsonl')).map(({ datum }) => datum as Datum)
  checks.equal(
    'tinker: its types take every datum, with one value for each token',
    told.datums,
    datums.map(({ model_input: { chunks }, loss_fn_inputs: inputs }) => ({
      length: chunks[0]!.tokens.length,
      tokens: chunks[0]!.tokens,
      inputs: Object.fromEntries(
        Object.entries(inputs).map(([name, { dtype, data }]) => [
          name,
          { dtype, data: dtype === 'float32' ? data.map(Math.fround) : data },
        ]),
      ),
    })),
  )
}

interface Datum {
  model_input: { chunks: { tokens: number[] }[] }
  loss_fn_inputs: Record<string, { dtype: string; data: number[] }>
}

/** Has ART read groups with its own reader. */
export async function checkArt(folder: string, checks: Checks): Promise<void> {
  const python = await pythonEnvironment(join(here, 'art'), (text) => checks.say(text))
  if ('unavailable' in python) return checks.skip('openpipe-art', python.unavailable)
  const file = join(folder, 'files', 'art.jsonl')
  const { stdout } = await run(python.interpreter, [join(here, 'art', 'read_groups.py'), file], {
    maxBuffer: 2 ** 26,
    env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True', WANDB_MODE: 'disabled' },
  })
  const told = JSON.parse(stdout.trim().split('\n').at(-1)!) as {
    version: string
    groups: { reward: number; choices: number; ids: number[]; logprobs: number[] }[][]
  }
  checks.say(`read by openpipe-art ${told.version}`)
  interface Written {
    trajectories: {
      reward: number
      messages_and_choices: { logprobs?: { content: { token: string; logprob: number }[] } }[]
    }[]
  }
  const written = linesOf(file) as unknown as Written[]
  checks.equal(
    'art: its reader takes every group, its choices with the ids and log-probabilities that were sampled',
    told.groups,
    written.map(({ trajectories }) =>
      trajectories.map(({ reward, messages_and_choices: items }) => {
        const content = items.flatMap(({ logprobs }) => logprobs?.content ?? [])
        return {
          reward,
          choices: items.filter(({ logprobs }) => logprobs !== undefined).length,
          ids: content.map(({ token }) => Number(token.slice('token_id:'.length))),
          logprobs: content.map(({ logprob }) => logprob),
        }
      }),
    ),
  )
}

async function writeFiles(folder: string): Promise<string> {
  const files = join(folder, 'files')
  mkdirSync(files)
  await exampleRun(join(folder, 'run'))
  for (const form of forms)
    for (const kind of ['jsonl', 'parquet']) {
      const said: string[] = []
      const io = { write: (text: string) => said.push(text) }
      const argv = ['rows', 'run', '--as', form, '--out', join(files, `${form}.${kind}`)]
      const code = await runCli(argv, { stdout: io, stderr: io, env: {}, cwd: folder })
      if (code !== 0) throw new Error(said.join(''))
    }
  return files
}

function linesOf(file: string): Row[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)
}

/** A row without what is null or absent, JSON columns as their values, and numbers of 32 bits as such. */
function plain(row: Row): unknown {
  return bare(
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        jsonColumns.includes(name) && typeof value === 'string' ? JSON.parse(value) : value,
      ]),
    ),
  )
}

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare)
  if (typeof value === 'number') return Math.fround(value)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, held]) => held !== null)
  return Object.fromEntries(entries.map(([name, held]): [string, unknown] => [name, bare(held)]))
}
