import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import {
  jsonProblem,
  messageOf,
  mostNesting,
  nestsTooDeep,
  QuintainError,
  readJsonlFile,
} from '../core/index.ts'
import { ArrayElements } from './array-elements.ts'
import type { RecordedValue } from './conversation.ts'

export type { RecordedValue }

/** Bytes of the longest conversation: a longer one is a problem, not a crash. */
export const longestValue = 256 * 1024 * 1024
const mostBytes = longestValue
/** How much is read to tell what kind of file it is. */
const headBytes = 1024 * 1024

/**
 * The values of a file of recordings, one at a time: JSON lines, or one JSON array, or one JSON object. Which of them it
 * is, is seen from its beginning; a name that ends in `.jsonl` or `.ndjson` says lines. Never throws for what is in the
 * file: a value that cannot be read is a `problem` with its place, and the next is read all the same.
 *
 * With `repair`, a text that is no JSON is given to it first, and what it makes of it is read.
 *
 * Throws `import_invalid` for a file that is missing, no file, empty, or not UTF-8.
 */
export async function* recordedValues(
  path: string,
  { repair }: { repair?: (text: string) => string } = {},
): AsyncGenerator<RecordedValue, void, undefined> {
  const kind = await kindOfFile(path)
  const reading = (text: string) => parse(text, repair)
  if (kind === 'lines') yield* lines(path, reading)
  else if (kind === 'array') yield* elements(path, reading)
  else yield* single(path, reading)
}

type Reading = (text: string) => unknown

function refuse(path: string, what: string, cause?: unknown): QuintainError {
  return new QuintainError('import_invalid', `${path}: ${what}`, {
    facts: { path },
    ...(cause === undefined ? {} : { cause }),
  })
}

async function headOf(path: string): Promise<Buffer> {
  try {
    const found = await stat(path)
    if (!found.isFile()) throw refuse(path, 'it is no file. Give one file of recorded conversations.')
    const file = await open(path, 'r')
    try {
      const head = Buffer.alloc(Math.min(headBytes, found.size))
      const { bytesRead } = await file.read(head, 0, head.length, 0)
      return head.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (cause) {
    if (QuintainError.isInstance(cause)) throw cause
    const { code } = cause as NodeJS.ErrnoException
    throw refuse(path, code === 'ENOENT' ? 'there is no such file.' : `it cannot be read (${code}).`, cause)
  }
}

async function kindOfFile(path: string): Promise<'lines' | 'array' | 'object'> {
  const head = await headOf(path)
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff))
    throw refuse(path, 'the file is UTF-16; save it as UTF-8.')
  const text = head
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/^[\s\0]+/, '')
  if (text === '') throw refuse(path, 'the file is empty; there is no conversation in it.')
  if (['.jsonl', '.ndjson'].includes(extname(path).toLowerCase())) return 'lines'
  // A first line that is a whole value, with another behind it, begins a file of lines whatever its name.
  const end = text.indexOf('\n')
  const behind = end < 0 ? '' : text.slice(end).trim()
  if (behind !== '' && isJson(text.slice(0, end))) return 'lines'
  if (text.startsWith('[')) return 'array'
  // An object over many lines, unless a later line is a record of its own: then the first is only broken.
  const oneObject = text.startsWith('{') && behind !== '' && !behind.split('\n').some(isRecord)
  return oneObject ? 'object' : 'lines'
}

function isRecord(line: string): boolean {
  return (line.startsWith('{') || line.startsWith('[')) && isJson(line)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function* lines(path: string, parse: Reading): AsyncGenerator<RecordedValue, void, undefined> {
  // Issues come before the record that follows them, so they are handed on in the order of the file.
  const found: RecordedValue[] = []
  const records = readJsonlFile(path, {
    maxLineBytes: mostBytes,
    parse,
    onIssue({ kind, line, message }) {
      if (kind !== 'nul_padding') found.push({ place: `line ${line + 1}`, problem: message })
    },
  })
  for await (const { value, line } of records) {
    yield* found.splice(0)
    yield valueAt(`line ${line + 1}`, value)
  }
  yield* found
}

async function* elements(path: string, parse: Reading): AsyncGenerator<RecordedValue, void, undefined> {
  const splitter = new ArrayElements(mostBytes)
  for await (const chunk of createReadStream(path, { highWaterMark: headBytes })) {
    for (const { index, bytes } of splitter.push(chunk as Buffer)) {
      const place = `conversation ${index + 1}`
      if (bytes === undefined) yield { place, problem: `it has more than ${mostBytes} bytes` }
      else yield parsed(bytes, place, parse)
    }
  }
  const ending = splitter.end()
  if (ending === 'not_closed')
    yield { place: 'the end', problem: 'the file was cut off before its end: its array is not closed' }
  if (ending === 'trailing_text') yield { place: 'the end', problem: 'text stands behind the array' }
}

async function* single(path: string, parse: Reading): AsyncGenerator<RecordedValue, void, undefined> {
  const place = 'conversation 1'
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of createReadStream(path, { highWaterMark: headBytes })) {
    pieces.push(chunk as Buffer)
    bytes += (chunk as Buffer).length
    if (bytes <= mostBytes) continue
    yield { place, problem: `it has more than ${mostBytes} bytes` }
    return
  }
  const text = Buffer.concat(pieces)
  const marked = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf
  yield parsed(marked ? text.subarray(3) : text, place, parse)
}

function parsed(bytes: Buffer, place: string, parse: Reading): RecordedValue {
  if (!isUtf8(bytes)) return { place, problem: 'it is not valid UTF-8' }
  try {
    return valueAt(place, parse(bytes.toString('utf8')))
  } catch (thrown) {
    return { place, problem: `it is not JSON: ${messageOf(thrown)}` }
  }
}

/** What stands in the place of a value that could be read, and not be written again. */
const tooDeep = Symbol('too deep')

function valueAt(place: string, value: unknown): RecordedValue {
  return value === tooDeep
    ? { place, problem: `it nests more than ${mostNesting} levels deep` }
    : { place, value }
}

/** `JSON.parse`, with an error that quotes nothing of the text but says what Python's writer leaves behind most often. */
function parse(text: string, repair?: (text: string) => string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (thrown) {
    const repaired = repair?.(text) ?? text
    if (repaired !== text) return parse(repaired)
    const found = /[:[,]\s*-?(NaN|Infinity)\b/.exec(text)?.[1]
    const hint = found === undefined ? '' : ` (it holds ${found}, which JSON has no word for)`
    throw new SyntaxError(`${jsonProblem(thrown)}${hint}`, { cause: thrown })
  }
  return nestsTooDeep(text) ? tooDeep : value
}
