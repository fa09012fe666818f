import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { RawExchange } from './exchange.ts'

export interface RecordingProxy {
  url: string
  /** Every exchange, in the order in which the requests came, but signs of life, whose number is chance. */
  exchanges: RawExchange[]
  /** Sessions of which a sign of life was not answered by 200. */
  unanswered: Set<string>
  close(): Promise<void>
}

/** Stands between a client and a server, passes everything on as it comes, and notes it. */
export async function recordingProxy(target: string): Promise<RecordingProxy> {
  const exchanges: RawExchange[] = []
  const unanswered = new Set<string>()

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = incoming
    const body = await buffer(incoming)
    const session = headers['x-session-id']
    const noted: RawExchange = {
      ...{ method, path, session: typeof session === 'string' ? session : undefined },
      ...{ body: body.toString(), status: 0, type: '', reply: '' },
    }
    if (path !== '/ping') exchanges.push(noted)
    const { 'transfer-encoding': _, ...kept } = headers
    const asked = request(new URL(path, target), {
      method,
      headers: { ...kept, 'content-length': String(body.length) },
    })
    asked.on('error', () => outgoing.destroy())
    asked.on('response', (response) => {
      noted.status = response.statusCode!
      noted.type = response.headers['content-type'] ?? ''
      if (path === '/ping' && noted.status !== 200) unanswered.add(noted.session ?? '')
      outgoing.writeHead(noted.status, response.headers)
      response.setEncoding('utf8').on('data', (text: string) => {
        noted.reply += text
        outgoing.write(text)
      })
      response.on('end', () => outgoing.end())
    })
    asked.end(body)
  }

  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    unanswered,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
