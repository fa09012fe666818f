import type { CallRecord, DialectName, Model, ModelAddress } from '../../packages/quintain/src/core/index.ts'
import { Recorder } from '../../packages/quintain/src/core/recorder.ts'
import { type Gateway, SeatModel } from '../../packages/quintain/src/gateway/index.ts'
import { createModel } from '../../packages/quintain/src/models/index.ts'
import type { LlamaServer } from './server.ts'

/** A model of the server, asked in one of the protocols that llama.cpp speaks. */
export function llamaModel({ baseUrl }: LlamaServer, dialect: DialectName = 'chat'): Model {
  return createModel({
    dialect,
    model: 'smollm2',
    baseUrl,
    ...(dialect === 'chat' ? { server: 'llama.cpp' } : {}),
    retry: { maxRetries: 0 },
  })
}

/** Opens a seat of its own at the gateway, for one check. */
export async function atSeat<T>(
  gateway: Gateway,
  model: Model,
  check: (address: ModelAddress, calls: readonly CallRecord[], seat: SeatModel) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const recorder = new Recorder()
  const seat = new SeatModel({
    seat: 'agent',
    model,
    recorder,
    limits: {},
    sampling: {},
    redact: (text) => text,
    clock: undefined,
    signal: over.signal,
    startedAt: performance.now(),
    context: { attempt: 'attempt', task: 'task', repeat: 0 },
  })
  try {
    return await check(gateway.open({ seat, signal: over.signal }), recorder.calls, seat)
  } finally {
    over.abort()
    await model.close?.()
  }
}
