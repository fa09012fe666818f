import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib'

export interface Packed {
  name: string
  data: string | Buffer
  method?: 0 | 8 | 93
  /** What the directory claims, where that is not so. */
  claim?: { size?: number; packed?: number; crc?: number; at?: number }
  flags?: number
}

/** A zip of some entries, true or not. */
export function zipOf(entries: readonly Packed[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, data, method = 8, claim = {}, flags = 0 } of entries) {
    const bytes = Buffer.from(data)
    const packed = method === 8 ? deflateRawSync(bytes) : method === 93 ? zstdCompressSync(bytes) : bytes
    const title = Buffer.from(name)
    const head = Buffer.alloc(30)
    head.writeUInt32LE(0x04034b50, 0)
    head.writeUInt16LE(title.length, 26)
    parts.push(head, title, packed)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(flags, 8)
    entry.writeUInt16LE(method, 10)
    entry.writeUInt32LE(claim.crc ?? crc32(bytes), 16)
    entry.writeUInt32LE(claim.packed ?? packed.length, 20)
    entry.writeUInt32LE(claim.size ?? bytes.length, 24)
    entry.writeUInt16LE(title.length, 28)
    entry.writeUInt32LE(claim.at ?? at, 42)
    directory.push(entry, title)
    at += 30 + title.length + packed.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...parts, listed, end])
}
