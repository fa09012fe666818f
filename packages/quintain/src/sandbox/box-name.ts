import { posix } from 'node:path'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * File names are bytes. As text they are UTF-8, and a byte that is none is U+DC00 + byte, so that every name survives
 * the way there and back (PEP 383, `surrogateescape`).
 */
export function nameOfBytes(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    let name = ''
    for (let at = 0; at < bytes.length; ) {
      const length = sequenceAt(bytes, at)
      name +=
        length === 0
          ? String.fromCharCode(0xdc00 + bytes[at]!)
          : strict.decode(bytes.subarray(at, at + length))
      at += Math.max(length, 1)
    }
    return name
  }
}

/** The bytes of a name made by `nameOfBytes`, or of any other text. */
export function bytesOfName(name: string): Buffer {
  if (!/[\udc80-\udcff]/.test(name)) return Buffer.from(name, 'utf8')
  const parts: Buffer[] = []
  for (const character of name) {
    const code = character.codePointAt(0)!
    parts.push(
      code >= 0xdc80 && code <= 0xdcff ? Buffer.from([code - 0xdc00]) : Buffer.from(character, 'utf8'),
    )
  }
  return Buffer.concat(parts)
}

/** Length of the UTF-8 sequence that begins at `at`; zero where none does. */
function sequenceAt(bytes: Uint8Array, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    try {
      strict.decode(bytes.subarray(at, at + length))
      return length
    } catch {
      // Cut short, or no sequence at all.
    }
  }
  return 0
}

/** A path in a box as an absolute one without `.`, `..` and doubled slashes; undefined for what no path can be. */
export function boxPath(path: string, workdir: string): string | undefined {
  if (path === '' || path.includes('\0')) return undefined
  const whole = posix.normalize(posix.isAbsolute(path) ? path : posix.join(workdir, path))
  return whole.length > 1 && whole.endsWith('/') ? whole.slice(0, -1) : whole
}
