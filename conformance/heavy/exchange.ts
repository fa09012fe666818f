/** A request to an ORS server and its reply, without what differs from one time to the next. */
export interface Exchange {
  method: string
  path: string
  /** Handle of the session that its header names. */
  session?: string
  /** JSON that was sent. */
  body?: unknown
  status: number
  reply: Reply
}

export type Reply =
  | { form: 'json'; value: unknown }
  /** The events of a stream but its pieces, which are one `result` here. */
  | { form: 'events'; events: { event: string; data: unknown }[] }

/** What went over the wire. */
export interface RawExchange {
  method: string
  path: string
  session: string | undefined
  body: string
  status: number
  type: string
  reply: string
}

/** Gives names that stay to what a server names at random, in the order in which it does. */
export class Handles {
  private readonly handleOf = new Map<string, string>()
  private readonly counts = new Map<string, number>()

  /** The exchange with handles; ids that are new in its reply get theirs. */
  stable({ method, path, session, body, status, type, reply }: RawExchange): Exchange {
    const kind = path === '/create_session' ? 'session' : 'call'
    return {
      method,
      path,
      ...(session === undefined ? {} : { session: this.known(session) }),
      ...(body === '' ? {} : { body: this.hide(JSON.parse(body)) }),
      status,
      reply: type.startsWith('text/event-stream')
        ? { form: 'events', events: this.events(reply, kind) }
        : { form: 'json', value: this.hide(reply === '' ? null : JSON.parse(reply)) },
    }
  }

  /** The handle of an id; the id itself where it was never given out. */
  known(id: string): string {
    return this.handleOf.get(id) ?? id
  }

  /** What a recorded value means at this server: ids in the place of handles. */
  meant(value: unknown): unknown {
    const ids = new Map([...this.handleOf].map(([id, handle]) => [handle, id]))
    return replaced(value, (text) => ids.get(text) ?? text)
  }

  private hide(value: unknown): unknown {
    return replaced(value, (text) => this.known(text))
  }

  private events(stream: string, kind: string): { event: string; data: unknown }[] {
    const events: { event: string; data: unknown }[] = []
    let pieces = ''
    for (const block of stream.split('\n\n')) {
      const event = /^event: (.*)$/m.exec(block)?.[1]
      const data = /^data: ?(.*)$/m.exec(block)?.[1] ?? ''
      if (event === 'task_id') events.push({ event, data: this.given(data, kind) })
      else if (event === 'chunk' || event === 'end') {
        pieces += data
        if (event === 'end')
          events.push({ event: 'result', data: pieces === '' ? null : this.hide(JSON.parse(pieces)) })
      } else if (event !== undefined) events.push({ event, data })
    }
    return events
  }

  private given(id: string, kind: string): string {
    const before = this.handleOf.get(id)
    if (before !== undefined) return before
    const count = (this.counts.get(kind) ?? 0) + 1
    this.counts.set(kind, count)
    const handle = `${kind}-${count}`
    this.handleOf.set(id, handle)
    return handle
  }
}

/** A JSON value with each of its texts put through a function. */
function replaced(value: unknown, put: (text: string) => string): unknown {
  if (typeof value === 'string') return put(value)
  if (Array.isArray(value)) return value.map((one) => replaced(one, put))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, put)]))
}
