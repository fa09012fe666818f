/** Turns of the event loop after which whoever goes on writing is not waited for. */
const mostTurns = 100

/**
 * Calls `then` once nothing more arrives: on a busy machine a timer fires before what lies in the pipes was read, and a
 * turn of the event loop reads it. `arrived` is how many bytes were read so far.
 */
export function whenQuiet(arrived: () => number, then: () => void, turns = 0): void {
  const before = arrived()
  const look = () =>
    arrived() === before || turns >= mostTurns ? then() : whenQuiet(arrived, then, turns + 1)
  setImmediate(() => setImmediate(look))
}
