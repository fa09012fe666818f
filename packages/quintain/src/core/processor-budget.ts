import { type Context, createContext, Script } from 'node:vm'

/** How a piece of work ended: with what it gave, or out of its budget. */
export type Worked<T> = { done: true; value: T } | { done: false }

/** Tries on a machine that gives this thread little time; each may take twice as long as the one before. */
const mostTries = 5

let context: Context | undefined
let script: Script | undefined

/**
 * Runs synchronous code that another has shaped (a pattern, a schema) until it has used up `budgetMs` of processor time.
 * It is then broken off wherever it is, in the midst of a regular expression too. Whatever it shared must be thrown away.
 *
 * Processor time and not the clock's, so that a busy machine gives nobody another answer: a try that was broken off before
 * it had its share is made again. So `run` must be such that it can be.
 */
export function withinProcessorTime<T>(budgetMs: number, run: () => T): Worked<T> {
  context ??= createContext({})
  script ??= new Script('run()')
  // One may run within another, and leaves it as it was.
  const outer: unknown = context['run']
  let timeout = Math.max(1, Math.ceil(budgetMs))
  for (let tries = 1; ; tries++) {
    const before = usedMs()
    let worked: Worked<T> = { done: false }
    try {
      context['run'] = () => {
        worked = { done: true, value: run() }
      }
      script.runInContext(context, { timeout })
      return worked
    } catch (thrown) {
      if (!isTimeout(thrown)) throw thrown
      // Half is near enough: the processor's clock is coarse, and what starts a try is not counted.
      if (usedMs() - before >= budgetMs / 2 || tries >= mostTries) return { done: false }
      timeout *= 2
    } finally {
      context['run'] = outer
    }
  }
}

function usedMs(): number {
  // Node 22 counts for the whole process only.
  const used = typeof process.threadCpuUsage === 'function' ? process.threadCpuUsage() : process.cpuUsage()
  return (used.user + used.system) / 1000
}

function isTimeout(thrown: unknown): boolean {
  return (thrown as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
