import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf, QuintainError } from './errors.ts'
import { ioError } from './io-error.ts'
import { type PanelRecord, panelRecord } from './records.ts'
import { checkVersion } from './run-folder.ts'

/** File of a folder that holds the runs of a panel. */
export const panelFile = 'panel.json'

/** A name that stays inside its folder, whatever it is. */
function isFolderName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

/**
 * The panel whose runs a folder holds; undefined for a folder that is none. Throws `run_corrupt` for a file that is no
 * panel, `run_too_new`, and `journal_io` when it cannot be read.
 */
export async function readPanel(dir: string): Promise<PanelRecord | undefined> {
  const path = join(dir, panelFile)
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException | null)?.code
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new QuintainError('journal_io', `Reading ${path} failed: ${messageOf(error)}`, {
      cause: error,
      facts: { path },
    })
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  checkVersion(value, panelFile)
  const found = panelRecord.safeParse(value)
  if (found.success && found.data.runs.length > 0 && found.data.runs.every(isFolderName)) return found.data
  throw new QuintainError(
    'run_corrupt',
    `${path} is no list of runs. The runs themselves are whole: name them one by one (\`npx quintain list ${dir}\`).`,
    { facts: { path } },
  )
}

/** Writes down which runs of a folder belong together. Throws `disk_full` and `journal_io`. */
export async function writePanel(dir: string, panel: PanelRecord): Promise<void> {
  const path = join(dir, panelFile)
  const temporary = `${path}.${process.pid}`
  try {
    await writeFile(temporary, `${JSON.stringify(panel, null, 2)}\n`)
    await rename(temporary, path)
  } catch (error) {
    throw ioError(error, dir)
  }
}
