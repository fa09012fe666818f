/** File descriptor on which a worker tells why it stops, besides its channel, which a blocked event loop cannot use. */
export const watchdogFd = 4

/** Time that code which is not inside any step may hold the event loop. */
const looseMs = 60_000
/** Added to a step's own deadline before its worker is given up. */
const graceMs = 1_000

/**
 * A thread beside the worker's own that notices when the event loop stands still for longer than the step that runs
 * may take, and says whose step it is. It also ends a worker whose main process is gone and whose event loop cannot
 * hear so. Plain JavaScript, since it is evaluated as text.
 */
export const watchdogSource = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const shared = new Int32Array(workerData.shared)
let beat = Atomics.load(shared, 0)
const parent = process.ppid
let since = performance.now()
let last = since
setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
  const now = performance.now()
  // A machine that slept is nobody's block.
  const slept = now - last > 5000
  last = now
  const current = Atomics.load(shared, 0)
  if (current !== beat || slept) {
    beat = current
    since = now
    return
  }
  const seq = Atomics.load(shared, 1)
  const allowed = (seq !== -1 ? Atomics.load(shared, 3) : ${looseMs}) + ${graceMs}
  if (now - since < allowed) return
  const stage = workerData.stages[Atomics.load(shared, 2)] || ''
  try { writeSync(${watchdogFd}, JSON.stringify({ blocked: Math.round(now - since), seq, stage }) + '\\n') } catch {}
  since = now
}, 200)
`
