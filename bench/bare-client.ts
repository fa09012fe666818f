import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent, request } from 'undici'
import { cpuTimes } from './cpu-time.ts'
import { promptText } from './single-turn/text.ts'

export interface BareOptions {
  url: string
  requests: number
  inFlight: number
  promptChars: number
  /** undici's `request()`, the quickest there is; the `http` module with kept connections; the global `fetch`. */
  client: 'undici' | 'http' | 'fetch'
}

/**
 * The least that a program can do which asks a model: build a body, send it over kept connections, parse the reply. One
 * process. Gives the milliseconds from the first request to the last reply, and the processor time of one request.
 */
export async function bareClient(options: BareOptions): Promise<{ ms: number; cpuMs: number }> {
  const { url, requests, inFlight, promptChars, client } = options
  const dispatcher = new Agent({ connections: inFlight, pipelining: 1, keepAliveTimeout: 30_000 })
  const agent = new HttpAgent({ keepAlive: true, maxSockets: inFlight })
  const address = `${url}/chat/completions`
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const ask = async (index: number): Promise<unknown> => {
    const body = JSON.stringify({
      model: 'fake',
      messages: [{ role: 'user', content: promptText(index, promptChars) }],
    })
    if (client === 'fetch') {
      const reply = await fetch(address, { method: 'POST', headers, body })
      return reply.json()
    }
    if (client === 'http') {
      return new Promise((resolve, reject) => {
        const sent = httpRequest(address, { method: 'POST', headers, agent }, (reply) => {
          let text = ''
          reply.setEncoding('utf8').on('data', (piece: string) => {
            text += piece
          })
          reply.on('end', () => resolve(JSON.parse(text)))
          reply.on('error', reject)
        })
        sent.on('error', reject)
        sent.end(body)
      })
    }
    const reply = await request(address, { method: 'POST', headers, body, dispatcher })
    return JSON.parse(await reply.body.text())
  }
  let next = 0
  let right = 0
  const lane = async (): Promise<void> => {
    while (next < requests) {
      const { choices } = (await ask(next++)) as { choices?: [{ message: { content: string } }] }
      if (choices?.[0].message.content.endsWith('done')) right++
    }
  }
  const cpuBefore = cpuTimes()
  const began = performance.now()
  await Promise.all(Array.from({ length: inFlight }, lane))
  const ms = performance.now() - began
  const cpuMs = (cpuTimes().ownMs - cpuBefore.ownMs) / requests
  agent.destroy()
  await dispatcher.close()
  if (right !== requests) throw new Error(`${requests - right} of ${requests} replies were not as expected`)
  return { ms, cpuMs }
}
