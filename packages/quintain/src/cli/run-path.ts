import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { folderName } from '../core/folder-name.ts'
import { QuintainError, readPanel } from '../core/index.ts'
import { printableLine } from '../report/printable.ts'

/** Where runs go unless `--out` says otherwise. */
export const runsFolder = 'runs'

/** A run as it is typed: a folder, or the name of one under `runs/`. */
export function findRun(text: string, cwd: string): string {
  const direct = resolve(cwd, text)
  if (existsSync(direct)) return direct
  const under = join(cwd, runsFolder, text)
  return existsSync(under) ? under : direct
}

/** One run as it is typed. Throws `usage` for a folder that holds the runs of several players. */
export async function findOneRun(text: string, cwd: string): Promise<string> {
  const dir = findRun(text, cwd)
  const panel = await readPanel(dir).catch(() => undefined)
  if (panel === undefined) return dir
  const shown = printableLine(text)
  throw new QuintainError(
    'usage',
    `${shown} holds ${panel.runs.length} runs. Name one (${panel.runs.map((run) => printableLine(join(text, run))).join(', ')}), or compare them: npx quintain compare ${shown}`,
    { facts: { dir } },
  )
}

/** The runs that a name stands for: the run itself, or those of a panel in their order. */
export async function findRuns(text: string, cwd: string): Promise<string[]> {
  const dir = findRun(text, cwd)
  const panel = await readPanel(dir)
  return panel === undefined ? [dir] : panel.runs.map((run) => join(dir, run))
}

/** A new folder's name that sorts by time: `20261129-185210-wordle-solver`. */
export function newRunName(environment: string, policy: string, now: Date): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)
  return [stamp, folderName(environment), folderName(policy)].filter((part) => part !== '').join('-')
}

/** `newRunName` under `runs/`, with a number where two runs begin in one second. */
export function newRunDir(cwd: string, environment: string, policy: string, now = new Date()): string {
  const base = join(cwd, runsFolder, newRunName(environment, policy, now))
  let dir = base
  for (let number = 2; existsSync(dir); number++) dir = `${base}-${number}`
  return dir
}
