import type { ServerResponse } from 'node:http'
import type { HeldCall } from './episode.ts'
import { errorEvent, signOfLife, streamHeaders, taskEvent } from './event-stream.ts'

/** Milliseconds that a result may take to be sent with its headers, in one go. */
const atOnceMs = 25
/** Milliseconds between signs of life to a client that waits. */
const aliveMs = 10_000

/**
 * Sends a call's result once there is one, and signs of life until then. Rejects with a refusal while nothing was sent.
 * A client that leaves changes nothing for the call.
 */
export function streamCall(call: HeldCall, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    let alive: NodeJS.Timeout | undefined
    let isLeft = false
    const begin = () => {
      response.writeHead(200, streamHeaders)
      response.write(taskEvent(call.id))
      alive = setInterval(() => response.write(signOfLife), aliveMs)
    }
    const soon = setTimeout(begin, atOnceMs)
    const left = () => {
      if (isLeft) return
      isLeft = true
      clearTimeout(soon)
      clearInterval(alive)
      // A connection that had broken long before may be heard of after another has had the result.
      if (response.writableFinished) call.heard = true
      else if (!call.heard) call.unheard = true
      resolve()
    }
    response.once('close', left)
    void call.outcome.then((outcome) => {
      clearTimeout(soon)
      clearInterval(alive)
      if (response.destroyed) return left()
      if ('events' in outcome) {
        if (response.headersSent) response.end(outcome.events)
        else sendEvents(response, taskEvent(call.id) + outcome.events)
      } else if (response.headersSent) response.end(errorEvent(outcome.problem.message))
      else {
        response.off('close', left)
        reject(outcome.problem)
      }
    })
  })
}

/** Events that are all there, as one answer. */
export function sendEvents(response: ServerResponse, events: string): void {
  response.writeHead(200, { ...streamHeaders, 'content-length': Buffer.byteLength(events) })
  response.end(events)
}
