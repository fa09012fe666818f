import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { messageOf } from '../../core/index.ts'
import { BodyTooLarge, webRequest } from '../../mcp/web-request.ts'
import type { ToolDesk } from './tool-desk.ts'

/** Tools as JSON over HTTP, for programs that speak no MCP. One server for a process. */
export interface JsonTools {
  readonly port: number
  /** Serves a desk at an address that cannot be guessed. `closed` forgets it. */
  mount(desk: ToolDesk): { path: string; close(): void }
  close(): Promise<void>
}

const maxBodyBytes = 4 * 2 ** 20
const loopback = /^(?:localhost|127\.0\.0\.1)(?::\d{1,5})?$/i

/**
 * Listens on a free port of 127.0.0.1. `GET` of an address gives the tools in OpenAI's form; `POST` to `NAME` below it, with the
 * arguments as body, carries a call out and gives `{ content, error?, done? }`.
 */
export async function serveJsonTools(): Promise<JsonTools> {
  const desks = new Map<string, ToolDesk>()
  const server = createServer((request, response) => {
    answer(request, response, desks).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve())
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    mount(desk) {
      const handle = randomBytes(24).toString('base64url')
      desks.set(handle, desk)
      return { path: `/t/${handle}`, close: () => void desks.delete(handle) }
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  desks: ReadonlyMap<string, ToolDesk>,
): Promise<void> {
  const send = (status: number, body: unknown) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const { host = '', origin } = request.headers
  // A page that resolved its own name to this machine sends its own name (DNS rebinding).
  if (!loopback.test(host) || (origin !== undefined && !loopback.test(origin.replace(/^https?:\/\//i, ''))))
    return send(403, { error: 'forbidden' })
  const url = URL.parse(request.url ?? '', `http://${host}`)
  const [, handle = '', name] = /^\/t\/([\w-]{32})(?:\/([^/]*))?\/?$/.exec(url?.pathname ?? '') ?? []
  const desk = desks.get(handle)
  if (desk === undefined || url === null) return send(404, { error: 'not found' })
  if (name === undefined || name === '') {
    if (request.method !== 'GET')
      return send(405, { error: 'GET lists the tools; POST a call to /NAME below' })
    return send(
      200,
      desk.specs.map(({ name, description, parameters }) => ({
        type: 'function',
        function: { name, description, parameters },
      })),
    )
  }
  if (request.method !== 'POST') return send(405, { error: 'POST the arguments of the call' })
  let body: string
  try {
    const signal = new AbortController().signal
    body = await (await webRequest(request, { url, maxBodyBytes, signal })).text()
  } catch (thrown) {
    if (!(thrown instanceof BodyTooLarge)) throw thrown
    // What is left of the body is read and dropped: a client that still writes would not hear the answer.
    request.resume()
    return send(413, { error: `the arguments have more than ${maxBodyBytes} bytes` })
  }
  try {
    send(200, await desk.call(decodeURIComponent(name), body))
  } catch (thrown) {
    // Whoever asked is told that there is no answer; why, and whose fault it is, is for the records.
    if (thrown instanceof URIError) send(400, { error: messageOf(thrown) })
    else send(500, { error: 'the rollout is over, or its world failed' })
  }
}
