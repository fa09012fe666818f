import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Turn } from '../core/environment.ts'
import { QuintainError } from '../core/errors.ts'
import type { FaultError } from '../core/fault-error.ts'
import type { Tool } from '../core/tool.ts'
import { AttemptEndpoint } from './attempt-endpoint.ts'
import { loadServer } from './sdk.ts'
import type { ServedCall } from './served-calls.ts'
import { BodyTooLarge, sendResponse, webRequest } from './web-request.ts'

export type { ServedCall } from './served-calls.ts'

/** Where tools are served. */
export interface ServeToolsOptions {
  /** Loopback only: an attempt's tools are for the agent beside it. Default `127.0.0.1`. */
  host?: '127.0.0.1' | '::1'
  /** Default 0: any that is free. */
  port?: number
  /** Bytes of one request. Default 4 MiB. */
  maxBodyBytes?: number
}

/** What one attempt serves. */
export interface MountOptions {
  /** The attempt's tools, or what gives them whenever they are asked for. */
  tools: readonly Tool[] | (() => readonly Tool[] | Promise<readonly Tool[]>)
  /** Told to clients as the server's instructions. */
  instructions?: string
  /** Ask for a bearer token as well as for the address; it is in `headers`. Default false. */
  bearer?: boolean
  /** Milliseconds of one call, and as many that it may wait behind others before. Default 60,000. */
  callMs?: number
  /** Calls that may wait behind the one that runs; more are refused in band. Default 64. */
  maxWaiting?: number
  /** Sessions of legacy clients at once. Default 16. */
  maxSessions?: number
  /** Milliseconds between signs of life to a client that asked for progress. Default 5,000. */
  progressMs?: number
  /** Takes secrets out of the message of an error that a tool threw, which is shown to the agent. */
  redact?(text: string): string
  /** A tool gave a turn. Its reward and its end are told here and nowhere else. */
  onTurn?(turn: Turn, call: ServedCall): void
  /** A tool threw, hung, or returned what is no tool result. A `FaultError` is among them. See `Mount.check`. */
  onFailure?(thrown: unknown, call: ServedCall): void
  /** Closes the mount when the attempt is over. */
  signal?: AbortSignal
}

/** One attempt's address. */
export interface Mount {
  /** `http://127.0.0.1:PORT/m/HANDLE/mcp`; the handle cannot be guessed and is a credential. */
  readonly url: string
  /** What a client must send with every request. */
  readonly headers: Readonly<Record<string, string>>
  /** The environment's word for the end of the episode; every later call is refused in band. */
  readonly over: string | undefined
  /** Calls that were carried out. They are in no trajectory and in no count of the engine's. */
  readonly calls: number
  /** The first failure of the world's tools, as a fault: one threw, hung, or returned what is no tool result. */
  readonly failure: FaultError | undefined
  /**
   * Throws `failure`, where there is one. A world calls it in `finish()`, so that an attempt whose tools failed is a fault
   * and not a score.
   */
  check(): void
  /** Tells clients that the tools are others now. */
  toolsChanged(): void
  /** Stops its calls, ends its sessions, forgets its address. */
  close(): Promise<void>
}

/** A server of tools: one for a process, with an address for each attempt. It keeps the process alive while one is open. */
export interface ToolServer {
  readonly port: number
  mount(options: MountOptions): Mount
  /** Closes every mount and the port. */
  close(): Promise<void>
}

interface Mounted {
  endpoint: AttemptEndpoint
  token: Buffer | undefined
}

/**
 * Serves worlds' tools over MCP, streamable HTTP, to clients of both eras: 2026-07-28, and the revisions with
 * `initialize` before it. Each attempt has an address of its own with a tool list of its own.
 *
 * Agents reach tools here and nothing else: no task, no reward, no reset. Requests with a foreign `Host` or `Origin`
 * are refused (DNS rebinding). Throws `needs_unmet` when `@modelcontextprotocol/server` is not installed and `usage`
 * for an address that cannot be had.
 *
 * @example
 * const server = await serveTools()
 * const mount = server.mount({ tools: await world.tools('agent') })
 * console.log(mount.url)
 */
