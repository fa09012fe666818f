import { compareRuns, formatComparison } from '../report/index.ts'
import type { CliIo } from './io.ts'
import { findRun } from './run-path.ts'

/** Compares two runs task by task. */
export async function compareCommand(
  a: string,
  b: string,
  { force, json }: { force?: boolean; json?: boolean },
  io: CliIo,
): Promise<void> {
  const comparison = await compareRuns(findRun(a, io.cwd), findRun(b, io.cwd), { force: force === true })
  io.stdout.write(json ? `${JSON.stringify(comparison, null, 2)}\n` : formatComparison(comparison))
}
