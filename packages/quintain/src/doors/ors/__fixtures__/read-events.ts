export interface ReadEvent {
  event: string
  /** As the reference clients read it, which take leading white space of any kind off each line. */
  data: string
  /** As it was sent, behind `data: `. */
  raw: string
}

/** Reads a stream of events as the clients of `ors-sdk` and `openreward` do. */
export function readEvents(stream: string): ReadEvent[] {
  const events: ReadEvent[] = []
  let event = ''
  let raw: string[] = []
  for (const line of stream.split('\n')) {
    if (line === '') {
      const data = raw.map((text) => text.replace(/^[\s\u0085\u001c-\u001f]+/u, '')).join('\n')
      if (event !== '') events.push({ event, data, raw: raw.join('\n') })
      event = ''
      raw = []
      continue
    }
    if (line.startsWith('event: ')) event = line.slice(7)
    if (line.startsWith('data: ')) raw.push(line.slice(6))
  }
  return events
}
