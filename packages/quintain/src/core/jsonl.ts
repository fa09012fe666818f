import { isUtf8 } from 'node:buffer'
import { type FileHandle, open } from 'node:fs/promises'
import { jsonProblem, messageOf, QuintainError } from './errors.ts'

/**
 * JSON lines as journals and task files hold them: one whole record a line, split at LF only. U+0085, U+2028 and
 * U+2029 are ordinary characters of a JSON string, so a reader that cuts there loses records.
 */

/** How a file ends when it does not end well: in the middle of a record, or in NUL bytes that a crash left behind. */
export type JsonlTail = 'torn' | 'nul_padding'

/** Something about a file that its reader should be told. Every kind but `bad_line`, `too_long` loses no whole record. */
export interface JsonlIssue {
  /**
   * `bad_line` and `too_long`: a line that is not a record, skipped. `torn`: the last line was cut off while it was
   * written. `nul_padding`: NUL bytes outside any record, skipped.
   */
  kind: 'bad_line' | 'too_long' | JsonlTail
  /** Line, counted from zero, blank ones included. */
  line: number
  /** Byte offset of the line in the file, and its length without the LF. */
  offset: number
  bytes: number
  message: string
}

/** A record of a file and where it lies. */
export interface JsonlRecord {
  value: unknown
  /** Line, counted from zero, blank ones included. */
  line: number
  /** Byte offset of the line in the file, and its length without the LF. */
  offset: number
  bytes: number
  /** False for a last record that no LF follows; it is whole all the same. */
  terminated: boolean
  /** The line's own bytes. A view of a buffer that the next record may overwrite: copy it to keep it. */
  raw: Buffer
}

export interface JsonlOptions {
  /** Called for each issue, in file order. */
  onIssue?: (issue: JsonlIssue) => void
  /** Lines beyond it are reported as `too_long` and never held in memory. 256 MiB when absent. */
  maxLineBytes?: number
  /** Turns the text of a line into its value; throws when it is none. `JSON.parse` when absent. */
  parse?: (text: string) => unknown
}

export interface JsonlFileOptions extends JsonlOptions {
  /** Byte offset of the line to start with; 0 when absent. Lines are then counted from there. */
  from?: number
  /** Bytes read at a time; 1 MiB when absent. */
  chunkBytes?: number
  signal?: AbortSignal
}

/** All of some JSON lines at once. */
export interface Jsonl {
  records: JsonlRecord[]
  issues: JsonlIssue[]
  /** How the file ends, when not well. */
  tail?: JsonlTail
}

const defaultMaxLineBytes = 256 * 1024 * 1024
const defaultChunkBytes = 1024 * 1024

const NUL = 0x00
const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const OPEN_BRACE = 0x7b

/**
 * A value as one line of a journal, its LF included. The line is valid UTF-8 whatever the value holds: lone
 * surrogates are escaped, and so are U+0085, U+2028 and U+2029, for readers that cut lines there.
 *
 * Throws `not_json` for a value that JSON cannot hold: undefined, a function, a bigint, a cycle.
 *
 * @example jsonLine({ t: 'a\u2028b' }) // '{"t":"a\\u2028b"}\n'
 */
export function jsonLine(value: unknown): string {
  return lineWith(value, {})
}

/** `jsonLine` of an object that has some fields, and of further fields that are JSON text already. */
export function lineWith(value: unknown, written: Readonly<Record<string, string>>): string {
  let text: string | undefined
  try {
    // Escapes lone surrogates by itself (ES2019, well-formed JSON.stringify).
    text = JSON.stringify(value)
    if (text !== undefined)
      for (const name in written) text = `${text.slice(0, -1)},${JSON.stringify(name)}:${written[name]}}`
  } catch (cause) {
    // Too long for a string, among others.
    throw new QuintainError('not_json', `A record cannot be written as JSON: ${messageOf(cause)}`, { cause })
  }
  if (text === undefined) {
    throw new QuintainError('not_json', `A record cannot be written as JSON: it is ${typeof value}.`)
  }
  // indexOf, not a regular expression: on a string without characters above U+00FF the two searches cost nothing.
  if (text.indexOf('\u2028') >= 0 || text.indexOf('\u2029') >= 0 || text.indexOf('\u0085') >= 0) {
    text = text
      .replaceAll('\u2028', '\\u2028')
      .replaceAll('\u2029', '\\u2029')
      .replaceAll('\u0085', '\\u0085')
  }
  return `${text}\n`
}

