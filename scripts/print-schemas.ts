// Prints packages/quintain/schemas from core/records.ts: `node scripts/print-schemas.ts`
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { printedSchemas, schemaFolder } from './record-schemas.ts'

const folder = join(import.meta.dirname, '..', schemaFolder)
const printed = printedSchemas()
mkdirSync(folder, { recursive: true })
for (const file of readdirSync(folder)) if (!(file in printed)) rmSync(join(folder, file))
for (const [file, text] of Object.entries(printed)) writeFileSync(join(folder, file), text)
process.stdout.write(`${Object.keys(printed).length} schemas in ${schemaFolder}\n`)
