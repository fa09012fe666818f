import { fork } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the fake model does with one request. Plain data, so that it can be handed to another process. */
export type FakeBehaviour =
  /** A completion. `message`, `choice` and `body` replace parts of it; `body` may be anything. */
  | { kind: 'ok'; message?: object; choice?: object; usage?: object; body?: unknown; headers?: Headers }
  /** A stream of the given chunks, or of a short text. `end: false` closes it without finish and `[DONE]`. */
  | { kind: 'stream'; chunks?: readonly (string | object)[]; gapMs?: number; end?: boolean }
  /** Answers a status. */
  | { kind: 'status'; status: number; headers?: Headers; body?: unknown }
  /** A page of a proxy. */
  | { kind: 'html'; status?: number }
  /** Says nothing at all. */
  | { kind: 'hang' }
  /** Sends headers and half of the body, then nothing more. */
  | { kind: 'hang_body' }
  /** Sends half of the body and closes. */
  | { kind: 'close_early' }
  /** Closes before any answer. */
  | { kind: 'reset' }
  /** Sends the body in `pieces`, `gapMs` apart. */
  | { kind: 'drip'; pieces: number; gapMs: number }

type Headers = Readonly<Record<string, string>>

export interface FakeModelOptions {
  /** Wait before each answer; 0 when absent. */
  latencyMs?: number
  /** What to do with the first request, the second, …; afterwards `otherwise`. Or a function of the request. */
  script?: readonly FakeBehaviour[] | ((request: FakeRequest) => FakeBehaviour)
  /** What to do once the script is over; a plain completion when absent. */
  otherwise?: FakeBehaviour
  /** Text of plain completions; `ok` when absent. */
  text?: string
  /** Keep headers and bodies of requests; true when absent. Benches switch it off. */
  record?: boolean
}

/** A request that the fake model got. */
export interface FakeRequest {
  /** 0 for the first. */
  index: number
  headers: IncomingMessage['headers']
  /** The parsed body; undefined when it was no JSON. */
  body: unknown
  /** Number of the connection that it came on. */
  connection: number
  /** The client went away before the answer was whole. */
  aborted: boolean
}

export interface FakeModel {
  /** Base URL, to be given to a client. */
  readonly url: string
  /** What came, when it is recorded. */
  readonly requests: readonly FakeRequest[]
  /** How many requests came, recorded or not. */
  readonly count: number
  /** How many connections were opened. */
  readonly connections: number
  close(): Promise<void>
}

/** A completion as OpenAI's endpoint sends it. */
export function fakeCompletion(
  text: string,
  parts: { message?: object; choice?: object; usage?: object } = {},
): object {
  return {
    id: 'chatcmpl-fake',
    object: 'chat.completion',
    created: 1_767_225_600,
    model: 'fake',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, ...parts.message },
        finish_reason: 'stop',
        ...parts.choice,
      },
    ],
    usage: parts.usage ?? { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }
}

