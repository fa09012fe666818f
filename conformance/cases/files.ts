import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { csvLine, parseCsv } from '../../packages/quintain/src/core/csv.ts'
import { QuintainError } from '../../packages/quintain/src/core/errors.ts'
import { appendJsonl, jsonLine, parseJsonl, scanJsonlFile } from '../../packages/quintain/src/core/jsonl.ts'
import { checkRows, readRows, readTasks, splitList } from '../../packages/quintain/src/core/task-file.ts'
import { selectTasks } from '../../packages/quintain/src/core/tasks.ts'
import { type SampleAttempt, writeSampleRun } from '../../packages/quintain/src/report/sample-run.ts'
import { summarize } from '../../packages/quintain/src/report/summarize.ts'
import type { Ops } from './runner/case.ts'

type Fields = Record<string, unknown>

export const ops: Ops = {
  'csv.read': ({ text }) => {
    const { columns, rows, issues } = parseCsv(String(text))
    return { columns, rows: rows.length, errors: issues.length }
  },

  'jsonl.read': ({ text, line_bytes: lineBytes }) => {
    if (Array.isArray(lineBytes)) return listLongLines(lineBytes as number[])
    const { records, issues, tail } = parseJsonl(String(text))
    const errors = issues.filter(({ kind }) => kind === 'bad_line' || kind === 'too_long').length
    return { records: records.length, errors, ...(tail === undefined ? {} : { tail }) }
  },

  'jsonl.write': ({ value }) => ({ line: jsonLine(value).slice(0, -1) }),

  'jsonl.roundtrip': ({ value }) =>
    inFolder(async (folder) => {
      const path = join(folder, 'records.jsonl')
      await appendJsonl(path, value)
      return { value: parseJsonl(readFileSync(path)).records[0]?.value }
    }),

  'dataset.choices': ({ field }) => ({ choices: splitList(String(field)) }),

  'dataset.filter': ({ ids, select }) => {
    const tasks = (ids as unknown[]).map((id) => ({ id: String(id) }))
    const selected = selectTasks(tasks, { ids: select as string[] })
    return { rows: selected.tasks.map(({ id }) => id), warnings: selected.warnings }
  },

  'dataset.load': (input) => inFolder((folder) => loadDataset(folder, input)),

  /** Through both kinds of file that a dataset may leave and come back in. */
  'dataset.roundtrip': ({ row }) =>
    inFolder(async (folder) => {
      const fields = row as Record<string, string>
      const jsonl = join(folder, 'rows.jsonl')
      const csv = join(folder, 'rows.csv')
      writeFileSync(jsonl, jsonLine(fields))
      writeFileSync(csv, csvLine(Object.keys(fields)) + csvLine(Object.values(fields).map(String)))
      const [fromJsonl] = (await readRows(jsonl)).rows
      const [fromCsv] = (await readRows(csv)).rows
      return { row: sameJson(fromJsonl, fields) ? fromCsv : fromJsonl }
    }),

  /** Written and read again: a score that is missing stays missing. */
  'run.reload': ({ scores, statuses }) =>
    inFolder(async (folder) => {
      const given = scores as (number | null)[]
      const status = (statuses ?? []) as string[]
      const attempts = given.map((score, i): SampleAttempt => {
        if (score !== null) return { reward: score }
        return /error|fault/.test(status[i] ?? '') ? { fault: {} } : { unscored: 'not_scored' }
      })
      const run = join(folder, 'run')
      await writeSampleRun(run, {
        orders: attempts.map((attempt, i) => ({ task: `t${i}`, attempts: [attempt] })),
      })
      const summary = await summarize(run, { minCoverage: 0 })
      const { scored, unscored, faulted } = summary.status
      return { mean: summary.reward.observed, scored, unscored: unscored + faulted, errored: faulted }
    }),

  'run.resume': ({ text, expected_ids: expected }) => {
    const { records, tail } = parseJsonl(String(text))
    const present = new Set(records.map(({ value }) => String((value as Fields)['id'])))
    const ids = (expected as unknown[]).map(String)
    return {
      kept: ids.filter((id) => present.has(id)),
      rerun: ids.filter((id) => !present.has(id)),
      ...(tail === undefined ? {} : { tail }),
    }
  },

  'run.resume.append': ({ text, append }) =>
    inFolder(async (folder) => {
      const path = join(folder, 'records.jsonl')
      writeFileSync(path, String(text))
      await appendJsonl(path, append)
      return { text: readFileSync(path, 'utf8') }
    }),
}

