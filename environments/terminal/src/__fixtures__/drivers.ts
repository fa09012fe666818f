import type { SandboxDriver } from 'quintain'
import { bashDriver, bwrapDriver, processDriver } from 'quintain/sandbox'

/** A driver, and why there is none of it on this machine. */
export interface Candidate {
  name: string
  driver: SandboxDriver
  missing: string | undefined
  /** What it can run of our tasks. */
  options: { tasks: 'all' | 'in-memory' }
}

/** The drivers that our tasks are tried on. Says aloud which of them this machine does not have. */
export async function candidates(): Promise<Candidate[]> {
  const all = [
    { driver: bwrapDriver(), tasks: 'all' },
    { driver: bashDriver(), tasks: 'in-memory' },
    { driver: processDriver(), tasks: 'all' },
  ] as const
  return Promise.all(
    all.map(async ({ driver, tasks }) => {
      const found = await driver.available()
      const missing = found.available ? undefined : found.reason
      if (missing !== undefined)
        process.stderr.write(`terminal tasks are not tried in ${driver.name}: ${missing}\n`)
      return { name: driver.name, driver, missing, options: { tasks } }
    }),
  )
}
