import { extname } from 'node:path'

export const rowsFileFormats = ['jsonl', 'parquet'] as const
export type RowsFileFormat = (typeof rowsFileFormats)[number]

/** The format of a file of rows: the one that is asked for, or by its name; lines of JSON unless it ends in `.parquet`. */
export function formatOfRows(file: string, asked: RowsFileFormat | undefined): RowsFileFormat {
  return asked ?? (extname(file).toLowerCase() === '.parquet' ? 'parquet' : 'jsonl')
}
