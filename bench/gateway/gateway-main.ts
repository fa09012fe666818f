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

const [port, leases, many] = process.argv.slice(2)
if (many !== undefined) keepNurserySmall()
const model = createChatModel({
  model: 'bench',
  baseUrl: `http://127.0.0.1:${port}/v1`,
  connections: 4_096,
})
const gateway = await openGateway({ log: (text) => process.stderr.write(`${text}\n`) })
const keys = Array.from({ length: Number(leases) }, (_, index) => {
  const signal = new AbortController().signal
  const seat = new SeatModel({
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
  return gateway.open({ seat, signal }).apiKey
})
serveParent({ port: gateway.port, path: '/v1/chat/completions', keys })
