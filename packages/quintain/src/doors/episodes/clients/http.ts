import { type Agent, request } from 'node:http'

export interface HttpReply {
  status: number
  headers: NodeJS.Dict<string | string[]>
  text: string
}

export interface HttpAsk {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  /** Keeps connections. */
  agent?: Agent
}

/** Milliseconds after which an answer is no longer waited for. */
const patience = 120_000

/** One request to a door on this machine. Throws what the connection throws. */
export function http(
  url: string,
  { method = 'GET', headers = {}, body, agent }: HttpAsk = {},
): Promise<HttpReply> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method,
        headers: {
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
        timeout: patience,
        ...(agent === undefined ? {} : { agent }),
      },
      (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    sent.on('timeout', () => sent.destroy(new Error(`no answer in ${patience / 1_000} s`)))
    sent.on('error', reject)
    sent.end(text)
  })
}
