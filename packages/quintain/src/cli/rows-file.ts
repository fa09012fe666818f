import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Field, ParquetRows, parquetAuthor } from '../doors/rows-out/index.ts'
import { checkTarget, type OutputKind, outputError } from '../report/output-file.ts'

/** What is in a file of rows, and how it is told from files of somebody else. */
export interface RowsFileKind {
  /** A file of lines that begins so is ours. */
  mark: string
  /** Columns of a Parquet file; lines of JSON where there are none. */
  parquet?: readonly Field[]
  /** For the metadata of a Parquet file. */
  metadata?: Readonly<Record<string, string>>
}

const batchBytes = 1 << 20
/** In so many of its last bytes a Parquet file says who wrote it, unless it is of another's. */
const tailBytes = 64 * 1024

/** A file of rows that is there whole or not at all. Rows are written as they come. */
export class RowsFile {
  private readonly path: string
  private readonly temporary: string
  private readonly handle: FileHandle
  private readonly output: OutputKind
  private readonly parquet: ParquetRows | undefined
  private lines: string[] = []
  private bytes = 0

  private constructor(path: string, temporary: string, handle: FileHandle, kind: RowsFileKind) {
    this.path = path
    this.temporary = temporary
    this.handle = handle
    this.output = outputOf(kind)
    this.parquet =
      kind.parquet && new ParquetRows(kind.parquet, (bytes) => handle.writeFile(bytes), kind.metadata)
  }

  /** Throws `output_exists` for a file that holds something else, `output_io` and `disk_full`. */
  static async open(path: string, force: boolean, kind: RowsFileKind): Promise<RowsFile> {
    const temporary = join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}`)
    const output = outputOf(kind)
    try {
      // Any Parquet file begins alike; ours says at its end that it is ours.
      const ours = kind.parquet !== undefined && (await endsAsOurs(path))
      await checkTarget(path, output, force || ours)
      return new RowsFile(path, temporary, await open(temporary, 'wx'), kind)
    } catch (error) {
      throw outputError(error, path, output)
    }
  }

  /** Has rows made and written; the file takes its place when all are there. A row has its line beside it. */
  async fill<T>(
    make: (onRow: (line: string, row: object) => void | Promise<void>) => Promise<T>,
  ): Promise<T> {
    try {
      const made = await make((line, row) =>
        this.parquet === undefined ? this.add(line) : this.parquet.add(row, line.length),
      )
      if (this.parquet === undefined) await this.write()
      else await this.parquet.end()
      await this.handle.close()
      await rename(this.temporary, this.path)
      return made
    } catch (error) {
      await this.handle.close().catch(() => {})
      await rm(this.temporary, { force: true }).catch(() => {})
      throw outputError(error, this.path, this.output)
    }
  }

  private add(line: string): void | Promise<void> {
    this.lines.push(`${line}\n`)
    this.bytes += line.length
    if (this.bytes >= batchBytes) return this.write()
  }

  private async write(): Promise<void> {
    const text = this.lines.join('')
    this.lines = []
    this.bytes = 0
    await this.handle.writeFile(text)
  }
}

function outputOf({ mark, parquet }: RowsFileKind): OutputKind {
  // Nothing of a Parquet file's beginning says whose it is, so that none is ours by it.
  return { name: 'file of rows', mark: parquet === undefined ? mark : '\0', smaller: 'take fewer rows' }
}

async function endsAsOurs(path: string): Promise<boolean> {
  const handle = await open(path, 'r').catch(() => undefined)
  if (handle === undefined) return false
  try {
    const found = await handle.stat()
    if (!found.isFile()) return false
    const length = Math.min(tailBytes, found.size)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, found.size - length)
    const tail = buffer.toString('latin1', 0, bytesRead)
    return tail.endsWith('PAR1') && tail.includes(parquetAuthor)
  } finally {
    await handle.close()
  }
}
