import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Ops } from './case.ts'

export interface LoadedOps {
  ops: Ops
  /** Area files that cannot be used, with the reason. */
  broken: { file: string; reason: string }[]
}

/**
 * The operations of every area file of a folder: each `.ts` file but the tests and `main.ts`. An operation
 * that two files map is an error of both, since which of them ran would hang on the order of file names.
 */
export async function loadOps(folder: string): Promise<LoadedOps> {
  const ops: Ops = {}
  const owner = new Map<string, string>()
  const broken: LoadedOps['broken'] = []
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !/\.(test|test-d|d)\.ts$/.test(file) && file !== 'main.ts')
    .sort()
  for (const file of files) {
    let area: { ops?: Ops }
    try {
      area = (await import(pathToFileURL(join(folder, file)).href)) as { ops?: Ops }
    } catch (thrown) {
      broken.push({
        file,
        reason: `cannot be loaded: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
      })
      continue
    }
    for (const [op, run] of Object.entries(area.ops ?? {})) {
      const other = owner.get(op)
      if (other !== undefined) broken.push({ file, reason: `maps ${op}, and so does ${other}` })
      owner.set(op, file)
      ops[op] = run
    }
  }
  return { ops, broken }
}