async function inFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'quintain-cases-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function loadDataset(folder: string, input: Fields): Promise<unknown> {
  const { ids, rows, schema, limit, json } = input
  if (Array.isArray(json)) return countAssertions(folder, json)
  if (Array.isArray(rows) && schema !== undefined) {
    const path = join(folder, 'rows.jsonl')
    writeFileSync(path, rows.map(jsonLine).join(''))
    const read = await readRows(path)
    const problems = [...read.problems, ...(await checkRows(read.rows, schemaOf(schema as Fields)))]
    return { rows: read.rows.length, errors: problems }
  }
  const path = join(folder, 'tasks.jsonl')
  const given = Array.isArray(ids)
    ? ids.map((id) => ({ id }))
    : Array.isArray(rows)
      ? (rows as Fields[]).map((row, index) => ({ id: row['id'] ?? `row-${index}`, data: row }))
      : Array.from({ length: Number(rows) }, (_, index) => ({ id: `row-${index}` }))
  writeFileSync(path, given.map(jsonLine).join(''))
  try {
    const tasks = await readTasks(path)
    return { rows: selectTasks(tasks, limit === undefined ? {} : { limit: Number(limit) }).tasks.length }
  } catch (thrown) {
    if (!QuintainError.isInstance(thrown) || thrown.code !== 'duplicate_task_id') throw thrown
    return { error: 'duplicate_id', message: thrown.message, positions: thrown.facts['positions'] }
  }
}

/** Test cases of a JSON file keep what they assert: a reader that knows fewer fields must not drop them. */
async function countAssertions(folder: string, json: unknown[]): Promise<unknown> {
  const path = join(folder, 'cases.json')
  writeFileSync(path, JSON.stringify(json))
  const { rows, problems } = await readRows(path)
  if (problems.length > 0) return { error: 'tasks_invalid', message: problems[0]?.message }
  const cases = rows.flatMap((row) => (Array.isArray(row['tests']) ? (row['tests'] as Fields[]) : [row]))
  const asserted = cases.flatMap((row) =>
    ['assert', 'asserts', 'assertion', 'assertions'].flatMap((field) => row[field] ?? []),
  )
  return { cases: cases.length, rows: cases.length, assertions: asserted.length }
}

/** A schema such as `{ answer: 'string' }`. */
function schemaOf(types: Fields): z.ZodType {
  const known: Record<string, z.ZodType> = {
    string: z.string(),
    number: z.number(),
    integer: z.int(),
    boolean: z.boolean(),
    array: z.array(z.unknown()),
    object: z.record(z.string(), z.unknown()),
    null: z.null(),
  }
  const shape = Object.entries(types).map(([field, type]) => {
    const [name = '', optional] = String(type).split('?')
    const schema = known[name] ?? z.unknown()
    return [field, optional === undefined ? schema : schema.optional()]
  })
  return z.looseObject(Object.fromEntries(shape) as Record<string, z.ZodType>)
}

/** Lists a file of long lines in a fresh process, whose peak of memory is then that of the list alone. */
async function listLongLines(lineBytes: number[]): Promise<unknown> {
  return inFolder(async (folder) => {
    const path = join(folder, 'run.jsonl')
    const file = await open(path, 'w')
    for (const [id, bytes] of lineBytes.entries()) {
      const start = `{"id":${id},"t":"`
      await file.write(`${start}${'x'.repeat(Math.max(0, bytes - start.length - 3))}"}\n`)
    }
    await file.close()
    const listing = spawnSync(process.execPath, [fileURLToPath(import.meta.url), path], { encoding: 'utf8' })
    if (listing.status !== 0) throw new Error(listing.stderr)
    return JSON.parse(listing.stdout) as unknown
  })
}

async function list(path: string): Promise<unknown> {
  const headBytes = 4096
  let records = 0
  let longestHeld = 0
  let longest = 0
  for await (const { bytes, head } of scanJsonlFile(path, { headBytes })) {
    records += 1
    longest = Math.max(longest, bytes)
    longestHeld = Math.max(longestHeld, head.length)
  }
  return {
    records,
    errors: 0,
    list_view_loads_full_line: longest > headBytes && longestHeld > headBytes,
    peak_rss_mb: process.resourceUsage().maxRSS / 1024,
  }
}

function sameJson(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(JSON.stringify(await list(process.argv[2] ?? '')))
}
