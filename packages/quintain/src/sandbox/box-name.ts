import { posix } from 'node:path'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * File names are bytes. As text they are UTF-8, and a byte that is none is U+DC00 + byte, so that every name survives
 * the way there and back (PEP 383, `surrogateescape`). One pass in either direction: whoever names files may name many.
 */
export function nameOfBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    // Each byte is at most one unit; each unit is two bytes.
    const units = Buffer.allocUnsafe(2 * bytes.length)
    let end = 0
    for (let at = 0; at < bytes.length; ) {
      const length = sequenceAt(bytes, at)
      const code = length === 0 ? 0xdc00 + bytes[at]! : codePointAt(bytes, at, length)
      if (code >= 0x10000) {
        const high = 0xd800 + ((code - 0x10000) >> 10)
        units[end++] = high & 0xff
        units[end++] = high >> 8
      }
      const unit = code < 0x10000 ? code : 0xdc00 + ((code - 0x10000) & 0x3ff)
      units[end++] = unit & 0xff
      units[end++] = unit >> 8
      at += Math.max(length, 1)
    }
    return units.toString('utf16le', 0, end)
  }
}

/** The bytes of a name made by `nameOfBytes`, or of any other text. */
export function bytesOfName(name: string): Buffer {
  if (!/[\udc80-\udcff]/.test(name)) return Buffer.from(name, 'utf8')
  const bytes = Buffer.allocUnsafe(3 * name.length)
  let end = 0
  for (let at = 0; at < name.length; ) {
    const code = name.codePointAt(at)!
    const units = code < 0x10000 ? 1 : 2
    if (code >= 0xdc80 && code <= 0xdcff) end = bytes.writeUInt8(code - 0xdc00, end)
    else if (code < 0x80) end = bytes.writeUInt8(code, end)
    else end += bytes.write(name.slice(at, at + units), end, 'utf8')
    at += units
  }
  return Buffer.from(bytes.subarray(0, end))
}

/** Length of the UTF-8 sequence that begins at `at`; zero where none does (Unicode, table 3-7). */
function sequenceAt(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const length = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4
  if (length === 0 || at + length > bytes.length) return 0
  // Longer than it needs to be, a surrogate, or past the last code point.
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = bytes[at + 1]!
  if (second < least || second > most) return 0
  for (let next = at + 2; next < at + length; next++) if (bytes[next]! >> 6 !== 0b10) return 0
  return length
}

/** The code point of a sequence of so many bytes. */
function codePointAt(bytes: Uint8Array, at: number, length: number): number {
  if (length === 1) return bytes[at]!
  let code = bytes[at]! & (0xff >> (length + 1))
  for (let next = at + 1; next < at + length; next++) code = (code << 6) | (bytes[next]! & 0x3f)
  return code
}

/** A path in a box as an absolute one without `.`, `..` and doubled slashes; undefined for what no path can be. */
export function boxPath(path: string, workdir: string): string | undefined {
  if (path === '' || path.includes('\0')) return undefined
  const whole = posix.normalize(posix.isAbsolute(path) ? path : posix.join(workdir, path))
  return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole
}
