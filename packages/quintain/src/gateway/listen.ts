import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QuintainError } from '../core/errors.ts'

/** Answers one request; `expectsContinue` where its body is sent only once it was asked for. */
export type OnRequest = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean) => void

export interface Listening {
  readonly port: number
  readonly socketPath: string
  /** Ends every connection and both servers. */
  close(): Promise<void>
}

/**
 * Listens on 127.0.0.1 and on a Unix socket (on Windows a named pipe) in a folder of its own, which only this user can
 * enter. Throws `usage` for a port that cannot be had.
 */
export async function listen(
  onRequest: { tcp: OnRequest; socket: OnRequest },
  { port, bodyMs, malformed }: { port: number; bodyMs: number; malformed(status: number): string },
): Promise<Listening> {
  const servers = [onRequest.tcp, onRequest.socket].map((handle) => httpServer(handle, { bodyMs, malformed }))
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
  return { port: (tcp.address() as AddressInfo).port, socketPath: folder.path, close: closeAll }
}

function httpServer(
  handle: OnRequest,
  { bodyMs, malformed }: { bodyMs: number; malformed(status: number): string },
): Server {
  const server = createServer(
    {
      // A client that keeps a connection for later should not find it closed while it sends.
      keepAliveTimeout: 75_000,
      requestTimeout: bodyMs,
      headersTimeout: Math.min(bodyMs, 60_000),
      connectionsCheckingInterval: Math.min(5_000, Math.max(20, bodyMs / 4)),
      // Of what waits to be sent, and of what waits to be read; thousands of streams may be open.
      highWaterMark: 16 * 1024,
    },
    (request, response) => handle(request, response, false),
  )
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

async function socketFolder(): Promise<{ path: string; remove(): void }> {
  if (process.platform === 'win32') {
    return { path: `\\\\.\\pipe\\quintain-gateway-${randomBytes(16).toString('hex')}`, remove() {} }
  }
  // A socket's path may have a hundred characters or so.
  const base = tmpdir().length > 60 ? '/tmp' : tmpdir()
  const folder = await mkdtemp(join(base, 'quintain-gateway-'))
  const clear = (): void => rmSync(folder, { recursive: true, force: true })
  // A run that is broken off closes nothing.
  process.once('exit', clear)
  return {
    path: join(folder, 'gateway.sock'),
    remove() {
      process.off('exit', clear)
      clear()
    },
  }
}
