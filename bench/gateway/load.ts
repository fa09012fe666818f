import { createRng } from '../../packages/quintain/src/core/index.ts'
import { promptText } from '../single-turn/text.ts'
import { ReplyClient } from './reply-client.ts'
import type { Served } from './server-process.ts'

export interface Call {
  /** Milliseconds from its start to the first byte of the body, and to its end. */
  firstMs: number
  totalMs: number
}

export interface LoadOptions {
  stream: boolean
  promptChars: number
}

/** Asks one server, over kept connections. Calls take turns with its credentials, as attempts that all go on. */
export class Load {
  private readonly all: ReplyClient[] = []
  private readonly idle: ReplyClient[] = []
  private readonly served: Served
  private readonly options: LoadOptions
  private asked = 0

  constructor(served: Served, options: LoadOptions) {
    this.served = served
    this.options = options
  }

  async call(onFirst: () => void = () => {}): Promise<Call> {
    const request = this.request(this.asked++)
    const client = this.idle.pop() ?? (await this.open())
    const began = performance.now()
    const { status, firstAt, text } = await client.ask(request, onFirst)
    const totalMs = performance.now() - began
    const end = this.options.stream ? '[DONE]' : '"stop"'
    if (status !== 200 || !text.includes(end)) throw new Error(`status ${status}: ${text.slice(0, 200)}`)
    this.idle.push(client)
    return { firstMs: firstAt - began, totalMs }
  }

  private async open(): Promise<ReplyClient> {
    const client = await ReplyClient.open(this.served.port)
    this.all.push(client)
    return client
  }

  private request(index: number): string {
    const { stream, promptChars } = this.options
    const { keys, path, port } = this.served
    const key = keys[index % Math.max(1, keys.length)]
    const messages = [{ role: 'user', content: promptText(index, promptChars) }]
    const body = JSON.stringify({ model: 'bench', stream, messages })
    const authorization = key === undefined ? '' : `authorization: Bearer ${key}\r\n`
    return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n${authorization}content-length: ${body.length}\r\n\r\n${body}`
  }

  /** Calls one after the other in so many lanes. Gives how many there were, and how long they took. */
  async saturate(lanes: number, forMs: number): Promise<{ calls: number; ms: number }> {
    const began = performance.now()
    let done = 0
    const lane = async (): Promise<void> => {
      while (performance.now() - began < forMs) {
        await this.call()
        done++
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    return { calls: done, ms: performance.now() - began }
  }

  /** Calls at random moments, at a rate on average, whether or not earlier ones are answered. */
  async atRate(perSecond: number, forMs: number): Promise<Call[]> {
    const rng = createRng('arrivals')
    const calls: Promise<Call>[] = []
    const began = performance.now()
    let next = 0
    while (performance.now() - began < forMs) {
      while (next <= performance.now() - began) {
        calls.push(this.call())
        next += (-Math.log(1 - rng.next()) * 1000) / perSecond
      }
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    return Promise.all(calls)
  }

  close(): void {
    for (const client of this.all) client.close()
  }
}
