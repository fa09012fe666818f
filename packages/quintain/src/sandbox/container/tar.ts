import type { SnapshotEntry } from '../../core/sandbox.ts'
import { bytesOfName, nameOfBytes } from '../box-name.ts'

const block = 512

/** An entry of an archive: `other` is a device, a pipe or a socket; a hard link to an earlier file is a `hardlink`. */
export type TarEntry =
  | SnapshotEntry
  | { kind: 'other'; path: string; mode: number }
  | { kind: 'hardlink'; path: string; mode: number; target: string }

/** Who owns what an archive makes. */
export interface Owner {
  uid: number
  gid: number
}

/**
 * A tar archive (POSIX ustar, long names and links as GNU tar writes them) of entries with paths from the root, without
 * its slash.
 */
export function writeTar(entries: readonly SnapshotEntry[], owner: Owner): Buffer {
  const parts: Buffer[] = []
  for (const entry of entries) {
    const name = bytesOfName(entry.path.replace(/^\/+/, '') + (entry.kind === 'folder' ? '/' : ''))
    const link = bytesOfName(entry.kind === 'link' ? entry.target : '')
    if (name.length > 100) parts.push(...longName('L', name))
    if (link.length > 100) parts.push(...longName('K', link))
    const data = entry.kind === 'file' ? Buffer.from(entry.data) : Buffer.alloc(0)
    const type = entry.kind === 'file' ? '0' : entry.kind === 'folder' ? '5' : '2'
    const mode = entry.kind === 'link' ? 0o777 : entry.mode & 0o7777
    parts.push(header({ name, link, mode, size: data.length, type, owner }), data, padding(data.length))
  }
  parts.push(Buffer.alloc(2 * block))
  return Buffer.concat(parts)
}

/** The entries of an archive, names as they stand there. Throws for what is no archive. */
export function readTar(archive: Uint8Array): TarEntry[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.length)
  const entries: TarEntry[] = []
  let longPath: string | undefined
  let longLink: string | undefined
  for (let at = 0; at + block <= bytes.length; ) {
    const head = bytes.subarray(at, at + block)
    if (head.every((byte) => byte === 0)) break
    const size = numberAt(head, 124, 12)
    const data = bytes.subarray(at + block, at + block + size)
    if (data.length < size || !checks(head)) throw new Error('the archive is damaged or cut off')
    at += block + Math.ceil(size / block) * block
    const type = String.fromCharCode(head[156]!)
    if (type === 'L') longPath = textAt(data, 0, size)
    else if (type === 'K') longLink = textAt(data, 0, size)
    else if (type === 'x') ({ path: longPath = longPath, linkpath: longLink = longLink } = paxFields(data))
    else if (type !== 'g') {
      const prefix =
        head.toString('latin1', 257, 262) === 'ustar' && head[263] !== 0x20 ? textAt(head, 345, 155) : ''
      const short = textAt(head, 0, 100)
      const path = (longPath ?? (prefix === '' ? short : `${prefix}/${short}`)).replace(/\/+$/, '')
      const mode = numberAt(head, 100, 8) & 0o7777
      const target = longLink ?? textAt(head, 157, 100)
      if (type === '5') entries.push({ kind: 'folder', path, mode })
      else if (type === '2') entries.push({ kind: 'link', path, target })
      else if (type === '1') entries.push({ kind: 'hardlink', path, mode, target })
      else if (type === '0' || type === '\0' || type === '7')
        entries.push({ kind: 'file', path, mode, data: new Uint8Array(data) })
      else entries.push({ kind: 'other', path, mode })
      longPath = undefined
      longLink = undefined
    }
  }
  return entries
}

function header(of: {
  name: Buffer
  link: Buffer
  mode: number
  size: number
  type: string
  owner: Owner
}): Buffer {
  const head = Buffer.alloc(block)
  of.name.copy(head, 0, 0, 100)
  head.write(octal(of.mode, 7), 100)
  head.write(octal(of.owner.uid, 7), 108)
  head.write(octal(of.owner.gid, 7), 116)
  head.write(octal(of.size, 11), 124)
  head.write(octal(0, 11), 136)
  head.write('        ', 148)
  head.write(of.type, 156)
  of.link.copy(head, 157, 0, 100)
  head.write('ustar  \0', 257, 'latin1')
  head.write(octal(sum(head), 6), 148)
  head.writeUInt8(0, 154)
  return head
}

/** A name of more than a hundred bytes, as an entry of its own before the one that has it. */
function longName(type: 'L' | 'K', name: Buffer): Buffer[] {
  const data = Buffer.concat([name, Buffer.alloc(1)])
  const head = header({
    name: Buffer.from('././@LongLink'),
    link: Buffer.alloc(0),
    mode: 0,
    size: data.length,
    type,
    owner: { uid: 0, gid: 0 },
  })
  return [head, data, padding(data.length)]
}

function padding(size: number): Buffer {
  return Buffer.alloc((block - (size % block)) % block)
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

function sum(head: Buffer): number {
  return head.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
}

function checks(head: Buffer): boolean {
  return numberAt(head, 148, 8) === sum(head)
}

function textAt(bytes: Buffer, at: number, length: number): string {
  const field = bytes.subarray(at, at + length)
  const end = field.indexOf(0)
  return nameOfBytes(end === -1 ? field : field.subarray(0, end))
}

/** Octal text, or big-endian with the first bit set for what is larger than that can say. */
function numberAt(bytes: Buffer, at: number, length: number): number {
  if ((bytes[at]! & 0x80) !== 0)
    return Number(bytes.readBigUInt64BE(at + length - 8) & 0x7fff_ffff_ffff_ffffn)
  const text = bytes
    .toString('latin1', at, at + length)
    .replace(/\0.*$/s, '')
    .trim()
  return text === '' ? 0 : Number.parseInt(text, 8)
}

/** Records `length key=value\n` of a pax header. */
function paxFields(data: Buffer): { path?: string; linkpath?: string } {
  const fields: Record<string, string> = {}
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(0x20, at)
    const length = Number(data.toString('latin1', at, space))
    if (space === -1 || !(length > 0)) break
    const record = data.subarray(space + 1, at + length - 1)
    const equals = record.indexOf(0x3d)
    fields[record.toString('latin1', 0, equals)] = nameOfBytes(record.subarray(equals + 1))
    at += length
  }
  return fields
}
