/** File descriptor on which a worker tells why it stops, besides its channel, which a blocked event loop cannot use. */
export const watchdogFd = 4

/** Time that code which is not inside any step may hold the event loop. */
const looseMs = 60_000
/** Added to a step's own deadline before its worker is given up. */
const graceMs = 1_000

/**
 * A thread beside the worker's own that notices when the event loop stands still for longer than the step that runs
 * may take, and says whose step it is. Plain JavaScript, since it is evaluated as text.
 */
export const watchdogSource = `
const { workerData } = require('node:worker_threads')
const { writeSync } = require('node:fs')
const shared = new Int32Array(workerData.shared)
let beat = Atomics.load(shared, 0)
let since = Date.now()
let last = Date.now()
setInterval(() => {
  const now = Date.now()
  // A machine that slept, or a clock that jumped, is nobody's block.
  const slept = now - last > 5000 || now < last
  last = now
  const current = Atomics.load(shared, 0)
  if (current !== beat || slept) {
    beat = current
    since = now
    return
  }
  const seq = Atomics.load(shared, 1)
  const allowed = (seq >= 0 ? Atomics.load(shared, 3) : ${looseMs}) + ${graceMs}
  if (now - since < allowed) return
  const stage = workerData.stages[Atomics.load(shared, 2)] || ''
  try { writeSync(${watchdogFd}, JSON.stringify({ blocked: now - since, seq, stage }) + '\\n') } catch {}
  since = now
}, 200)
`
