import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { messageOf, QuintainError } from './errors.ts'
import { nestsTooDeep } from './json-depth.ts'

/** A request that cannot be answered as it was meant, with the status that says so. */
export class HttpProblem extends Error {
  override readonly name = 'HttpProblem'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}

/** One request. */
export interface HttpCall {
  readonly method: string
  /** Without the query, as it was sent: no part of it is decoded. */
  readonly path: string
  readonly query: URLSearchParams
  readonly request: IncomingMessage
  readonly response: ServerResponse
  header(name: string): string | undefined
  /** A cookie by its name. */
  cookie(name: string): string | undefined
  /** The body, read once. Throws `HttpProblem` 400 for what is no JSON and 413 for what is too long; undefined for an empty one. */
  json(): Promise<unknown>
}

export interface HttpAnswer {
  /** 200 when absent. */
  status?: number
  headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is, as `text/plain` unless `headers` say otherwise. */
  text?: string
}

export interface HttpPortOptions {
  host: string
  /** 0: any that is free. */
  port: number
  /** Clients must show it: `Authorization: Bearer`, or `X-API-Key`. */
  token?: string
  /** Paths that are answered without it, such as `/health`. */
  open?: ReadonlySet<string>
  /** Names other than those of loopback by which requests may call this machine. */
  names?: ReadonlySet<string>
  /** Bytes of one body. 16 MiB when absent. */
  maxBodyBytes?: number
  /** Undefined: it has answered by itself, such as with a stream. */
  handle(call: HttpCall): Promise<HttpAnswer | undefined>
  /** A request to become a WebSocket, past the same checks. */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void
  /** The body of a refusal. `{ detail }` when absent. */
  problem?(status: number, message: string): unknown
  log(line: string): void
}

export interface HttpPort {
  readonly port: number
  /** `http://HOST:PORT`. */
  readonly url: string
  /** Takes no more connections, lets requests that are being answered have a second, and ends every connection. */
  close(): Promise<void>
}

const loopback: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]', '::1'])

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return loopback.has(host)
}

/**
 * Listens for requests. Throws `usage` for an address that cannot be had, and for one beyond loopback without a token.
 */
export async function openHttp(options: HttpPortOptions): Promise<HttpPort> {
  const { host, port } = options
  if (options.token === undefined && !isLoopback(host)) {
    throw new QuintainError(
      'usage',
      `On ${host} a token is needed: whoever reaches that address may do all that is served there.`,
      { facts: { host } },
    )
  }
  const guard = guardOf(options)
  const answering = new Set<ServerResponse>()
  const server = createServer({ keepAliveTimeout: 75_000, headersTimeout: 10_000 }, (request, response) => {
    answering.add(response)
    response.once('close', () => answering.delete(response))
    const call = new Call(request, response, options.maxBodyBytes ?? 16 * 2 ** 20)
    answer(call, guard, options).catch((thrown: unknown) => {
      options.log(`http: ${call.method} ${call.path}: ${messageOf(thrown)}`)
      response.destroy()
    })
  })
  const { upgrade } = options
  if (upgrade !== undefined) {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Node hands the socket over without one; a client that hangs up now would end the process.
      socket.on('error', () => socket.destroy())
      const refused = guard(request)
      if (refused === undefined) upgrade(request, socket, head)
      else socket.end(`HTTP/1.1 ${refused.status} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
  }
  await listening(server, host, port)
  server.on('error', (error) => options.log(`http: ${messageOf(error)}`))
  const bound = (server.address() as AddressInfo).port
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return {
    port: bound,
    url: `http://${shown}:${bound}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      await answered(answering)
      server.closeAllConnections()
      await closed
    },
  }
}

/** How long a server that closes waits for what it is answering. */
const lastAnswersMs = 1_000

/** Resolves when all are answered, or soon anyway: a stream or a call that hangs must not keep a server from ending. */
async function answered(answering: ReadonlySet<ServerResponse>): Promise<void> {
  if (answering.size === 0) return
  const timer = Promise.withResolvers<void>()
  const timeout = setTimeout(timer.resolve, lastAnswersMs)
  const all = [...answering].map((response) => new Promise((resolve) => response.once('close', resolve)))
  await Promise.race([Promise.all(all), timer.promise])
  clearTimeout(timeout)
}

async function answer(call: Call, guard: Guard, options: HttpPortOptions): Promise<void> {
  const { response, request } = call
  try {
    const refused = guard(request)
    if (refused !== undefined) throw refused
    const given = await options.handle(call)
    if (given !== undefined && !response.headersSent) send(response, given)
  } catch (thrown) {
    const known = thrown instanceof HttpProblem
    // Nobody is there any more, and that is no defect.
    if (!known && request.destroyed && !request.complete) {
      response.destroy()
      return
    }
    if (!known) options.log(`http: ${request.method} ${call.path}: ${messageOf(thrown)}`)
    const problem = known ? thrown : new HttpProblem(500, 'The server failed; its log says why.')
    if (response.headersSent) {
      response.destroy()
      return
    }
    // Whoever sends too much, or what nobody reads, does not stop because it is told.
    const isSending = bodyIsLeft(request)
    if (isSending) response.setHeader('connection', 'close')
    const body = options.problem?.(problem.status, problem.message) ?? { detail: problem.message }
    const refusal = { status: problem.status, headers: problem.headers, json: body }
    send(response, refusal, isSending ? () => bodyTaken(request) : undefined)
  }
}

