import { Pool } from 'undici'
import { createRng } from '../../packages/quintain/src/core/index.ts'
import { promptText } from '../single-turn/text.ts'
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
  private readonly pool: Pool
  private readonly served: Served
  private readonly options: LoadOptions
  private asked = 0

  constructor(served: Served, options: LoadOptions) {
    this.served = served
    this.options = options
    this.pool = new Pool(`http://127.0.0.1:${served.port}`, { connections: 4_096, keepAliveTimeout: 60_000 })
  }

  async call(onFirst: () => void = () => {}): Promise<Call> {
    const index = this.asked++
    const { stream, promptChars } = this.options
    const { keys, path } = this.served
    const key = keys[index % Math.max(1, keys.length)]
    const body = JSON.stringify({
      model: 'bench',
      stream,
      messages: [{ role: 'user', content: promptText(index, promptChars) }],
    })
    const began = performance.now()
    let firstMs = 0
    const reply = await this.pool.request({
      path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body,
    })
    let text = ''
    reply.body.setEncoding('utf8')
    for await (const piece of reply.body as AsyncIterable<string>) {
      if (firstMs === 0) {
        firstMs = performance.now() - began
        onFirst()
      }
      text += piece
    }
    const end = stream ? '[DONE]' : '"stop"'
    if (reply.statusCode !== 200 || !text.includes(end))
      throw new Error(`status ${reply.statusCode}: ${text.slice(0, 200)}`)
    return { firstMs, totalMs: performance.now() - began }
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

  close(): Promise<void> {
    return this.pool.close()
  }
}
