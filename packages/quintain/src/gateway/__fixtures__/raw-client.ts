import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

export interface RawReply {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The connection ended before the reply did. */
  broken: boolean
}

export interface RawRequest {
  port?: number
  socketPath?: string
  method?: string
  path: string
  headers?: OutgoingHttpHeaders
  body?: string | Uint8Array
  signal?: AbortSignal
}

/** One request on a connection of its own, whatever comes of it. Rejects where there is no reply at all. */
export function ask(options: RawRequest): Promise<RawReply> {
  const { method = 'POST', body, port, socketPath, path, headers, signal } = options
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...(socketPath === undefined ? { host: '127.0.0.1', port } : { socketPath }),
        method,
        path,
        headers: { 'content-type': 'application/json', ...headers },
        agent: false,
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
        response.on('error', () => {})
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            broken: !response.complete,
          }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}
