// Rows out and in with who reads and writes them. Out: files of every form are read by `datasets` and pyarrow, by Tinker's
// types and by ART's reader, and compared with what was written. In: logs of a real `inspect_ai` run and results of a real
// `verifiers` run are imported and compared with what their own tools say. `node conformance/rows/check.ts`
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Checks } from './checks.ts'
import { checkInspect, checkVerifiers } from './in.ts'
import { checkArt, checkReaders } from './out.ts'

const folder = mkdtempSync(join(tmpdir(), 'quintain-rows-'))
const checks = new Checks('rows')
try {
  await checkReaders(folder, checks)
  await checkArt(folder, checks)
  await checkInspect(folder, checks)
  await checkVerifiers(folder, checks)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(checks.summary())
process.exit(checks.failed === 0 ? 0 : 1)
