import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseCsv } from './csv.ts'
import type { TaskInput } from './environment.ts'
import { jsonProblem, QuintainError } from './errors.ts'
import { readJsonlFile } from './jsonl.ts'
import { type Schema, validate } from './standard-schema.ts'
import { refuseDuplicateIds, refuseProblems, type TaskProblem, taskProblems } from './tasks.ts'

/** A row of a data file, as it stands there. Values of a CSV file are text. */
export type DataRow = Record<string, unknown>

/** The rows of a file and what is wrong with it. */
export interface DataFile {
  kind: 'jsonl' | 'json' | 'csv'
  /** A row that cannot be read is an empty object here, so that positions hold. */
  rows: DataRow[]
  /** What cannot be read. */
  problems: TaskProblem[]
  /** What can be read all the same, such as NUL bytes behind the last record. */
  warnings: string[]
}

/**
 * The rows of a `.jsonl`, `.ndjson`, `.json` (a list) or `.csv` file with all their fields. A torn last line is a
 * problem here, not a warning: it is a row that is missing. Integers beyond 2^53 are kept as text where they are an
 * `id` and are a problem elsewhere, since they would be read as another number.
 *
 * Throws `tasks_invalid` for a file that is missing or of another kind.
 */
export async function readRows(file: string | URL): Promise<DataFile> {
  const path = typeof file === 'string' ? file : fileURLToPath(file)
  const kind = extname(path).toLowerCase()
  try {
    if (kind === '.jsonl' || kind === '.ndjson') return await readJsonlRows(path)
    if (kind === '.json') return readJsonRows(decodeText(await readFile(path)))
    if (kind === '.csv') return readCsvRows(decodeText(await readFile(path)))
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (QuintainError.isInstance(cause) || code === undefined) throw cause
    const what = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
    throw new QuintainError('tasks_invalid', `${path}: ${what}.`, { cause, facts: { path, errno: code } })
  }
  throw new QuintainError(
    'tasks_invalid',
    `${path}: tasks are read from .jsonl, .json or .csv files, not from "${kind}".`,
    { facts: { path } },
  )
}

export interface ReadTasksOptions<Data, Secret> {
  /** Checks `data` of each task; its output takes its place. Any Standard Schema. */
  data?: Schema<Data>
  /** Checks `secret` of each task; its output takes its place. */
  secret?: Schema<Secret>
  /** Makes a task of a row, for files whose rows are not tasks yet. `index` counts from zero. */
  task?: (row: DataRow, index: number) => TaskInput
  /** Called for what could be read all the same; standard error when absent. */
  onWarning?: (warning: string) => void
}

/**
 * The tasks of a `.jsonl`, `.json` or `.csv` file, checked before any of them costs a token. Ids may be numbers in
 * the file and are text afterwards. In a CSV file a column is a field of the task; `data.x`, `secret.x` and
 * `limits.x` fill these objects, `tags` is a comma list, and an empty cell of an optional field is an absent one.
 *
 * Throws `tasks_invalid` with every problem by row and path (`facts.problems`, rows from zero), and
 * `duplicate_task_id` with the positions.
 *
 * @example
 * environment({
 *   tasks: () => readTasks(new URL('../tasks.jsonl', import.meta.url), { secret: z.object({ answer: z.string() }) }),
 *   …
 * })
 */
export async function readTasks<Data = unknown, Secret = unknown>(
  file: string | URL,
  options: ReadTasksOptions<Data, Secret> = {},
): Promise<TaskInput<Data, Secret>[]> {
  const name = basename(typeof file === 'string' ? file : fileURLToPath(file))
  const { kind, rows, problems, warnings } = await readRows(file)
  const warn = options.onWarning ?? ((warning) => process.stderr.write(`${warning}\n`))
  for (const warning of warnings) warn(`${name}: ${warning}`)
  const tasks: TaskInput[] = []
  const unreadable = new Set(problems.map(({ row }) => row))
  const toTask = options.task ?? (kind === 'csv' ? taskOfColumns : (row: DataRow) => row)
  for (const [index, row] of rows.entries()) {
    if (unreadable.has(index)) continue
    const value = toTask(row, index)
    const task: TaskInput =
      typeof value.id === 'number' ? { ...value, id: String(value.id) } : (value as TaskInput)
    const found = taskProblems(task, index)
    for (const part of ['data', 'secret'] as const) {
      const schema: Schema | undefined = options[part]
      if (schema === undefined) continue
      const checked = await checkRow(task[part], schema, index, part)
      if (checked.problems.length === 0) task[part] = checked.value
      found.push(...checked.problems)
    }
    problems.push(...found)
    tasks.push(task)
  }
  refuseProblems(problems, name)
  refuseDuplicateIds(tasks, name)
  return tasks as TaskInput<Data, Secret>[]
}

