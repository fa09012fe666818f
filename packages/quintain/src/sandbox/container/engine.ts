import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { sandboxFault } from '../sandbox-fault.ts'

/** What an engine answered. */
export interface EngineAnswer {
  status: number
  body: Buffer
  headers: IncomingMessage['headers']
}

/** Of Docker 20.10 on, and of Podman's compatible interface. */
const apiVersion = 'v1.41'
const answerLimitMs = 60_000

/** A container engine, spoken to over its HTTP interface on a Unix socket. Every failure to talk is a sandbox fault. */
export class Engine {
  readonly #socketPath: string

  constructor(socketPath: string) {
    this.#socketPath = socketPath
  }

  async ask(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    options: { json?: unknown; tar?: Uint8Array; maxBytes?: number } = {},
  ): Promise<EngineAnswer> {
    const body =
      options.tar ?? (options.json === undefined ? undefined : Buffer.from(JSON.stringify(options.json)))
    return new Promise((resolve, reject) => {
      const fail = (error: Error) =>
        reject(sandboxFault('sandbox_io', `the container engine does not answer: ${error.message}`, error))
      const request = httpRequest({
        socketPath: this.#socketPath,
        path: `/${apiVersion}${path}`,
        method,
        timeout: answerLimitMs,
        headers: {
          host: 'localhost',
          ...(body === undefined
            ? {}
            : {
                'content-type': options.tar === undefined ? 'application/json' : 'application/x-tar',
                'content-length': body.length,
              }),
        },
      })
      request.once('timeout', () => request.destroy(new Error(`nothing came for ${answerLimitMs / 1000} s`)))
      request.once('error', fail)
      request.once('response', (response) => {
        const parts: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (options.maxBytes !== undefined && bytes > options.maxBytes)
            response.destroy(new AnswerTooLong())
          else parts.push(chunk)
        })
        response.once('error', (error) => (error instanceof AnswerTooLong ? reject(error) : fail(error)))
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(parts),
            headers: response.headers,
          }),
        )
      })
      request.end(body)
    })
  }

  /** Starts a command that was made by `exec`, and gives its streams: what is written is its input. */
  async attach(exec: string): Promise<Duplex> {
    const body = JSON.stringify({ Detach: false, Tty: false })
    return new Promise((resolve, reject) => {
      const fail = (reason: string) =>
        reject(sandboxFault('sandbox_io', `a command could not be attached: ${reason}`))
      const request = httpRequest({
        socketPath: this.#socketPath,
        path: `/${apiVersion}/exec/${exec}/start`,
        method: 'POST',
        headers: {
          host: 'localhost',
          connection: 'Upgrade',
          upgrade: 'tcp',
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
      })
      request.once('error', (error) => fail(error.message))
      request.once('upgrade', (_response, socket, head) => {
        if (head.length > 0) socket.unshift(head)
        resolve(socket)
      })
      request.once('response', (response) => {
        let said = ''
        response.on('data', (chunk: Buffer) => {
          said = (said + chunk.toString('utf8')).slice(0, mostSaid)
        })
        response.once('end', () => {
          if (noProcess.test(said)) return reject(new NoProcess())
          fail(`the engine answered ${response.statusCode} and did not open a stream`)
        })
      })
      request.end(body)
    })
  }
}

/** Of an answer that is no stream, this much is looked at. */
const mostSaid = 4096
/** A command is a shell of ours in a container that runs: where it cannot start, the container has no process or memory left. */
const noProcess = /OCI runtime exec failed|resource temporarily unavailable|cannot allocate memory/i

/** No command can be started in a container any more. */
export class NoProcess extends Error {
  override readonly name = 'NoProcess'
}

/** More came than was asked for. */
export class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong'
}

/** What an engine says of a failure, without what the caller sent. */
export function engineMessage({ status, body }: EngineAnswer): string {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'))
    if (
      typeof parsed === 'object' &&
      parsed !== null &&
      'message' in parsed &&
      typeof parsed.message === 'string'
    )
      return `${parsed.message.slice(0, 300)} (${status})`
  } catch {
    // No JSON: a proxy's page, or nothing.
  }
  return `status ${status}`
}

/** Splits what an engine sends of a command without a terminal: eight bytes (which stream, how long), then as many. */
export function splitStreams(
  stream: Duplex,
  take: (which: 'stdout' | 'stderr', chunk: Buffer) => void,
): void {
  let pending: Buffer = Buffer.alloc(0)
  stream.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    while (pending.length >= 8) {
      const length = pending.readUInt32BE(4)
      if (pending.length < 8 + length) return
      if (length > 0) take(pending[0] === 2 ? 'stderr' : 'stdout', pending.subarray(8, 8 + length))
      pending = pending.subarray(8 + length)
    }
  })
}
