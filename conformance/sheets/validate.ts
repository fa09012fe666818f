// node conformance/sheets/validate.ts   Reads workbooks that openpyxl wrote, and compares every cell with what openpyxl
// reads back. Skipped aloud where there is no Python or no index.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { readWorkbook, type SheetCell, type Workbook } from '../../packages/quintain/src/scoring/index.ts'
import { pythonEnvironment } from '../python/environment.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const cell = z.object({ kind: z.string(), value: z.union([z.string(), z.number(), z.boolean()]) })
const file = z.object({
  path: z.string(),
  mac: z.boolean(),
  sheets: z.record(z.string(), z.record(z.string(), cell)),
})
const reply = z.object({ openpyxl: z.string(), files: z.array(file) })

function sameCells({ kind, value }: z.infer<typeof cell>, ours: SheetCell | undefined): boolean {
  if (ours === undefined) return false
  if (kind === 'formula') return ours.formula === value && ours.value === null
  if (ours.formula !== undefined || (ours.day === true) !== (kind === 'day')) return false
  if (kind === 'error') return typeof ours.value === 'object' && ours.value?.error === value
  return ours.value === value
}

/** What differs between a workbook and what openpyxl says of it. */
function differences(workbook: Workbook, { mac, sheets }: z.infer<typeof file>): string[] {
  const found: string[] = []
  if ((workbook.dates === '1904') !== mac) found.push('the start of days')
  if (workbook.sheets.map(({ name }) => name).join('\n') !== Object.keys(sheets).join('\n'))
    found.push('the sheets')
  for (const { name, cells } of workbook.sheets) {
    const theirs = sheets[name] ?? {}
    for (const key of cells.keys()) if (!Object.hasOwn(theirs, key)) found.push(`${name}!${key} is not there`)
    for (const [key, value] of Object.entries(theirs))
      if (!sameCells(value, cells.get(key)))
        found.push(`${name}!${key}: ${JSON.stringify(value)}, ours ${JSON.stringify(cells.get(key))}`)
  }
  return found
}

async function compare(interpreter: string): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'quintain-sheets-'))
  try {
    const { stdout } = await promisify(execFile)(interpreter, [`${folder}write.py`, temporary], {
      maxBuffer: 2 ** 26,
    })
    const { openpyxl, files } = reply.parse(JSON.parse(stdout))
    let failed = 0
    let cells = 0
    for (const theirs of files) {
      cells += Object.values(theirs.sheets).reduce((sum, sheet) => sum + Object.keys(sheet).length, 0)
      const read = readWorkbook(await readFile(theirs.path))
      const wrong = 'problem' in read ? [read.message] : differences(read.workbook, theirs)
      if (wrong.length === 0) continue
      failed++
      process.stderr.write(`${wrong.slice(0, 5).join('\n')}\n`)
    }
    process.stdout.write(`Against openpyxl ${openpyxl}: ${cells} cells in ${files.length} workbooks.\n`)
    process.stdout.write(`${files.length - failed} passed, ${failed} failed, 0 skipped\n`)
    process.exitCode = failed === 0 && files.length > 0 ? 0 : 1
  } finally {
    await rm(temporary, { recursive: true, force: true })
  }
}

const environment = await pythonEnvironment(folder, (line) => process.stdout.write(`${line}\n`))
if ('unavailable' in environment) {
  process.stdout.write(`SKIPPED: workbooks are not compared: ${environment.unavailable}\n`)
  process.stdout.write('0 passed, 0 failed, 1 skipped\n')
} else await compare(environment.interpreter)
