import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'

/** A body that is longer than it may be. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/**
 * A request of `node:http` as the web's, its body read; throws `BodyTooLarge`. Its signal aborts when the caller
 * goes.
 */
export async function webRequest(
  request: IncomingMessage,
  options: { url: URL; maxBodyBytes: number; signal: AbortSignal },
): Promise<Request> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one)
  }
  const method = request.method ?? 'GET'
  const body = method === 'POST' ? await bodyOf(request, options.maxBodyBytes) : undefined
  return new Request(options.url, {
    method,
    headers,
    signal: options.signal,
    ...(body === undefined ? {} : { body }),
  })
}

async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw new BodyTooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new BodyTooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/**
 * Sends a web response; resolves when it is sent or the caller has gone. Whether the connection is kept is no matter of
 * the response: MCP's SDK writes `connection: keep-alive` on streams, and a caller that asked for `close` and reads to the
 * end would wait until the server's patience with an idle connection is over.
 */
export async function sendResponse(response: Response, to: ServerResponse): Promise<void> {
  const headers = Object.fromEntries(response.headers)
  delete headers['connection']
  to.writeHead(response.status, headers)
  if (response.body === null) {
    to.end()
    return
  }
  // A stream of one piece is dearer than the piece.
  if (!/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) {
    to.end(Buffer.from(await response.arrayBuffer()))
    return
  }
  // An event stream without an event yet: the caller waits for the headers.
  to.flushHeaders()
  try {
    await pipeline(Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>), to)
  } catch {
    to.destroy()
  }
}
