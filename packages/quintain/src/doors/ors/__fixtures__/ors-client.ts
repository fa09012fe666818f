import { request } from 'node:http'
import { type ReadEvent, readEvents } from './read-events.ts'

export interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any
}

export interface Output {
  blocks: { type: string; text?: string; detail: null }[]
  metadata: Record<string, unknown> | null
  reward: number | null
  finished: boolean
}

/** What clients of the protocol send, in small steps. */
export class OrsClient {
  readonly url: string
  readonly headers: Record<string, string>

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url
    this.headers = headers
  }

  async ask(method: 'GET' | 'POST', path: string, body?: unknown, sid?: string): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { ...this.headers, ...(sid === undefined ? {} : { 'x-session-id': sid }) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    return { status: response.status, headers: response.headers, json: isJson ? JSON.parse(text) : text }
  }

  /** A name for a session, as clients get it. */
  async name(): Promise<string> {
    const { json } = await this.ask('POST', '/create_session', {})
    const [first, last] = readEvents(json as string) as [ReadEvent, ReadEvent]
    if (first.event !== 'task_id' || last.event !== 'end' || last.data !== '') throw new Error(`${json}`)
    return first.data
  }

  /** A session with its episode. */
  async session(task: unknown = { split: 'train', index: 0 }): Promise<string> {
    const sid = await this.name()
    const { status, json } = await this.ask('POST', '/create', task, sid)
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(json)}`)
    return sid
  }

  async call(sid: string, name: string, input: unknown = {}, more: object = {}): Promise<ReadEvent[]> {
    const { status, json } = await this.ask('POST', '/call', { name, input, ...more }, sid)
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(json)}`)
    return readEvents(json as string)
  }

  /** The output of a call that went well. */
  async output(sid: string, name: string, input: unknown = {}, more: object = {}): Promise<Output> {
    return outputOf(await this.call(sid, name, input, more))
  }

  /** Sends a call and leaves after so many milliseconds, without having read anything. */
  leave(sid: string, name: string, input: unknown, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const sent = request(`${this.url}/call`, {
        method: 'POST',
        headers: { ...this.headers, 'x-session-id': sid },
      })
      sent.on('error', () => {})
      sent.on('close', () => resolve())
      sent.end(JSON.stringify({ name, input }))
      setTimeout(() => sent.destroy(), ms)
    })
  }
}

export function outputOf(events: readonly ReadEvent[]): Output {
  if (events.at(-1)!.event !== 'end') throw new Error(JSON.stringify(events))
  const pieces = events.filter(({ event }) => event !== 'task_id').map(({ data }) => data)
  const { ok, output } = JSON.parse(pieces.join('')) as { ok: boolean; output: Output }
  if (!ok) throw new Error(pieces.join(''))
  return output
}
