/**
 * A model server that costs as little as one can: `node upstream-main.ts CHUNKS GAP_MS`. It answers a completion, or a
 * stream of so many chunks, the first at once and the others so far apart.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { replyText } from '../single-turn/text.ts'
import { serveParent } from './server-process.ts'

const [chunks = 20, gapMs = 0] = process.argv.slice(2).map(Number)
const usage = { prompt_tokens: 500, completion_tokens: 20, total_tokens: 520 }
const common = { id: 'chatcmpl-bench', created: 1_767_225_600, model: 'bench' }
const whole = JSON.stringify({
  ...common,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: replyText(1_000) }, finish_reason: 'stop' }],
  usage,
})
const event = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const first = event({ role: 'assistant', content: '' })
const piece = event({ content: ' a token or so' })
const last = `${event({}, 'stop')}data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`

/** Streams under way by the millisecond of a gap in which each was begun, and how many pieces each has still to get. */
const phases = Array.from({ length: gapMs }, () => new Map<ServerResponse, number>())
let told = now()

function now(): number {
  return Math.floor(performance.now())
}

function phaseOf(ms: number): Map<ServerResponse, number> {
  return phases[ms % gapMs]!
}

// One timer serves them all, each in its own time: pieces of all streams in one moment would be a jam of our making.
if (gapMs > 0) {
  setInterval(() => {
    for (const until = now(); told < until; told++) for (const stream of phaseOf(told)) tell(...stream)
  }, 1)
}

function tell(response: ServerResponse, left: number): void {
  if (left > 0) {
    response.write(piece)
    phaseOf(told).set(response, left - 1)
  } else {
    phaseOf(told).delete(response)
    response.end(last)
  }
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  let stream = false
  request.on('data', (data: Buffer) => {
    stream ||= data.includes('"stream":true')
  })
  request.on('end', () => {
    if (!stream) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
      response.end(whole)
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(first)
    if (gapMs > 0) {
      // The one that was served last: its next turn comes a gap from now.
      const phase = phaseOf(told + gapMs - 1)
      phase.set(response, chunks)
      response.on('close', () => phase.delete(response))
      return
    }
    for (let index = 0; index < chunks; index++) response.write(piece)
    response.end(last)
  })
})
server.listen(0, '127.0.0.1', () =>
  serveParent({ port: (server.address() as AddressInfo).port, path: '/v1/chat/completions', keys: [] }),
)
