import { crc32, inflateRawSync } from 'node:zlib'
import { broken, WorkbookProblem } from './workbook-problem.ts'

/** Limits of an archive, in bytes. */
export interface ZipLimits {
  /** The whole archive. */
  packed: number
  /** Everything that is unpacked from it, added up. */
  unpacked: number
  entries: number
}

/** Unpacks an entry by its exact name; undefined where there is none. Nothing is written anywhere. */
export type ReadEntry = (name: string) => Buffer | undefined

interface Entry {
  method: number
  encrypted: boolean
  crc: number
  packed: number
  unpacked: number
  offset: number
}

const end = 0x06054b50
const central = 0x02014b50
const local = 0x04034b50
const compoundFile = 0xe011cfd0

/** Reads the directory of a ZIP archive (APPNOTE 6.3, without ZIP64 and parts). Throws `WorkbookProblem`. */
export function zipEntries(bytes: Uint8Array, limits: ZipLimits): ReadEntry {
  if (bytes.length > limits.packed)
    throw new WorkbookProblem('too_large', `the file has ${bytes.length} bytes`)
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // Office puts what a password protects into a file of this older kind, as it does with the old .xls.
  if (file.length > 4 && file.readUInt32LE(0) === compoundFile)
    throw new WorkbookProblem('encrypted', 'the file is under a password, or of the format before .xlsx')
  const entries = directory(file, limits)
  let left = limits.unpacked
  return (name) => {
    const entry = entries.get(name)
    if (entry === undefined) return undefined
    if (entry.encrypted) throw new WorkbookProblem('encrypted', `${name} is encrypted`)
    if (entry.unpacked > left) throw new WorkbookProblem('too_large', `${name} unpacks to too much`)
    left -= entry.unpacked
    return unpack(file, name, entry)
  }
}

function directory(file: Buffer, limits: ZipLimits): Map<string, Entry> {
  const at = endRecord(file)
  const count = file.readUInt16LE(at + 10)
  if (count > limits.entries) throw new WorkbookProblem('too_large', `the archive has ${count} entries`)
  let next = file.readUInt32LE(at + 16)
  const entries = new Map<string, Entry>()
  for (let index = 0; index < count; index++) {
    if (next + 46 > at || file.readUInt32LE(next) !== central)
      throw broken('the directory of the archive is cut off')
    const nameLength = file.readUInt16LE(next + 28)
    const rest = file.readUInt16LE(next + 30) + file.readUInt16LE(next + 32)
    if (next + 46 + nameLength + rest > at) throw broken('the directory of the archive is cut off')
    const name = file.toString('utf8', next + 46, next + 46 + nameLength)
    // Programs disagree on which of two entries counts.
    if (entries.has(name)) throw broken(`the archive has ${JSON.stringify(name)} twice`)
    entries.set(name, {
      encrypted: (file.readUInt16LE(next + 8) & 1) === 1,
      method: file.readUInt16LE(next + 10),
      crc: file.readUInt32LE(next + 16),
      packed: file.readUInt32LE(next + 20),
      unpacked: file.readUInt32LE(next + 24),
      offset: file.readUInt32LE(next + 42),
    })
    next += 46 + nameLength + rest
  }
  return entries
}

/** Where the last record of the archive begins: it may be followed by a comment of its own length only. */
function endRecord(file: Buffer): number {
  const lowest = Math.max(0, file.length - 22 - 0xffff)
  for (let at = file.length - 22; at >= lowest; at--) {
    if (file.readUInt32LE(at) === end && at + 22 + file.readUInt16LE(at + 20) === file.length) return at
  }
  throw broken('the file is no ZIP archive')
}

function unpack(file: Buffer, name: string, { method, crc, packed, unpacked, offset }: Entry): Buffer {
  if (offset + 30 > file.length || file.readUInt32LE(offset) !== local)
    throw broken(`${name} is not where it should be`)
  const start = offset + 30 + file.readUInt16LE(offset + 26) + file.readUInt16LE(offset + 28)
  if (start + packed > file.length) throw broken(`${name} is cut off`)
  const content = inflated(file.subarray(start, start + packed), { name, method, unpacked })
  if (content.length !== unpacked || crc32(content) !== crc) throw broken(`${name} is damaged`)
  return content
}

function inflated(
  content: Buffer,
  { name, method, unpacked }: { name: string; method: number; unpacked: number },
): Buffer {
  if (method === 0) return content
  if (method !== 8) throw broken(`${name} is packed in a way that workbooks do not use`)
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, unpacked) })
  } catch {
    throw broken(`${name} is damaged`)
  }
}
