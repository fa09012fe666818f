import type { WebSocket } from 'ws'
import { type FrameAnswer, FrameSocket } from './frames.ts'
import type { Instance } from './instance.ts'
import type { Holder, Instances } from './instances.ts'
import { readFrame } from './json-frame.ts'
import { answerRpc, rpcParseError } from './mcp.ts'
import { frameOf, type Observed } from './observations.ts'
import { invalid, Refusal, refusalFor } from './refusals.ts'
import { resetRequestOf } from './reset-request.ts'
import type { Times } from './times.ts'

export interface SocketContext {
  instances: Instances
  times: Times
  log(line: string): void
}

/**
 * A socket of `/ws`: one instance, or the one of a session that was made before. A socket that is lost without a `close`
 * leaves its episode for a while: a client comes back to it with `{ resume_key, resume: true }`, since the reference client
 * takes a reset without it for a new episode, also of the same id.
 */
export function holdSession(socket: WebSocket, sessionId: string | undefined, context: SocketContext): void {
  const { instances, log } = context
  const frames = new FrameSocket(socket)
  const taken = takeInstance(sessionId, frames, context)
  if (taken instanceof Refusal) {
    frames.refuse(errorFrame(taken))
    return
  }
  let instance = taken
  const reset = async (data: unknown): Promise<Observed> => {
    const request = resetRequestOf(data)
    if (!request.resume) return await instance.reset(request)
    if (request.resumeKey === undefined)
      throw invalid('"resume" needs the "resume_key" that the reset of the episode gave.')
    const found = instances.resume(request.resumeKey, frames)
    const left = instance
    instance = found
    await instances.finish(left)
    instances.detach(left, frames)
    return await instance.resumed()
  }
  const carriedOut = ({ type, data }: Record<string, unknown>): FrameAnswer | Promise<FrameAnswer> => {
    switch (type) {
      case 'reset':
        return reset(data).then(observation)
      case 'step':
        return instance.step(data).then(observation)
      case 'state':
        return { text: JSON.stringify({ type: 'state', data: instance.state() }) }
      case 'mcp':
        return answerRpc(data, { instances, own: instance, log }).then((answer) => ({
          text: JSON.stringify({ type: 'mcp', data: answer }),
        }))
      case 'close':
        return instances.finish(instance).then(() => ({ end: true }))
      default: {
        const shown = typeof type === 'string' ? type.slice(0, 100) : String(typeof type)
        throw new Refusal('UNKNOWN_TYPE', `Unknown message type: ${shown}`)
      }
    }
  }
  frames.serve({
    ...context.times,
    alive: () => instance.touch(),
    gone: () => instances.detach(instance, frames),
    async answer(text) {
      try {
        return await carriedOut(fieldsOf(text))
      } catch (thrown) {
        return { text: errorFrame(refusalFor(thrown, instances.core.stats(), log)) }
      }
    },
  })
}

/** Of a frame. Throws a `Refusal` for what is none. */
function fieldsOf(text: string | undefined): Record<string, unknown> {
  const frame = readFrame(text)
  if (frame.ok) return frame.fields
  throw frame.syntax
    ? new Refusal('INVALID_JSON', `Invalid JSON: ${frame.why}.`)
    : invalid(`The frame: ${frame.why}.`)
}

/** A socket of `/mcp`: JSON-RPC alone, with an instance of its own that ends with it. */
export function holdRpc(socket: WebSocket, context: SocketContext): void {
  const { instances, log } = context
  const frames = new FrameSocket(socket)
  const own = takeInstance(undefined, frames, context)
  if (own instanceof Refusal) {
    const { message, more } = own
    frames.refuse(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32000, message, data: more } }))
    return
  }
  frames.serve({
    ...context.times,
    alive: () => own.touch(),
    gone: () => void instances.end(own),
    async answer(text) {
      const frame = readFrame(text)
      const answer = frame.ok
        ? await answerRpc(frame.fields, { instances, own, log })
        : frame.syntax
          ? rpcParseError(frame.why)
          : await answerRpc(null, { instances, own, log })
      return { text: JSON.stringify(answer) }
    },
  })
}

function takeInstance(
  sessionId: string | undefined,
  holder: Holder,
  { instances }: SocketContext,
): Instance | Refusal {
  try {
    return sessionId === undefined ? instances.create(holder) : instances.attach(sessionId, holder)
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown
    throw thrown
  }
}

function observation(observed: Observed): FrameAnswer {
  return { text: JSON.stringify({ type: 'observation', data: frameOf(observed) }) }
}

function errorFrame({ code, message, more }: Refusal): string {
  return JSON.stringify({ type: 'error', data: { message, code, ...more } })
}
