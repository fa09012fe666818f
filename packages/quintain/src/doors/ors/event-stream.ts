/** What every stream is sent with: nothing on the way may hold it back or keep it. */
export const streamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** A sign of life between events; clients give up after 30 seconds without one. */
export const signOfLife = ': ping\n\n'

/** UTF-16 units of a piece: at most 24 KiB of UTF-8, and six more for each that is escaped; clients take lines of 64 KiB. */
const pieceLength = 8192

// All that Python's `str.lstrip` and `str.splitlines` take for white space and JSON leaves as it is, but the plain space.
const foreignSpace = /[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g

/** The event that tells a client by which name it finds its result again. */
export function taskEvent(id: string): string {
  return `event: task_id\ndata: ${id}\n\n`
}

/** The event that says that there is no result, and why. */
export function errorEvent(message: string): string {
  // Clients take an empty message for an unknown error, and lose what is behind a line break.
  const line = message.replace(/\s+/g, ' ').trim()
  return `event: error\ndata: ${line === '' ? 'no reason was given' : line}\n\n`
}

/**
 * A result as events: `chunk` for each piece but the last, which is `end`. `json` is compact JSON, as `JSON.stringify`
 * writes it.
 *
 * Clients take the leading white space off every line of data, and some split lines at more than line feeds. So a space
 * that would begin a piece is written as an escape, which JSON has for it; such a piece means the same.
 */
export function resultEvents(json: string): string {
  const text = json.replace(
    foreignSpace,
    (space) => `\\u${space.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  let events = ''
  let from = 0
  while (text.length - from > pieceLength) {
    let to = from + pieceLength
    // The halves of a character that takes two units stay together.
    if (isHighSurrogate(text.charCodeAt(to - 1))) to++
    events += `event: chunk\ndata: ${piece(text, from, to)}\n\n`
    from = to
  }
  return `${events}event: end\ndata: ${piece(text, from, text.length)}\n\n`
}

function piece(text: string, from: number, to: number): string {
  return text.charCodeAt(from) === 0x20 ? `\\u0020${text.slice(from + 1, to)}` : text.slice(from, to)
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}
