import type { Message, Model } from '../core/index.ts'
import { ModelFault } from '../core/index.ts'

/** A model that says again what was recorded, reply by reply, and then ends. Without a recording it is a fault. */
export function replayModel(id: string, replies: readonly Message[] | undefined): Model {
  const recorded = replies?.filter((message) => message.role === 'assistant')
  let next = 0
  return {
    id,
    generate(_request, context) {
      if (recorded === undefined) {
        const message = `${id} has no recording of task ${context.task}, repeat ${context.repeat}`
        return Promise.reject(
          new ModelFault({
            owner: 'platform',
            stage: 'model',
            code: 'not_recorded',
            message,
            retryable: false,
          }),
        )
      }
      const message = recorded[next++]
      if (message === undefined) {
        return Promise.resolve({
          message: { role: 'assistant', content: '' },
          finish: 'stop',
          costUsd: 0,
          ended: true,
        })
      }
      const finish =
        message.refusal !== undefined ? 'refusal' : message.toolCalls?.length ? 'tool_calls' : 'stop'
      return Promise.resolve({ message, finish, costUsd: 0 })
    },
  }
}
