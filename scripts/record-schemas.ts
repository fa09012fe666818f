import { z } from 'zod'
import { recordSchemas } from '../packages/quintain/src/core/records.ts'

/** Where the printed schemas lie, from the root of the repository. */
export const schemaFolder = 'packages/quintain/schemas'

/** The JSON Schemas (draft 2020-12) of all records, as text by file name. `core/records.ts` is their source. */
export function printedSchemas(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(recordSchemas).map(([name, schema]) => {
      // The form of what is read: what a later version adds is let through, as readers do.
      const printed = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input', reused: 'ref' })
      const { $schema, ...rest } = printed
      const document = { $schema, title: `Quintain ${name} record, version 1`, ...rest }
      return [`${name}.v1.json`, `${JSON.stringify(document, null, 2)}\n`]
    }),
  )
}