interface RawLine {
  line: number
  offset: number
  bytes: number
  terminated: boolean
  /** Undefined when the line was too long to hold. */
  raw: Buffer | undefined
}

/** Cuts chunks of bytes into lines, holding at most one line and one chunk. */
class LineSplitter {
  readonly #maxLineBytes: number
  #pieces: Buffer[] = []
  /** Bytes of the line so far, held or not. */
  #bytes = 0
  #line = 0
  #offset: number

  constructor(offset: number, maxLineBytes: number) {
    this.#offset = offset
    this.#maxLineBytes = maxLineBytes
  }

  *push(chunk: Buffer): Generator<RawLine> {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      yield this.#take(chunk.subarray(start, end), true)
      start = end + 1
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start))
  }

  /** The last line, when no LF follows it. */
  end(): RawLine | undefined {
    return this.#bytes === 0 ? undefined : this.#take(Buffer.alloc(0), false)
  }

  #hold(piece: Buffer): void {
    this.#bytes += piece.length
    // Copied: the reader of a file fills one buffer again and again.
    if (this.#bytes <= this.#maxLineBytes) this.#pieces.push(Buffer.from(piece))
    else this.#pieces = []
  }

  #take(piece: Buffer, terminated: boolean): RawLine {
    let raw: Buffer | undefined = piece
    if (this.#bytes > 0) {
      if (piece.length > 0) this.#hold(piece)
      raw = Buffer.concat(this.#pieces)
      this.#pieces = []
    }
    const bytes = this.#bytes > 0 ? this.#bytes : piece.length
    const taken: RawLine = {
      line: this.#line,
      offset: this.#offset,
      bytes,
      terminated,
      raw: bytes > this.#maxLineBytes ? undefined : raw,
    }
    this.#line += 1
    this.#offset += bytes + (terminated ? 1 : 0)
    this.#bytes = 0
    return taken
  }
}

/** Turns lines into records and issues. */
class LineReader {
  readonly #parse: (text: string) => unknown
  readonly #onIssue: (issue: JsonlIssue) => void

  constructor(options: JsonlOptions) {
    this.#parse = options.parse ?? (JSON.parse as (text: string) => unknown)
    this.#onIssue = options.onIssue ?? (() => {})
  }

  read(line: RawLine): JsonlRecord | undefined {
    const { raw } = line
    if (raw === undefined) {
      this.#report(line, 'too_long', `the line has ${line.bytes} bytes, which is over the limit`)
      return undefined
    }
    if (raw.length === 0) return undefined
    const core = raw[0] === OPEN_BRACE && raw[raw.length - 1] !== NUL ? raw : this.#strip(line, raw)
    if (core.length === 0) return undefined
    let value: unknown
    try {
      value = this.#parse(decode(core))
    } catch (thrown) {
      if (line.terminated) this.#report(line, 'bad_line', explain(core, thrown))
      else this.#report(line, 'torn', 'the last line was cut off before its end')
      return undefined
    }
    const { line: number, offset, bytes, terminated } = line
    return { value, line: number, offset, bytes, terminated, raw }
  }

  /** The line without byte-order mark, blanks and NULs round it: a crash pads with NULs, also before what is written next. */
  #strip(line: RawLine, raw: Buffer): Buffer {
    if (isUtf16(raw)) return raw
    let start = startsWithMark(raw) ? 3 : 0
    let end = raw.length
    let padded = false
    for (; start < end && isFiller(raw[start]!); start++) padded ||= raw[start] === NUL
    for (; start < end && isFiller(raw[end - 1]!); end--) padded ||= raw[end - 1] === NUL
    if (padded) this.#report(line, 'nul_padding', 'NUL bytes outside any record, as a crash leaves them')
    if (startsWithMark(raw.subarray(start, end))) start += 3
    return raw.subarray(start, end)
  }

  #report(line: RawLine, kind: JsonlIssue['kind'], message: string): void {
    this.#onIssue({ kind, line: line.line, offset: line.offset, bytes: line.bytes, message })
  }
}

function isFiller(byte: number): boolean {
  return byte === NUL || byte === SPACE || byte === TAB || byte === CR
}

function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

function isUtf16(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
}

function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  // The replacement character is what a decoder puts for bytes that are no UTF-8, and is rare in honest text.
  if (text.indexOf('\ufffd') >= 0 && !isUtf8(bytes)) throw new Error('not valid UTF-8')
  return text
}

