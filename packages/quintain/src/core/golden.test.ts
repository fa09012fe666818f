import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { recordSchemas } from './records.ts'

/**
 * One record of each schema and version, as it was when that version was made. These files are never edited: what was
 * written once must be read for good. A new version adds its own files.
 */
const folder = join(import.meta.dirname, '__golden__')
const files = readdirSync(folder).filter((file) => file.endsWith('.json'))

const golden = (file: string): Record<string, unknown> => JSON.parse(readFileSync(join(folder, file), 'utf8'))
const schemaOf = (file: string) => {
  const name = file.split('.')[0]!
  expect(Object.keys(recordSchemas)).toContain(name)
  return recordSchemas[name as keyof typeof recordSchemas]
}

describe.each(files)('%s', (file) => {
  test('is read, and nothing of it is lost', () => {
    expect(schemaOf(file).parse(golden(file))).toEqual(golden(file))
  })

  test('is read when a later version has added fields', () => {
    expect(schemaOf(file).safeParse({ ...golden(file), addedLater: { anything: 1 } }).success).toBe(true)
  })

  test('is not taken for another schema or version', () => {
    expect(schemaOf(file).safeParse({ ...golden(file), schema: 'quintain.other' }).success).toBe(false)
    expect(schemaOf(file).safeParse({ ...golden(file), v: 999 }).success).toBe(false)
  })
})

test('every schema has a golden file of every version', () => {
  for (const name of Object.keys(recordSchemas)) expect(files).toContain(`${name}.v1.json`)
})
