import { isUtf8 } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { isObject } from '../../core/chat-messages.ts'
import { messageOf, nestsTooDeep, QuintainError } from '../../core/index.ts'
import { longestValue, type RecordedValue } from '../recorded-values.ts'
import { withoutNaN } from './python-json.ts'
import { readEntry, type ZipEntry, zipEntries } from './zip-entries.ts'

type Loose = Record<string, unknown>

/** A sample of a log, with what the log says of all of them. `absent: true` is one that was planned and is not there. */
export interface LoggedSample {
  sample: Loose
  log: Loose
}

/** More samples than any log has: a plan that claims more is not filled up. */
const mostPlanned = 1_000_000

/** Whether a value is a whole log in JSON. */
export function isInspectLog(value: unknown): boolean {
  return isObject(value) && isObject(value['eval']) && 'plan' in value && 'status' in value
}

/**
 * The samples of a log, then those that it planned and does not hold. A `.eval` is a zip, of which one sample is unpacked
 * at a time; a `.json` is one value, and is read whole. A sample that cannot be read is a problem with its place.
 *
 * Throws `import_invalid` for a file that is no log.
 */
export async function* inspectValues(path: string): AsyncGenerator<RecordedValue, void, undefined> {
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    throw refuse(
      path,
      cause.code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${cause.code})`,
    )
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw refuse(path, 'it is no file')
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0)
    const isZip = buffer[0] === 0x50 && buffer[1] === 0x4b
    yield* isZip ? zipped(path, file) : whole(path, file, found.size)
  } finally {
    await file.close()
  }
}

function refuse(path: string, what: string): QuintainError {
  return new QuintainError('import_invalid', `${path}: ${what}.`, { facts: { path } })
}

async function* whole(
  path: string,
  file: FileHandle,
  size: number,
): AsyncGenerator<RecordedValue, void, undefined> {
  if (await isJsonLines(file)) {
    throw refuse(
      path,
      'it is JSON lines, and a log of Inspect is one JSON value or a .eval; quintain import verifiers and quintain import chat read lines',
    )
  }
  if (size > longestValue)
    throw refuse(
      path,
      `a log in JSON is read whole, and this one has ${size} bytes; convert it: inspect log convert --to eval`,
    )
  const log = parsed(await file.readFile())
  if (typeof log === 'string') throw refuse(path, log)
  if (!isInspectLog(log)) throw refuse(path, 'it is no log of Inspect')
  const { samples, ...rest } = log as Loose
  const seen = new Set<string>()
  for (const [at, sample] of (Array.isArray(samples) ? (samples as unknown[]) : []).entries()) {
    const place = `sample ${at + 1}`
    if (isObject(sample)) yield { place, value: loggedOf(sample, rest, seen) }
    else yield { place, problem: 'it is no object' }
  }
  yield* absent(rest, seen)
}

/** Bytes of a first line; a longer one is not looked at. */
const longestFirstLine = 1024 * 1024

/** Whether the first line is a whole object and something follows it. */
async function isJsonLines(file: FileHandle): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(longestFirstLine), 0, longestFirstLine, 0)
  const head = buffer.subarray(0, bytesRead)
  const end = head.indexOf(0x0a)
  if (end < 0 || head.subarray(end).toString('utf8').trim() === '') return false
  return typeof parsed(head.subarray(0, end)) !== 'string'
}

async function* zipped(path: string, file: FileHandle): AsyncGenerator<RecordedValue, void, undefined> {
  const entries = await zipEntries(file)
  if (typeof entries === 'string') throw refuse(path, entries)
  // A log that was broken off has no header yet; its beginning says the same.
  const header = entries.get('header.json') ?? entries.get('_journal/start.json')
  if (header === undefined) throw refuse(path, 'it is a zip, and no log of Inspect')
  const log = await valueOfEntry(file, header)
  if (typeof log === 'string') throw refuse(path, `${header.name}: ${log}`)
  const seen = new Set<string>()
  for (const entry of entries.values()) {
    if (!/^samples\/[^/]+\.json$/.test(entry.name)) continue
    const place = entry.name.slice('samples/'.length, -'.json'.length)
    const sample = await valueOfEntry(file, entry)
    if (typeof sample === 'string') yield { place, problem: sample }
    else yield { place, value: loggedOf(sample, log, seen) }
  }
  yield* absent(log, seen)
}

async function valueOfEntry(file: FileHandle, entry: ZipEntry): Promise<Loose | string> {
  const bytes = await readEntry(file, entry, longestValue)
  return typeof bytes === 'string' ? bytes : parsed(bytes)
}

function parsed(bytes: Buffer): Loose | string {
  if (!isUtf8(bytes)) return 'it is not valid UTF-8'
  const text = bytes.toString('utf8')
  if (nestsTooDeep(text)) return 'it nests too deep'
  try {
    const value: unknown = JSON.parse(withoutNaN(text))
    return isObject(value) ? value : 'it is no object'
  } catch (thrown) {
    return `it is not JSON: ${thrown instanceof SyntaxError ? 'it was cut off or is damaged' : messageOf(thrown)}`
  }
}

function keyOf(id: unknown, epoch: unknown): string {
  return JSON.stringify([String(id), epoch])
}

function loggedOf(sample: Loose, log: Loose, seen: Set<string>): LoggedSample {
  seen.add(keyOf(sample['id'], sample['epoch'] ?? 1))
  return { sample, log }
}

/** What a log that ended before its end had planned: each id in each epoch. */
function* absent(log: Loose, seen: ReadonlySet<string>): Generator<RecordedValue, void, undefined> {
  const facts = isObject(log['eval']) ? log['eval'] : {}
  const dataset = isObject(facts['dataset']) ? facts['dataset'] : {}
  const config = isObject(facts['config']) ? facts['config'] : {}
  const ids = Array.isArray(dataset['sample_ids']) ? (dataset['sample_ids'] as unknown[]) : []
  const epochs = typeof config['epochs'] === 'number' ? config['epochs'] : 1
  if (!(ids.length * epochs <= mostPlanned)) return
  for (const id of ids) {
    if (typeof id !== 'string' && typeof id !== 'number') continue
    for (let epoch = 1; epoch <= epochs; epoch++) {
      if (seen.has(keyOf(id, epoch))) continue
      const value: LoggedSample = { sample: { id, epoch, absent: true }, log }
      yield { place: `the plan, ${id} in epoch ${epoch}`, value }
    }
  }
}