/** Checks rows against a schema. All problems, by row and path. */
export async function checkRows(rows: readonly unknown[], schema: Schema): Promise<TaskProblem[]> {
  const problems: TaskProblem[] = []
  for (const [index, row] of rows.entries()) {
    problems.push(...(await checkRow(row, schema, index)).problems)
  }
  return problems
}

async function checkRow<Output>(
  value: unknown,
  schema: Schema<Output>,
  row: number,
  under = '',
): Promise<{ value?: Output; problems: TaskProblem[] }> {
  const checked = await validate(schema, value)
  if (checked.issues === undefined) return { value: checked.value, problems: [] }
  return {
    problems: checked.issues.map(({ path, message }) => ({
      row,
      path: [under, path].filter((part) => part !== '').join('.'),
      message,
    })),
  }
}

async function readJsonlRows(path: string): Promise<DataFile> {
  const file: DataFile = { kind: 'jsonl', rows: [], problems: [], warnings: [] }
  const records = readJsonlFile(path, {
    parse: parseExactly,
    onIssue({ kind, line, message }) {
      const text = `line ${line + 1}: ${message}`
      if (kind === 'nul_padding') file.warnings.push(text)
      else refuseRow(file, text)
    },
  })
  for await (const { value } of records) addRow(file, value)
  return file
}

function readJsonRows(text: string): DataFile {
  const file: DataFile = { kind: 'json', rows: [], problems: [], warnings: [] }
  let value: unknown
  try {
    value = parseExactly(text)
  } catch (cause) {
    const message = `the file is not JSON: ${jsonProblem(cause)}`
    return { ...file, problems: [{ row: 0, path: '', message }] }
  }
  if (!Array.isArray(value)) {
    return { ...file, problems: [{ row: 0, path: '', message: 'the file must hold a list of rows' }] }
  }
  for (const row of value) addRow(file, row)
  return file
}

function refuseRow(file: DataFile, message: string): void {
  file.problems.push({ row: file.rows.length, path: '', message })
  file.rows.push({})
}

function addRow(file: DataFile, value: unknown): void {
  const row = file.rows.length
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`
    refuseRow(file, `expected an object, found ${kind}`)
    return
  }
  const object = value as DataRow
  if (object['id'] instanceof HugeInteger) object['id'] = object['id'].text
  for (const [path, huge] of hugeIntegers(object)) {
    file.problems.push({
      row,
      path,
      message: `the integer ${huge.text} would be read as another number; write it as text`,
    })
  }
  file.rows.push(object)
}

function readCsvRows(text: string): DataFile {
  const { rows, issues } = parseCsv(text)
  const file: DataFile = { kind: 'csv', rows: [], problems: [], warnings: [] }
  const inOrder = [...rows, ...issues].sort((a, b) => a.line - b.line)
  for (const entry of inOrder) {
    if ('values' in entry) file.rows.push(entry.values)
    else if (entry.column !== undefined)
      file.problems.push({ row: 0, path: entry.column, message: entry.message })
    else refuseRow(file, `line ${entry.line + 1}: ${entry.message}`)
  }
  return file
}

const nestedFields = ['data', 'secret', 'limits']

function taskOfColumns(columns: DataRow): DataRow {
  const row: DataRow = {}
  for (const [column, value] of Object.entries(columns as Record<string, string>)) {
    const dot = column.indexOf('.')
    const field = column.slice(0, Math.max(dot, 0))
    if (nestedFields.includes(field)) {
      if (field === 'limits' && value === '') continue
      row[field] ??= {}
      const inner = row[field] as Record<string, unknown>
      const isNumber = field === 'limits' && /^\d+(\.\d+)?$/.test(value)
      inner[column.slice(dot + 1)] = isNumber ? Number(value) : value
    } else if (column === 'tags') row[column] = splitList(value)
    else if (value !== '' || column === 'id' || column === 'prompt') row[column] = value
  }
  return row
}

/**
 * The entries of a comma list, trimmed. Trailing and doubled commas make no empty ones.
 *
 * @example splitList('red,green,,blue,') // ['red', 'green', 'blue']
 */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}

/** An integer that a JavaScript number cannot hold, as its digits. */
class HugeInteger {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** `JSON.parse`, but that integers beyond 2^53 are kept apart. */
function parseExactly(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text)
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
      ? new HugeInteger(context!.source!)
      : value
  return JSON.parse(text.startsWith('\ufeff') ? text.slice(1) : text, keepDigits)
}

function* hugeIntegers(value: unknown, path = ''): Generator<[string, HugeInteger]> {
  if (value instanceof HugeInteger) yield [path, value]
  else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value))
      yield* hugeIntegers(inner, path === '' ? key : `${path}.${key}`)
  }
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new QuintainError('tasks_invalid', 'The file is not UTF-8; save it as UTF-8.', { cause })
  }
}
