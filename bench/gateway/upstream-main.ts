/**
 * A model server that costs as little as one can: `node upstream-main.ts CHUNKS GAP_MS`. It answers a completion, or a
 * stream of so many chunks, the first at once and the others so far apart. What it sends was made before, and it reads
 * no more of HTTP than the length of a body, so that the machine is left to what is measured.
 */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { replyText } from '../single-turn/text.ts'
import { RequestReader } from './request-reader.ts'
import { serveParent } from './server-process.ts'

const [chunks = 20, gapMs = 0] = process.argv.slice(2).map(Number)
const usage = { prompt_tokens: 500, completion_tokens: 20, total_tokens: 520 }
const common = { id: 'chatcmpl-bench', created: 1_767_225_600, model: 'bench' }
const completion = JSON.stringify({
  ...common,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: replyText(1_000) }, finish_reason: 'stop' }],
  usage,
})
const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const ending = `${event({}, 'stop')}data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const head = (type: string, framing: string): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${framing}\r\nconnection: keep-alive\r\n\r\n`

const whole = Buffer.from(
  head('application/json', `content-length: ${completion.length}`) + completion,
  'latin1',
)
const first = Buffer.from(
  head('text/event-stream', 'transfer-encoding: chunked') + chunk(event({ role: 'assistant', content: '' })),
  'latin1',
)
const piece = Buffer.from(chunk(event({ content: ' a token or so' })), 'latin1')
const last = Buffer.from(`${chunk(ending)}0\r\n\r\n`, 'latin1')
const streamed = Buffer.from('"stream":true')

/** Streams under way by the millisecond of a gap in which each was begun, and how many pieces each has still to get. */
const phases = Array.from({ length: gapMs }, () => new Map<Socket, number>())
let told = now()

function now(): number {
  return Math.floor(performance.now())
}

function phaseOf(ms: number): Map<Socket, number> {
  return phases[ms % gapMs]!
}

// One timer serves them all, each in its own time: pieces of all streams in one moment would be a jam of our making.
if (gapMs > 0) {
  setInterval(() => {
    for (const until = now(); told < until; told++) for (const stream of phaseOf(told)) tell(...stream)
  }, 1)
}

function tell(socket: Socket, left: number): void {
  if (left > 0) {
    socket.write(piece)
    phaseOf(told).set(socket, left - 1)
  } else {
    phaseOf(told).delete(socket)
    socket.write(last)
  }
}

function begin(socket: Socket): void {
  socket.write(first)
  // The one that was served last: its next turn comes a gap from now.
  phaseOf(told + gapMs - 1).set(socket, chunks)
}

const server = createServer({ noDelay: true }, (socket) => {
  const reader = new RequestReader((body) => {
    if (!body.includes(streamed)) socket.write(whole)
    else if (gapMs > 0) begin(socket)
    else socket.write(Buffer.concat([first, ...Array.from({ length: chunks }, () => piece), last]))
  })
  socket.on('data', (data: Buffer) => reader.push(data))
  socket.on('error', () => {})
  socket.on('close', () => {
    for (const phase of phases) phase.delete(socket)
  })
})
server.listen(0, '127.0.0.1', () =>
  serveParent({ port: (server.address() as AddressInfo).port, path: '/v1/chat/completions', keys: [] }),
)
