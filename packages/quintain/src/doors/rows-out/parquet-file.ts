import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import { quintainVersion } from '../../core/version.ts'
import type { Field } from './parquet-columns.ts'

/** A row group is closed at so much text of its rows, or so many of them: it is what is held in memory. */
const groupBytes = 8 * 1024 * 1024
const groupRows = 10_000

/** By what a Parquet file of ours says who wrote it, in its last bytes. */
export const parquetAuthor = 'quintain version '

/** Bytes of a file in the making go to a sink, group by group. */
class SinkWriter extends ByteWriter {
  readonly #sink: (bytes: Uint8Array) => Promise<void>

  constructor(sink: (bytes: Uint8Array) => Promise<void>) {
    super()
    this.#sink = sink
  }

  async flush(): Promise<void> {
    const bytes = this.getBytes()
    await this.#sink(bytes)
    this.index = 0
  }

  override async finish(): Promise<void> {
    await this.flush()
  }
}

/**
 * A Parquet file that is written as rows come, a row group at a time, so that memory does not grow with the file.
 *
 * @example const file = new ParquetRows(columnsOf.sft, (bytes) => handle.appendFile(bytes)); await file.add(row); await file.end()
 */
export class ParquetRows {
  readonly #fields: readonly Field[]
  readonly #writer: ParquetWriter
  #rows: Record<string, unknown>[] = []
  #bytes = 0

  constructor(
    fields: readonly Field[],
    sink: (bytes: Uint8Array) => Promise<void>,
    metadata: Readonly<Record<string, string>> = {},
  ) {
    this.#fields = fields
    this.#writer = new ParquetWriter({
      writer: new SinkWriter(sink),
      schema: schemaOf(fields),
      // Least and greatest texts say nothing of conversations.
      statistics: false,
      createdBy: `${parquetAuthor}${quintainVersion}`,
      kvMetadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    })
  }

  /** `size` is about how many bytes the row takes. */
  async add(row: object, size: number): Promise<void> {
    this.#rows.push(row as Record<string, unknown>)
    this.#bytes += size
    if (this.#bytes >= groupBytes || this.#rows.length >= groupRows) await this.#writeGroup()
  }

  async end(): Promise<void> {
    await this.#writeGroup()
    await this.#writer.finish()
  }

  async #writeGroup(): Promise<void> {
    const rows = this.#rows
    this.#rows = []
    this.#bytes = 0
    if (rows.length === 0) return
    await this.#writer.write({
      rowGroupSize: rows.length,
      columnData: this.#fields.map((field) => ({
        name: field.name,
        data: rows.map((row) => cellOf(field, row[field.name])),
      })),
    })
  }
}

/** The schema tree in a row, root first. Everything may be null. */
function schemaOf(fields: readonly Field[]): SchemaElement[] {
  return [{ name: 'schema', num_children: fields.length }, ...fields.flatMap(elementsOf)]
}

const primitives = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  double: { type: 'DOUBLE' },
  float: { type: 'FLOAT' },
  int: { type: 'INT32' },
  flag: { type: 'BOOLEAN' },
} as const

function elementsOf({ name, type }: Field): SchemaElement[] {
  const optional = { name, repetition_type: 'OPTIONAL' } as const
  if (typeof type === 'string') return [{ ...optional, ...primitives[type] }]
  if ('record' in type)
    return [{ ...optional, num_children: type.record.length }, ...type.record.flatMap(elementsOf)]
  return [
    { ...optional, converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    ...elementsOf({ ...type.list, name: 'element' }),
  ]
}

/** A value as the writer takes it: JSON as text, lists as arrays, nothing undefined. */
function cellOf({ type }: Field, value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (type === 'json') return JSON.stringify(value)
  if (typeof type === 'string') return value
  if ('list' in type) return Array.from(value as ArrayLike<unknown>, (element) => cellOf(type.list, element))
  const source = value as Record<string, unknown>
  return Object.fromEntries(type.record.map((inner) => [inner.name, cellOf(inner, source[inner.name])]))
}
