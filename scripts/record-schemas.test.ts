import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printedSchemas, schemaFolder } from './record-schemas.ts'

const folder = join(import.meta.dirname, '..', schemaFolder)

test('the printed schemas are those of core/records.ts; print them with `node scripts/print-schemas.ts`', () => {
  const onDisk = Object.fromEntries(
    readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  )
  expect(onDisk).toEqual(printedSchemas())
})