/** The chunks of a stream that says a text in two pieces. */
export function fakeChunks(text: string): object[] {
  const half = Math.ceil(text.length / 2)
  const chunk = (choices: object[], rest: object = {}): object => ({
    id: 'chatcmpl-fake',
    model: 'fake',
    choices,
    ...rest,
  })
  return [
    chunk([{ index: 0, delta: { role: 'assistant', content: text.slice(0, half) }, finish_reason: null }]),
    chunk([{ index: 0, delta: { content: text.slice(half) }, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    chunk([], { usage: { prompt_tokens: 10, completion_tokens: 5 } }),
  ]
}

/**
 * A model server that does as it is told, for tests and benches: chat completions on a port of this machine, with every
 * way of failing that `FakeBehaviour` names.
 *
 * @example
 * const fake = await startFakeModel({ script: [{ kind: 'status', status: 500 }] })
 * const model = createChatModel({ model: 'fake', baseUrl: fake.url })
 */
export async function startFakeModel(options: FakeModelOptions = {}): Promise<FakeModel> {
  const { latencyMs = 0, script = [], otherwise = { kind: 'ok' }, text = 'ok', record = true } = options
  const plain = Buffer.from(JSON.stringify(fakeCompletion(text)))
  const requests: FakeRequest[] = []
  const connectionNumbers = new WeakMap<object, number>()
  let connections = 0
  let count = 0

  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const index = count++
    const list = typeof script === 'function' ? undefined : script
    if (!record && list !== undefined) {
      request.resume()
      request.on('end', () => later(latencyMs, () => answer(list[index] ?? otherwise, request, response)))
      return
    }
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const entry: FakeRequest = {
        index,
        headers: request.headers,
        body: parsed(Buffer.concat(pieces).toString()),
        connection: connectionNumbers.get(request.socket) ?? -1,
        aborted: false,
      }
      response.on('close', () => {
        entry.aborted = !response.writableFinished
      })
      if (record) requests.push(entry)
      const behaviour = typeof script === 'function' ? script(entry) : (script[index] ?? otherwise)
      later(latencyMs, () => answer(behaviour, request, response))
    })
  })
  server.on('connection', (socket) => connectionNumbers.set(socket, ++connections))

  function answer(behaviour: FakeBehaviour, request: IncomingMessage, response: ServerResponse): void {
    switch (behaviour.kind) {
      case 'ok': {
        const { message, choice, usage, body } = behaviour
        const changed = body !== undefined || message || choice || usage
        const parts = { ...(message && { message }), ...(choice && { choice }), ...(usage && { usage }) }
        const whole = changed
          ? Buffer.from(JSON.stringify(body === undefined ? fakeCompletion(text, parts) : body))
          : plain
        response.writeHead(200, {
          ...behaviour.headers,
          'content-type': 'application/json',
          'content-length': whole.length,
        })
        response.end(whole)
        return
      }
      case 'stream':
        stream(behaviour, response)
        return
      case 'status': {
        const { status, headers = {}, body = { error: { message: `status ${status}` } } } = behaviour
        response.writeHead(status, { 'content-type': 'application/json', ...headers })
        response.end(typeof body === 'string' ? body : JSON.stringify(body))
        return
      }
      case 'html':
        response.writeHead(behaviour.status ?? 200, { 'content-type': 'text/html' })
        response.end(
          '<html><head><style>b{}</style></head><body><h1>Sign in</h1><p>to the proxy</p></body></html>',
        )
        return
      case 'hang':
        return
      case 'hang_body':
      case 'close_early':
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': plain.length })
        response.write(plain.subarray(0, plain.length >> 1))
        if (behaviour.kind === 'close_early') later(20, () => request.socket.destroy())
        return
      case 'reset':
        request.socket.destroy()
        return
      case 'drip': {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': plain.length })
        const size = Math.ceil(plain.length / behaviour.pieces)
        const drip = (from: number): void => {
          if (response.destroyed) return
          response.write(plain.subarray(from, from + size))
          if (from + size >= plain.length) response.end()
          else setTimeout(() => drip(from + size), behaviour.gapMs).unref()
        }
        drip(0)
        return
      }
    }
  }

  function stream(behaviour: FakeBehaviour & { kind: 'stream' }, response: ServerResponse): void {
    const { chunks = fakeChunks(text), gapMs = 0, end = true } = behaviour
    const texts = chunks.map((chunk) =>
      typeof chunk === 'string' ? chunk : `data: ${JSON.stringify(chunk)}\n\n`,
    )
    if (end) texts.push('data: [DONE]\n\n')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (gapMs === 0) {
      response.end(texts.join(''))
      return
    }
    const next = (position: number): void => {
      if (response.destroyed) return
      if (position === texts.length) {
        response.end()
        return
      }
      response.write(texts[position])
      setTimeout(() => next(position + 1), gapMs).unref()
    }
    next(0)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4096, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    get count() {
      return count
    },
    get connections() {
      return connections
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}

/** A base URL on this machine that refuses connections. */
export async function refusingUrl(): Promise<string> {
  const fake = await startFakeModel()
  await fake.close()
  return fake.url
}

/** `startFakeModel` in a process of its own, so that a bench does not measure the server. Requests are not recorded. */
export async function forkFakeModel(
  options: Omit<FakeModelOptions, 'script' | 'record'> & { script?: readonly FakeBehaviour[] } = {},
): Promise<{ url: string; close(): Promise<void> }> {
  const main = new URL(`./fake-server-main${extname(import.meta.url)}`, import.meta.url)
  const child = fork(fileURLToPath(main), [JSON.stringify(options)])
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(String(message)))
    child.once('exit', (code) => reject(new Error(`the fake model did not start (exit code ${code})`)))
  })
  return {
    url,
    async close() {
      child.kill()
      await ended
    },
  }
}

function later(ms: number, run: () => void): void {
  if (ms === 0) run()
  else setTimeout(run, ms)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
