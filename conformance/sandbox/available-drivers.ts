import { bashDriver, bwrapDriver, processDriver, type SandboxDriver } from 'quintain/sandbox'

export interface Candidate {
  driver: SandboxDriver
  /** Why it cannot be tested here. */
  missing?: string
}

/** Every driver that needs no engine, with the reason where one cannot run on this machine. */
export async function candidates(): Promise<Candidate[]> {
  return Promise.all(
    [processDriver(), bashDriver(), bwrapDriver()].map(async (driver) => {
      const available = await driver.available()
      return available.available ? { driver } : { driver, missing: available.reason }
    }),
  )
}

/** Says so where everyone sees it: a driver that was not tested is no driver that passed. */
export function sayMissing({ driver, missing }: Candidate): void {
  if (missing !== undefined)
    process.stderr.write(`sandbox: driver ${driver.name} is NOT tested here: ${missing}\n`)
}
