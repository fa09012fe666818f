import { StringDecoder } from 'node:string_decoder'

/** One event of a stream, as the WHATWG rules dispatch it. */
export interface ServerEvent {
  /** The event's name; `message` when the server gave none. */
  event: string
  data: string
}

/** Longest line that is kept, in characters. */
export const sseLineLimit = 32 * 1024 * 1024

/** A line of a stream is longer than any provider sends. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

/**
 * Cuts a stream of bytes or text into lines at LF, CR and CRLF, wherever its chunks begin and end. Characters of several
 * bytes may be cut by chunks; a leading byte order mark is dropped. Throws `LineTooLong`.
 */
export function createLineReader(
  onLine: (line: string) => void,
  options: { limit?: number } = {},
): { push(chunk: Uint8Array | string): void; end(): void } {
  const limit = options.limit ?? sseLineLimit
  // Leaves the mark, which is dropped below, for text and bytes alike.
  const decoder = new StringDecoder('utf8')
  let held = ''
  let afterReturn = false
  let atStart = true

  function take(text: string): void {
    if (text === '') return
    let from = 0
    if (atStart) {
      atStart = false
      if (text.charCodeAt(0) === 0xfeff) from = 1
    }
    if (afterReturn && text.charCodeAt(from) === 10) from++
    afterReturn = false
    let at = from
    const hasReturns = text.includes('\r')
    for (;;) {
      let end = text.indexOf('\n', at)
      let skip = 1
      if (hasReturns) {
        const back = text.indexOf('\r', at)
        if (back !== -1 && (end === -1 || back < end)) {
          end = back
          if (back === text.length - 1) afterReturn = true
          else if (text.charCodeAt(back + 1) === 10) skip = 2
        }
      }
      if (end === -1) break
      onLine(held === '' ? text.slice(at, end) : held + text.slice(at, end))
      held = ''
      at = end + skip
    }
    if (at < text.length) held += at === 0 ? text : text.slice(at)
    if (held.length > limit) throw new LineTooLong(`a line of the stream is longer than ${limit} characters`)
  }

  return {
    push: (chunk) => take(typeof chunk === 'string' ? chunk : decoder.write(chunk)),
    end() {
      take(decoder.end())
      if (held !== '') onLine(held)
      held = ''
    },
  }
}

/**
 * Parses an event stream by the WHATWG rules (https://html.spec.whatwg.org/multipage/server-sent-events.html): comments
 * are skipped, the space after a colon is optional, data lines of an event are joined by LF, an event without data is
 * not dispatched. One leniency: `end()` dispatches a last event whose blank line never came, since servers of models
 * leave it out after `[DONE]`.
 */
export function createEventReader(
  onEvent: (event: ServerEvent) => void,
  options: { limit?: number } = {},
): { push(chunk: Uint8Array | string): void; end(): void } {
  let event = ''
  let data: string | undefined

  function dispatch(): void {
    const name = event === '' ? 'message' : event
    const text = data
    event = ''
    data = undefined
    if (text !== undefined) onEvent({ event: name, data: text })
  }

  const lines = createLineReader((line) => {
    if (line === '') {
      dispatch()
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon === -1 ? line : line.slice(0, colon)
    const from = colon === -1 ? line.length : line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1
    const value = line.slice(from)
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === 'event') event = value
  }, options)

  return {
    push: lines.push,
    end() {
      lines.end()
      dispatch()
    },
  }
}
