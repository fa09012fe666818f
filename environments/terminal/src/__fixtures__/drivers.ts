import type { SandboxDriver } from 'quintain'
import { bashDriver, bwrapDriver, processDriver } from 'quintain/sandbox'
import { taskFolders } from '../task-folder.ts'

/** A driver, and why there is none of it on this machine. */
export interface Candidate {
  name: string
  driver: SandboxDriver
  missing: string | undefined
  options: { tasks: 'all' | 'in-memory' }
  /** Tasks that it can run here. */
  tasks: string[]
  /** Tasks that it could run where some program were installed, and which. */
  lacking: string[]
}

/** The drivers that our tasks are tried on. Says aloud what this machine does not have. */
export async function candidates(): Promise<Candidate[]> {
  const all = [
    { driver: bwrapDriver(), tasks: 'all' },
    { driver: bashDriver(), tasks: 'in-memory' },
    { driver: processDriver(), tasks: 'all' },
  ] as const
  return Promise.all(
    all.map(async ({ driver, tasks: which }) => {
      const found = await driver.available()
      const missing = found.available ? undefined : found.reason
      const fitting = taskFolders().filter(({ inMemory }) => which === 'all' || inMemory)
      const absent = missing === undefined ? await absentPrograms(driver) : []
      const without = (programs: readonly string[]) => programs.filter((program) => absent.includes(program))
      const candidate: Candidate = {
        name: driver.name,
        driver,
        missing,
        options: { tasks: which },
        tasks: fitting.filter(({ programs }) => without(programs).length === 0).map(({ id }) => id),
        lacking: fitting
          .filter(({ programs }) => without(programs).length > 0)
          .map(
            ({ id, programs }) => `${id} needs ${without(programs).join(' and ')}, which is not installed`,
          ),
      }
      for (const why of missing === undefined ? candidate.lacking : [missing])
        process.stderr.write(`terminal tasks in ${driver.name}, not tried: ${why}\n`)
      return candidate
    }),
  )
}

async function absentPrograms(driver: SandboxDriver): Promise<string[]> {
  const programs = [...new Set(taskFolders().flatMap((task) => task.programs))]
  const box = await driver.start()
  try {
    const look = 'for program; do command -v "$program" > /dev/null || echo "$program"; done'
    return (await box.exec(['bash', '-c', look, 'bash', ...programs])).stdout.split('\n').filter(Boolean)
  } finally {
    await box.stop()
  }
}
