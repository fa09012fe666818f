/**
 * Ours: `node gateway-main.ts PORT LEASES [many]` opens a gateway before a model server, with so many attempts under
 * way; `many`: as the command line does for thousands at once.
 */
import { keepNurserySmall } from '../../packages/quintain/src/cli/main.ts'
import { Recorder } from '../../packages/quintain/src/core/recorder.ts'
import { SeatModel } from '../../packages/quintain/src/gateway/index.ts'
import { openGateway } from '../../packages/quintain/src/gateway/open-gateway.ts'
import { createChatModel } from '../../packages/quintain/src/models/index.ts'
import { serveParent } from './server-process.ts'

const callsOfAttempt = 20

const [port, leases, many] = process.argv.slice(2)
if (many !== undefined) keepNurserySmall()
const model = createChatModel({
  model: 'bench',
  baseUrl: `http://127.0.0.1:${port}/v1`,
  connections: 4_096,
})
const gateway = await openGateway({ log: (text) => process.stderr.write(`${text}\n`) })

function attempt(index: number, signal: AbortSignal): SeatModel {
  return new SeatModel({
    seat: 'agent',
    model,
    recorder: new Recorder(),
    limits: {},
    sampling: {},
    redact: (text) => text,
    clock: undefined,
    signal,
    startedAt: performance.now(),
    context: { attempt: String(index), task: 'bench', repeat: 0 },
  })
}

/** Attempts end, and their records leave the process: after so many calls another takes the place. */
function attempts(index: number, signal: AbortSignal): Pick<SeatModel, 'id' | 'generate'> {
  let seat = attempt(index, signal)
  let calls = 0
  return {
    id: model.id,
    generate(request, own) {
      if (calls++ % callsOfAttempt === 0) seat = attempt(index, signal)
      return seat.generate(request, own)
    },
  }
}

const keys = Array.from({ length: Number(leases) }, (_, index) => {
  const { signal } = new AbortController()
  return gateway.open({ seat: attempts(index, signal), signal }).apiKey
})
serveParent({ port: gateway.port, path: '/v1/chat/completions', keys })