function explain(bytes: Buffer, thrown: unknown): string {
  if (bytes.includes(NUL)) {
    return isUtf16(bytes) ? 'the file is UTF-16; save it as UTF-8' : 'the line contains NUL bytes'
  }
  return `the line is not JSON: ${jsonProblem(thrown)}`
}

/** How a file ends, from the issues of its last line; undefined when it ends well. */
export function tailOf(issues: readonly JsonlIssue[], lastRecordLine = -1): JsonlTail | undefined {
  const last = issues.at(-1)
  if (last === undefined || (last.kind !== 'torn' && last.kind !== 'nul_padding')) return undefined
  return last.line >= lastRecordLine ? last.kind : undefined
}

/**
 * All records of some text or bytes. Never throws for what is in them: what is no record is in `issues`.
 *
 * @example parseJsonl('{"id":1}\n{"id":2').tail // 'torn'
 */
export function parseJsonl(source: string | Uint8Array, options: JsonlOptions = {}): Jsonl {
  const bytes =
    typeof source === 'string'
      ? Buffer.from(source, 'utf8')
      : Buffer.from(source.buffer, source.byteOffset, source.byteLength)
  const result: Jsonl = { records: [], issues: [] }
  const reader = new LineReader({
    ...options,
    onIssue(issue) {
      result.issues.push(issue)
      options.onIssue?.(issue)
    },
  })
  const splitter = new LineSplitter(0, options.maxLineBytes ?? defaultMaxLineBytes)
  const add = (line: RawLine) => {
    const record = reader.read(line)
    if (record !== undefined) result.records.push(record)
  }
  for (const line of splitter.push(bytes)) add(line)
  const last = splitter.end()
  if (last !== undefined) add(last)
  const tail = tailOf(result.issues, result.records.at(-1)?.line)
  if (tail !== undefined) result.tail = tail
  return result
}

/**
 * The records of a file, one at a time, in bounded memory: a chunk and one line. Never throws for what is in the file
 * (see `onIssue`); errors of the file system pass through as Node throws them.
 */
export async function* readJsonlFile(
  path: string,
  options: JsonlFileOptions = {},
): AsyncGenerator<JsonlRecord, void, undefined> {
  const reader = new LineReader(options)
  for await (const line of linesOf(path, options.maxLineBytes ?? defaultMaxLineBytes, options)) {
    const record = reader.read(line)
    if (record !== undefined) yield record
  }
}

/** Where a record lies, and how it begins. */
export interface JsonlExtent {
  line: number
  offset: number
  bytes: number
  terminated: boolean
  /** The first bytes of the line, at most `headBytes`. */
  head: Buffer
}

/**
 * Where the lines of a file lie, without parsing any, and without holding more of one than `headBytes` (4 KiB when
 * absent): a list of records need not read a trajectory of 10 MB. Blank lines and NUL padding are left out.
 */
export async function* scanJsonlFile(
  path: string,
  options: Pick<JsonlFileOptions, 'from' | 'chunkBytes' | 'signal'> & { headBytes?: number } = {},
): AsyncGenerator<JsonlExtent, void, undefined> {
  const headBytes = options.headBytes ?? 4096
  const first = options.from ?? 0
  let head: Buffer = Buffer.alloc(0)
  let bytes = 0
  let blank = true
  let line = 0
  let offset = first
  const hold = (piece: Buffer) => {
    const beginning = piece.subarray(0, headBytes - head.length)
    // Copied: the buffer is filled again, and an extent is kept.
    head = Buffer.concat(bytes === 0 ? [beginning] : [head, beginning])
    bytes += piece.length
    blank &&= piece.every(isFiller)
  }
  const take = (terminated: boolean): JsonlExtent | undefined => {
    const extent = blank ? undefined : { line, offset, bytes, terminated, head }
    line += 1
    offset += bytes + 1
    head = Buffer.alloc(0)
    bytes = 0
    blank = true
    return extent
  }
  for await (const chunk of chunksOf(path, first, options)) {
    let start = 0
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      hold(chunk.subarray(start, end))
      const extent = take(true)
      if (extent !== undefined) yield extent
      start = end + 1
    }
    hold(chunk.subarray(start))
  }
  const last = take(false)
  if (last !== undefined) yield last
}

