/*
 * Node's timers and its clock as they were when this package was loaded. An environment's code shares the process, and
 * code that puts its own timers in the place of the global ones, as tests with mocked time do, would otherwise stop
 * every deadline of the run. Dates are not among them: a record bears the date that its machine says.
 */
export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate } = globalThis

/** Milliseconds of the monotonic clock. */
export const now: () => number = performance.now.bind(performance)
