import { type Box, FaultError } from '../core/index.ts'
import { boxOf } from './attempt-boxes.ts'
import type { BoxWindow } from './box-desk.ts'
import type { BoxDoor } from './box-protocol.ts'

/**
 * The world's first box as the agent's program may use it, until its part is over; undefined where the world has started
 * none. It stays the world's: stopping it is not for the agent.
 */
export function agentBox(window: BoxWindow, owner: string, over: AbortSignal): Box | undefined {
  const started = window.first(owner)
  if (started === undefined) return undefined
  const door: BoxDoor = {
    async ask(request, { signal, ...options } = {}) {
      if (over.aborted) throw partIsOver()
      return window.ask(owner, request, {
        ...options,
        signal: signal === undefined ? over : AbortSignal.any([over, signal]),
      })
    },
  }
  return Object.freeze({ ...boxOf(door, started), stop: async () => {} })
}

function partIsOver(): FaultError {
  const message = "the agent's part is over, and the box is no longer its own"
  return new FaultError({ owner: 'sandbox', code: 'sandbox_stopped', message, retryable: false })
}