/** What is taken of a body that nobody reads, before whoever sends it is hung up on. */
const unread = { bytes: 64 * 2 ** 20, ms: 5_000, idleMs: 500 }

/**
 * Takes a body and forgets it, so far and so long as `unread` says. One that is hung up on while it sends is told by its
 * system that the connection broke, and never sees the answer.
 */
function bodyTaken(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const done = () => {
      clearTimeout(all)
      clearTimeout(idle)
      request.off('data', take)
      resolve()
    }
    const all = setTimeout(done, unread.ms)
    let idle = setTimeout(done, unread.idleMs)
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > unread.bytes) return done()
      clearTimeout(idle)
      idle = setTimeout(done, unread.idleMs)
    }
    request.on('data', take).once('end', done).once('close', done)
    request.resume()
  })
}

/** A body was announced that has not come to its end. */
function bodyIsLeft({ headers, complete }: IncomingMessage): boolean {
  return (
    !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
  )
}

/** Sends an answer at once, and ends it when `until` says so. */
function send(
  response: ServerResponse,
  { status = 200, headers = {}, json, text }: HttpAnswer,
  until?: () => Promise<void>,
): void {
  const body = text ?? (json === undefined ? '' : JSON.stringify(json))
  const type = text === undefined ? 'application/json' : 'text/plain; charset=utf-8'
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body), ...headers })
  if (until === undefined) {
    response.end(body)
    return
  }
  response.write(body)
  void until().then(() => response.end())
}

type Guard = (request: IncomingMessage) => HttpProblem | undefined

/** What a request must be to be looked at: meant for this machine, and with the token where there is one. */
function guardOf({ token, open, names, host }: HttpPortOptions): Guard {
  const wanted = token === undefined ? undefined : sha256(token)
  const known = new Set([...loopback, ...(names ?? []), host.toLowerCase()])
  // Beyond loopback nobody knows by which names this machine is called; the token is what protects it.
  const checksNames = isLoopback(host) || names !== undefined
  return ({ headers, url = '' }) => {
    if (checksNames && !isFor(headers.host, known))
      return new HttpProblem(421, 'That host is not served here.')
    if (headers.origin !== undefined && !isFor(headers.origin.replace(/^https?:\/\//i, ''), known))
      return new HttpProblem(403, 'Requests of web pages of other origins are refused.')
    if (wanted === undefined || open?.has(url.split('?', 1)[0]!) === true) return undefined
    const bearer = /^bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]
    const key = headers['x-api-key']
    const shown = bearer ?? (Array.isArray(key) ? key[0] : key)
    if (shown !== undefined && timingSafeEqual(sha256(shown), wanted)) return undefined
    return new HttpProblem(401, 'Show the token of this server: Authorization: Bearer TOKEN.', {
      'www-authenticate': 'Bearer',
    })
  }
}

function isFor(host: string | undefined, names: ReadonlySet<string>): boolean {
  const name = /^(\[[0-9a-f:]+\]|[^:/]+)(?::\d{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase()
  return name !== undefined && names.has(name)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

class Call implements HttpCall {
  readonly method: string
  readonly path: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  private readonly search: string
  private readonly maxBodyBytes: number
  private read: Promise<unknown> | undefined

  constructor(request: IncomingMessage, response: ServerResponse, maxBodyBytes: number) {
    this.request = request
    this.response = response
    this.maxBodyBytes = maxBodyBytes
    this.method = request.method ?? 'GET'
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.search = mark < 0 ? '' : url.slice(mark + 1)
  }

  get query(): URLSearchParams {
    return new URLSearchParams(this.search)
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value[0] : value
  }

  cookie(name: string): string | undefined {
    for (const pair of (this.request.headers.cookie ?? '').split(';')) {
      const at = pair.indexOf('=')
      if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim()
    }
    return undefined
  }

  json(): Promise<unknown> {
    this.read ??= this.readJson()
    return this.read
  }

  private async readJson(): Promise<unknown> {
    const tooLong = () => new HttpProblem(413, `The body has more than ${this.maxBodyBytes} bytes.`)
    if (Number(this.request.headers['content-length'] ?? 0) > this.maxBodyBytes) throw tooLong()
    const chunks: Buffer[] = []
    let bytes = 0
    // One that is left in the middle is still to be answered.
    const body: AsyncIterable<Buffer> = this.request.iterator({ destroyOnReturn: false })
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > this.maxBodyBytes) throw tooLong()
      chunks.push(chunk)
    }
    const text = (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8')
    if (text.trim() === '') return undefined
    if (nestsTooDeep(text)) throw new HttpProblem(400, 'The body nests too deep.')
    try {
      return JSON.parse(text)
    } catch {
      throw new HttpProblem(400, 'The body is not valid JSON.')
    }
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new QuintainError(
          'usage',
          `Nothing can listen on ${host}:${port}: ${messageOf(cause)}. Choose another port (--port), or 0 for any that is free.`,
          {
            cause,
            facts: { host, port },
          },
        ),
      ),
    )
    server.listen({ host, port }, () => {
      server.removeAllListeners('error')
      resolve()
    })
  })
}
