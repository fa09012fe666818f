// A thread of the embedded engine: jobs of the learner and sampling, in turns. It never returns to its event loop.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { messageOf } from '../../core/errors.ts'
import type { FromThread, Job, ThreadStart, ToThread } from './jobs.ts'
import { KernelDecoder } from './kernel-decoder.ts'
import { SamplingThread } from './sampling/sampling-thread.ts'
import { ThreadJobs } from './thread-jobs.ts'

const port = parentPort!
const start: ThreadStart = workerData
const { memory, places, thread, room, shape } = start
const wake = new Int32Array(memory.buffer, places.control.wake + 4 * thread, 1)
const jobs = new ThreadJobs(start)
const decoder = new KernelDecoder({ kernels: jobs.kernels, memory, places, thread, room, shape })
const sampling = new SamplingThread(decoder, (said) => {
  const message: FromThread = { kind: 'sampled', said }
  port.postMessage(message, [said.buffer])
})
const waiting: { id: number; job: Job }[] = []

function take(message: ToThread): void {
  if (message.kind === 'jobs') waiting.push(...message.jobs)
  else sampling.receive(message.work)
}

function runNext(): void {
  const next = waiting.shift()
  if (next === undefined) return
  let answer: FromThread
  try {
    answer = { kind: 'done', id: next.id, value: jobs.run(next.job) }
  } catch (thrown) {
    answer = { kind: 'failed', id: next.id, says: messageOf(thrown) }
  }
  port.postMessage(answer)
}

for (;;) {
  // Read before the messages are: one that comes after is not slept through.
  const seen = Atomics.load(wake, 0)
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    take(next.message)
  }
  runNext()
  if (sampling.busy) sampling.step()
  else if (waiting.length === 0) Atomics.wait(wake, 0, seen)
}
