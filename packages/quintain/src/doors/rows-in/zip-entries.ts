import type { FileHandle } from 'node:fs/promises'
import { crc32, inflateRawSync, zstdDecompressSync } from 'node:zlib'

/** A file within a zip, as its directory tells of it. */
export interface ZipEntry {
  name: string
  /** 0 is stored, 8 deflated, 93 zstd. */
  method: number
  encrypted: boolean
  crc: number
  /** Bytes in the zip, and unpacked. */
  packed: number
  size: number
  /** Where its own header begins. */
  at: number
}

const endLength = 22
const longestComment = 0xffff
const mostDirectory = 64 * 1024 * 1024
const all32 = 0xffffffff
const all16 = 0xffff

/**
 * The entries of a zip by name, the last of those with one name, as Python's `zipfile` has them. A text says what is wrong
 * with a file that is none. Sizes are what the directory claims; together the entries may not take more than there is, so
 * that a small file cannot be unpacked over and over.
 *
 * Source: PKWARE APPNOTE 6.3.10, 4.3 (records) and 4.5.3 (zip64).
 */
export async function zipEntries(file: FileHandle): Promise<Map<string, ZipEntry> | string> {
  const { size: length } = await file.stat()
  const tailLength = Math.min(length, endLength + longestComment)
  const tail = await bytesAt(file, length - tailLength, tailLength)
  const end = tail.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (end < 0 || end + endLength > tail.length) return 'it is no zip, or was cut off before its end'
  let [count, size, at] = [
    tail.readUInt16LE(end + 10),
    tail.readUInt32LE(end + 12),
    tail.readUInt32LE(end + 16),
  ]
  if (count === all16 || size === all32 || at === all32) {
    const found = await zip64End(file, tail, end)
    if (found === undefined) return 'its directory (zip64) cannot be found'
    ;[count, size, at] = found
  }
  if (size > mostDirectory) return 'its directory is too long'
  if (at + size > length) return 'its directory lies outside of it'
  const directory = await bytesAt(file, at, size)
  const entries = new Map<string, ZipEntry>()
  let packed = 0
  let place = 0
  for (let number = 0; number < count; number++) {
    const entry = entryAt(directory, place)
    if (entry === undefined) return 'its directory is damaged'
    packed += entry.packed
    if (packed > length || entry.at >= length) return 'its entries claim more than there is'
    entries.set(entry.name, entry)
    place = entry.next
  }
  return entries
}

/** The bytes of an entry, unpacked and checked; a text says why there are none. At most `most` of them are ever made. */
export async function readEntry(
  file: FileHandle,
  { method, encrypted, crc, packed, size, at }: ZipEntry,
  most: number,
): Promise<Buffer | string> {
  if (encrypted) return 'it is encrypted'
  if (size > most || packed > most) return `it has more than ${most} bytes`
  const head = await bytesAt(file, at, 30)
  if (head.length < 30 || head.readUInt32LE(0) !== 0x04034b50) return 'its header is damaged'
  const from = at + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
  const bytes = await bytesAt(file, from, packed)
  if (bytes.length < packed) return 'it was cut off'
  let unpacked: Buffer
  try {
    const limit = { maxOutputLength: Math.max(1, size) }
    if (method === 0) unpacked = bytes
    else if (method === 8) unpacked = inflateRawSync(bytes, limit)
    else if (method === 93) unpacked = zstdDecompressSync(bytes, limit)
    else return `it is packed by method ${method}, which is neither deflate nor zstd`
  } catch {
    return 'it cannot be unpacked, or is longer than it claims'
  }
  return unpacked.length === size && crc32(unpacked) === crc ? unpacked : 'it is not what its checksum says'
}

async function bytesAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at)
  return buffer.subarray(0, bytesRead)
}

async function zip64End(
  file: FileHandle,
  tail: Buffer,
  end: number,
): Promise<[count: number, size: number, at: number] | undefined> {
  const locator = end - 20
  if (locator < 0 || tail.readUInt32LE(locator) !== 0x07064b50) return undefined
  const record = await bytesAt(file, wholeOf(tail, locator + 8), 56)
  if (record.length < 56 || record.readUInt32LE(0) !== 0x06064b50) return undefined
  return [wholeOf(record, 32), wholeOf(record, 40), wholeOf(record, 48)]
}

/** A number of 64 bits; one that a double cannot hold is more than any file has. */
function wholeOf(bytes: Buffer, at: number): number {
  const value = Number(bytes.readBigUInt64LE(at))
  return Math.min(value, Number.MAX_SAFE_INTEGER)
}

function entryAt(directory: Buffer, place: number): (ZipEntry & { next: number }) | undefined {
  if (place + 46 > directory.length || directory.readUInt32LE(place) !== 0x02014b50) return undefined
  const [nameLength, extraLength, commentLength] = [28, 30, 32].map((at) =>
    directory.readUInt16LE(place + at),
  )
  const nameEnd = place + 46 + nameLength!
  const next = nameEnd + extraLength! + commentLength!
  if (next > directory.length) return undefined
  const sizes = {
    size: directory.readUInt32LE(place + 24),
    packed: directory.readUInt32LE(place + 20),
    at: directory.readUInt32LE(place + 42),
  }
  readZip64(directory.subarray(nameEnd, nameEnd + extraLength!), sizes)
  return {
    name: directory.toString('utf8', place + 46, nameEnd),
    method: directory.readUInt16LE(place + 10),
    encrypted: (directory.readUInt16LE(place + 8) & 1) !== 0,
    crc: directory.readUInt32LE(place + 16),
    ...sizes,
    next,
  }
}

/** Where a size is all ones, the true one stands in the zip64 extra field, in this order. */
function readZip64(extra: Buffer, sizes: { size: number; packed: number; at: number }): void {
  for (let place = 0; place + 4 <= extra.length; ) {
    const length = extra.readUInt16LE(place + 2)
    const field = extra.subarray(place + 4, place + 4 + length)
    if (extra.readUInt16LE(place) === 1) {
      let at = 0
      for (const name of ['size', 'packed', 'at'] as const) {
        if (sizes[name] !== all32 || at + 8 > field.length) continue
        sizes[name] = wholeOf(field, at)
        at += 8
      }
    }
    place += 4 + length
  }
}
