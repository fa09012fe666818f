import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { folderName } from '../core/folder-name.ts'
import { QuintainError, readPanel } from '../core/index.ts'
import { nearest } from '../core/suggest.ts'
import { printableLine } from '../report/printable.ts'

/** Where runs go unless `--out` says otherwise. */
export const runsFolder = 'runs'

/** A run as it is typed: a folder, or the name of one under `runs/`. Throws `run_not_found` with the nearest that is there. */
export function findRun(text: string, cwd: string): string {
  const places = [resolve(cwd, text), join(cwd, runsFolder, text)]
  const found = places.find((place) => existsSync(place))
  if (found !== undefined) return found
  // The folder that was meant to hold it may be there, with what was meant under a slightly other name.
  for (const place of places) {
    const near = nearest(basename(place), namesIn(dirname(place)))
    if (near === undefined) continue
    throw notFound(
      text,
      `Did you mean ${printableLine(relative(cwd, join(dirname(place), near)))}?`,
      places[0]!,
    )
  }
  throw notFound(text, '`npx quintain list` shows the runs under ./runs.', places[0]!)
}

function notFound(text: string, hint: string, dir: string): QuintainError {
  return new QuintainError('run_not_found', `There is no run ${printableLine(text)}. ${hint}`, {
    facts: { dir },
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
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
