import { Worker } from 'node:worker_threads'

/** Where this process is told that its starter is there: the end of this pipe is its end. */
export const starterFd = 3

/** A loop of Python hears nothing of the end of whoever started it; a thread does, and ends the process. */
export function endWithStarter(): void {
  const watch = `
    const { Socket } = require('node:net')
    const end = () => process.kill(process.pid, 'SIGKILL')
    new Socket({ fd: ${starterFd} }).on('error', end).on('close', end).resume()`
  new Worker(watch, { eval: true, env: {} }).unref()
}