export async function serveTools(options: ServeToolsOptions = {}): Promise<ToolServer> {
  const { host = '127.0.0.1', port = 0, maxBodyBytes = 4 * 1024 * 1024 } = options
  if (host !== '127.0.0.1' && host !== '::1')
    throw new QuintainError('usage', 'serveTools({ host }) listens on loopback only: 127.0.0.1 or ::1.')
  // Missing packages are told now, not at the first request.
  await loadServer()
  const mounts = new Map<string, Mounted>()
  // A client that keeps a connection for later should not find it closed while it sends.
  const http = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    serve(request, response, { mounts, maxBodyBytes }).catch(() => {
      if (!response.headersSent) refuse(response, 500, 'internal error')
      else response.destroy()
    })
  })
  await listen(http, host, port)
  // While a mount is open the server keeps the process alive, and nothing else does: no caller's connection, nor it alone.
  http.unref()
  http.on('connection', (socket) => socket.unref())
  const address = http.address() as AddressInfo
  const origin = `http://${host === '::1' ? '[::1]' : host}:${address.port}`
  return {
    port: address.port,
    mount(given) {
      const mount = openMount(mounts, origin, given, () => {
        if (mounts.size === 0) http.unref()
      })
      http.ref()
      return mount
    },
    async close() {
      const open = [...mounts.values()]
      mounts.clear()
      await Promise.all(open.map(({ endpoint }) => endpoint.close()))
      const closed = new Promise<void>((resolve) => http.close(() => resolve()))
      http.closeAllConnections()
      await closed
    },
  }
}

function listen(http: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    http.once('error', (cause) => {
      reject(
        new QuintainError('usage', `serveTools: cannot listen on ${host}, port ${port}: ${cause.message}`, {
          cause,
        }),
      )
    })
    http.listen(port, host, () => resolve())
  })
}

function openMount(
  mounts: Map<string, Mounted>,
  origin: string,
  options: MountOptions,
  onClosed: () => void,
): Mount {
  const handle = randomBytes(24).toString('base64url')
  const token = options.bearer === true ? randomBytes(24).toString('base64url') : undefined
  const endpoint = new AttemptEndpoint({
    tools: options.tools,
    instructions: options.instructions,
    callMs: options.callMs ?? 60_000,
    maxWaiting: options.maxWaiting ?? 64,
    maxSessions: options.maxSessions ?? 16,
    progressMs: options.progressMs ?? 5_000,
    redact: options.redact ?? ((text) => text),
    onTurn: options.onTurn,
    onFailure: options.onFailure,
  })
  mounts.set(handle, { endpoint, token: token === undefined ? undefined : Buffer.from(`Bearer ${token}`) })
  const close = async () => {
    options.signal?.removeEventListener('abort', close)
    mounts.delete(handle)
    await endpoint.close()
    onClosed()
  }
  options.signal?.addEventListener('abort', close, { once: true })
  if (options.signal?.aborted === true) void close()
  return {
    url: `${origin}/m/${handle}/mcp`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    get over() {
      return endpoint.over
    },
    get calls() {
      return endpoint.count
    },
    get failure() {
      return endpoint.failure
    },
    check() {
      if (endpoint.failure !== undefined) throw endpoint.failure
    },
    toolsChanged: () => endpoint.toolsChanged(),
    close,
  }
}

const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { mounts, maxBodyBytes }: { mounts: ReadonlyMap<string, Mounted>; maxBodyBytes: number },
): Promise<void> {
  const { host = '', origin, authorization = '' } = request.headers
  // A page that resolved its own name to this machine sends its own name.
  if (!loopback.test(host)) return refuse(response, 403, 'forbidden: the Host header names another machine')
  if (origin !== undefined && !loopback.test(origin.replace(/^https?:\/\//i, '')))
    return refuse(response, 403, 'forbidden: the Origin header names another machine')
  const url = URL.parse(request.url ?? '', `http://${host}`)
  const handle = /^\/m\/([A-Za-z0-9_-]{32})\/mcp$/.exec(url?.pathname ?? '')?.[1]
  const mounted = handle === undefined ? undefined : mounts.get(handle)
  if (url === null || mounted === undefined) return refuse(response, 404, 'not found')
  const { token, endpoint } = mounted
  if (token !== undefined && !sameBytes(Buffer.from(authorization), token)) {
    response.setHeader('www-authenticate', 'Bearer')
    return refuse(response, 401, 'unauthorized')
  }
  const gone = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new Error('the caller has gone'))
  })
  let given: Request
  try {
    given = await webRequest(request, { url, maxBodyBytes, signal: gone.signal })
  } catch (thrown) {
    if (!(thrown instanceof BodyTooLarge)) throw thrown
    // What is left of the body is not read.
    response.setHeader('connection', 'close')
    return refuse(response, 413, `the body has more than ${maxBodyBytes} bytes`)
  }
  await sendResponse(await endpoint.fetch(given), response)
}

function refuse(response: ServerResponse, status: number, error: string): void {
  const body = JSON.stringify({ error })
  response.writeHead(status, { 'content-type': 'application/json' }).end(body)
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