async function* linesOf(
  path: string,
  maxLineBytes: number,
  options: JsonlFileOptions,
): AsyncGenerator<RawLine, void, undefined> {
  const first = options.from ?? 0
  const splitter = new LineSplitter(first, maxLineBytes)
  for await (const chunk of chunksOf(path, first, options)) yield* splitter.push(chunk)
  const last = splitter.end()
  if (last !== undefined) yield last
}

/** A file in chunks. Each is a buffer of its own, so that lines may be views of it. */
async function* chunksOf(
  path: string,
  from: number,
  options: Pick<JsonlFileOptions, 'chunkBytes' | 'signal'>,
): AsyncGenerator<Buffer, void, undefined> {
  const most = options.chunkBytes ?? defaultChunkBytes
  const file = await open(path, 'r')
  try {
    // No larger than what is left: thousands of small files would otherwise keep the collector busy with megabytes.
    const { size: end } = await file.stat()
    const buffer = Buffer.allocUnsafeSlow(Math.min(most, Math.max(end - from, 4_096)))
    for (let position = from; ; ) {
      options.signal?.throwIfAborted()
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
      if (bytesRead === 0) return
      position += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

/** What `truncateTornTail` found and did. */
export interface TailRepair {
  /** Undefined when the file ended well, or only its last LF was missing. */
  tail: JsonlTail | undefined
  /** Bytes cut off. */
  removed: number
  /** True when the last record was whole and only its LF had to be written. */
  terminated: boolean
  /** Size of the file afterwards. */
  size: number
}

/**
 * Makes a file fit to be appended to: cuts off a torn last line and NUL padding, and ends a last record that is whole
 * but for its LF. Without it the next record would be glued to the torn one, and both be lost. A missing file is
 * left missing. Errors of the file system pass through as Node throws them.
 */
export async function truncateTornTail(path: string): Promise<TailRepair> {
  let file: FileHandle
  try {
    file = await open(path, 'r+')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') {
      return { tail: undefined, removed: 0, terminated: false, size: 0 }
    }
    throw thrown
  }
  try {
    return await repair(file)
  } finally {
    await file.close()
  }
}

async function repair(file: FileHandle): Promise<TailRepair> {
  const { size } = await file.stat()
  const lineStart = await lastLineStart(file, size)
  if (lineStart === size) return { tail: undefined, removed: 0, terminated: false, size }
  const last = Buffer.allocUnsafe(size - lineStart)
  await readFully(file, last, lineStart)
  let end = last.length
  while (end > 0 && last[end - 1] === NUL) end--
  const kept = last.subarray(0, end)
  const padded = end < last.length
  const tail: JsonlTail | undefined = padded ? 'nul_padding' : undefined
  if (isWhole(kept)) {
    await file.truncate(lineStart + end)
    await file.write('\n', lineStart + end)
    return { tail, removed: last.length - end, terminated: true, size: lineStart + end + 1 }
  }
  await file.truncate(lineStart)
  const torn = kept.some((byte) => !isFiller(byte))
  return { tail: torn ? 'torn' : tail, removed: last.length, terminated: false, size: lineStart }
}

function isWhole(bytes: Buffer): boolean {
  return (
    new LineReader({}).read({
      line: 0,
      offset: 0,
      bytes: bytes.length,
      terminated: false,
      raw: bytes,
    }) !== undefined
  )
}

/** Where the last line starts: behind the last LF, found from the end. */
async function lastLineStart(file: FileHandle, size: number): Promise<number> {
  const window = Buffer.allocUnsafe(Math.min(size, 64 * 1024))
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - window.length)
    const part = window.subarray(0, end - start)
    await readFully(file, part, start)
    const found = part.lastIndexOf(LF)
    if (found >= 0) return start + found + 1
    end = start
  }
  return 0
}

async function readFully(file: FileHandle, target: Buffer, position: number): Promise<void> {
  for (let done = 0; done < target.length; ) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done)
    if (bytesRead === 0) throw new QuintainError('journal_io', 'The file became shorter while it was read.')
    done += bytesRead
  }
}

/** Appends a record to a file whose last line may be torn. Says what had to be repaired. */
export async function appendJsonl(path: string, value: unknown): Promise<TailRepair> {
  const line = jsonLine(value)
  const repaired = await truncateTornTail(path)
  const file = await open(path, 'a')
  try {
    await file.appendFile(line)
  } finally {
    await file.close()
  }
  return { ...repaired, size: repaired.size + Buffer.byteLength(line) }
}
