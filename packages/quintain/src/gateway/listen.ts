import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { QuintainError } from '../core/errors.ts'
import { socketFolder } from './socket-folder.ts'

/** Connections of one of the two servers; more are closed as they come. */
const mostConnections = 8_192

/** How long the head of a request may take to come. A credential is in it: until then nobody knows who is there. */
const headMs = 10_000

/** Answers one request; `expectsContinue` where its body is sent only once it was asked for. */
export type OnRequest = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void

export interface Listening {
  readonly port: number
  readonly socketPath: string
  /** Ends every connection and both servers. */
  close(): Promise<void>
}

export interface ListenOptions {
  port: number
  bodyMs: number
  /** The body of an answer to what is no HTTP. */
  malformed(status: number): string
  /** Told of connections that could not be taken, as when all files are in use. */
  onError(thrown: Error): void
}

/**
 * Listens on 127.0.0.1 and on a Unix socket (on Windows a named pipe) in a folder of its own, which only this user can
 * enter. Throws `usage` for a port that cannot be had.
 */
export async function listen(
  onRequest: { tcp: OnRequest; socket: OnRequest },
  options: ListenOptions,
): Promise<Listening> {
  const { port, onError } = options
  const servers = [onRequest.tcp, onRequest.socket].map((handle) => httpServer(handle, options))
  const [tcp, local] = servers as [Server, Server]
  const folder = await socketFolder()
  const closeAll = async (): Promise<void> => {
    await Promise.all(servers.map(closeServer))
    folder.remove()
  }
  try {
    await listening(local, { path: folder.path })
    await listening(tcp, { host: '127.0.0.1', port })
  } catch (cause) {
    await closeAll()
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new QuintainError('usage', `The gateway cannot listen on port ${port} or its socket: ${why}`, {
      cause,
    })
  }
  for (const server of servers) server.on('error', onError)
  return { port: (tcp.address() as AddressInfo).port, socketPath: folder.path, close: closeAll }
}

function httpServer(
  handle: OnRequest,
  { bodyMs, malformed }: Pick<ListenOptions, 'bodyMs' | 'malformed'>,
): Server {
  const server = createServer(
    {
      // A client that keeps a connection for later should not find it closed while it sends.
      keepAliveTimeout: 75_000,
      requestTimeout: bodyMs,
      headersTimeout: Math.min(bodyMs, headMs),
      connectionsCheckingInterval: Math.min(5_000, Math.max(20, bodyMs / 4)),
      // Of what waits to be sent, and of what waits to be read; thousands of streams may be open.
      highWaterMark: 16 * 1024,
    },
    (request, response) => handle(request, response, false),
  )
  server.maxConnections = mostConnections
  server.on('checkContinue', (request, response) => handle(request, response, true))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const status = statuses[error.code ?? ''] ?? 400
    if (!socket.writable || socket.bytesWritten > 0) {
      socket.destroy()
      return
    }
    const body = malformed(status)
    socket.end(
      `HTTP/1.1 ${status} Refused\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
  })
  return server
}

/** What Node says of a request that it cannot read to its end. */
const statuses: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

function listening(server: Server, where: { path: string } | { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
