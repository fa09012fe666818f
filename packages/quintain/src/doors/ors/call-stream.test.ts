import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HttpProblem } from '../../core/http-port.ts'
import { streamCall } from './call-stream.ts'
import type { HeldCall, Outcome } from './episode.ts'

/** As much of a response as a stream writes to. */
class Written extends EventEmitter {
  headersSent = false
  writableFinished = false
  destroyed = false
  text = ''
  writeHead(): void {
    this.headersSent = true
  }
  write(text: string): void {
    this.text += text
  }
  end(text: string): void {
    this.text += text
    this.writableFinished = true
    this.destroyed = true
    this.emit('close')
  }
}

const stream = (outcome: Promise<Outcome>) => {
  const call: HeldCall = {
    id: '1',
    name: 'x',
    input: {},
    outcome,
    began: 0,
    doneAt: undefined,
    unheard: false,
    heard: false,
  }
  const response = new Written()
  return { call, response, streamed: streamCall(call, response as unknown as ServerResponse) }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a client that waits gets a sign of life every ten seconds until the result is there', async () => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const { response, streamed, call } = stream(promise)
  await vi.advanceTimersByTimeAsync(35_000)
  expect(response.text).toBe(`event: task_id\ndata: 1\n\n${': ping\n\n'.repeat(3)}`)
  resolve({ events: 'event: end\ndata: {}\n\n' })
  await streamed
  const whole = response.text
  expect(whole).toMatch(/end\ndata: \{\}\n\n$/)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(response.text).toBe(whole)
  expect(call.unheard).toBe(false)
})

test('nothing is written to a client that left, and its call waits for it', async () => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const { response, streamed, call } = stream(promise)
  await vi.advanceTimersByTimeAsync(1000)
  response.destroyed = true
  response.emit('close')
  await streamed
  expect(call.unheard).toBe(true)
  const { text } = response
  // Another connection has taken it over meanwhile.
  call.unheard = false
  resolve({ events: 'event: end\ndata: {}\n\n' })
  await vi.advanceTimersByTimeAsync(60_000)
  expect(response.text).toBe(text)
  expect(call.unheard).toBe(false)
})

test('a refusal is a status where nothing was sent, and an error of the stream where something was', async () => {
  const problem = new HttpProblem(410, 'It was\nclosed.')
  const early = stream(Promise.resolve({ problem }))
  await expect(early.streamed).rejects.toBe(problem)
  expect(early.response.headersSent).toBe(false)
  const late = Promise.withResolvers<Outcome>()
  const begun = stream(late.promise)
  await vi.advanceTimersByTimeAsync(1000)
  late.resolve({ problem })
  await begun.streamed
  expect(begun.response.text).toBe('event: task_id\ndata: 1\n\nevent: error\ndata: It was closed.\n\n')
})

test('a connection that is found broken after another had the result leaves nothing unheard', async () => {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const { call, response: broken, streamed } = stream(promise)
  await vi.advanceTimersByTimeAsync(1000)
  const response = new Written()
  const again = streamCall(call, response as unknown as ServerResponse)
  resolve({ events: 'event: end\ndata: {}\n\n' })
  broken.end = () => {}
  await again
  broken.destroyed = true
  broken.emit('close')
  await streamed
  expect(call).toMatchObject({ heard: true, unheard: false })
})
