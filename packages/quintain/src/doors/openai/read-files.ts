import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { QuintainError } from '../../core/index.ts'
import type { Findings } from './findings.ts'
import { readJsonText } from './json-text.ts'

/** A file that somebody holds, as it is named in what is made of it: without its folder. */
export interface HeldFile {
  name: string
  bytes: Buffer
  sha256: string
}

/** An object of a file, and where it stands. */
export interface HeldRow {
  /** `train.jsonl:12`, lines from one. */
  place: string
  value: Record<string, unknown>
  /** Fields whose integers were too large for a number and are text now: names of the top. */
  huge: ReadonlySet<string>
}

/** Throws `import_invalid` for a file that is not there or cannot be read. */
export async function readHeldFile(path: string): Promise<HeldFile> {
  try {
    const bytes = await readFile(path)
    return { name: basename(path), bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    const what = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code ?? 'unknown'})`
    throw new QuintainError('import_invalid', `${path}: ${what}.`, { cause, facts: { path } })
  }
}

const byteOrderMark = '\ufeff'

/** The text of a file, or undefined where it is not UTF-8, which is said. */
export function textOfFile({ name, bytes }: HeldFile, findings: Findings): string | undefined {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    findings.add({
      severity: 'error',
      code: 'not_utf8',
      place: `${name}:${lineOfBadByte(bytes)}`,
      message: 'The file is not UTF-8; save it as UTF-8.',
    })
    return undefined
  }
  if (!text.startsWith(byteOrderMark)) return text
  findings.add({
    severity: 'warning',
    code: 'byte_order_mark',
    place: name,
    message: 'The file begins with a byte order mark, which was skipped.',
  })
  return text.slice(1)
}

function lineOfBadByte(bytes: Buffer): number {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  for (let from = 0; from < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, from)
    try {
      decoder.decode(bytes.subarray(from, end < 0 ? bytes.length : end))
    } catch {
      return line
    }
    if (end < 0) break
    from = end + 1
  }
  return line
}

/** One JSON value of a file; undefined where it is none, which is said. */
export function jsonOfFile(file: HeldFile, findings: Findings): unknown {
  const text = textOfFile(file, findings)
  if (text === undefined) return undefined
  const reading = readJsonText(text)
  if (!reading.ok) {
    const message = text.trim() === '' ? 'The file is empty.' : `The file cannot be read: ${reading.message}.`
    findings.add({ severity: 'error', code: 'not_json', place: file.name, message })
    return undefined
  }
  tellLosses(reading, file.name, findings)
  return reading.value
}

/** The objects of a file of JSON lines, split at LF only. Everything that is none is told, with its line. */
export function rowsOfFile(file: HeldFile, findings: Findings): HeldRow[] {
  const text = textOfFile(file, findings)
  if (text === undefined) return []
  const lines = text.split('\n')
  const ends = lines.filter((line) => line.endsWith('\r')).length
  if (ends > 0)
    findings.add({
      severity: 'warning',
      code: 'crlf',
      place: file.name,
      message: `${ends} lines end in CR LF; the CR was dropped.`,
    })
  const rows: HeldRow[] = []
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue
    const place = `${file.name}:${index + 1}`
    const reading = readJsonText(line)
    if (!reading.ok) {
      const torn = index === lines.length - 1
      const message = torn
        ? 'The last line is torn: it has no end and is no JSON. Fetch the file again, or take the line out.'
        : `The line cannot be read: ${reading.message}.`
      findings.add({ severity: 'error', code: torn ? 'torn_line' : 'not_json', place, message })
      continue
    }
    tellLosses(reading, place, findings)
    const { value } = reading
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      findings.add({ severity: 'error', code: 'no_object', place, message: 'The line is no object.' })
      continue
    }
    const huge = new Set(reading.huge.map(({ path }) => path.split(/[.[]/)[0] ?? path))
    rows.push({ place, value: value as Record<string, unknown>, huge })
  }
  if (rows.length === 0 && text.trim() === '')
    findings.add({
      severity: 'error',
      code: 'empty_file',
      place: file.name,
      message: 'The file is empty; it needs one row at least.',
    })
  return rows
}

function tellLosses(
  { twice, huge }: { twice: string[]; huge: { path: string; digits: string }[] },
  place: string,
  findings: Findings,
): void {
  if (twice.length > 0)
    findings.add({
      severity: 'warning',
      code: 'name_twice',
      place,
      message: `The names ${twice
        .slice(0, 5)
        .map((name) => JSON.stringify(name.slice(0, 60)))
        .join(', ')} stand twice in one object; the last one counts.`,
    })
  for (const { path, digits } of huge)
    findings.add({
      severity: 'warning',
      code: 'huge_integer',
      place,
      message: `${path} is ${digits.slice(0, 40)}, which no number of JavaScript holds; it is kept as text.`,
    })
}
