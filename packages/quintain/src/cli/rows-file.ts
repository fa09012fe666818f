import { randomUUID } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { checkTarget, type OutputKind, outputError } from '../report/output-file.ts'
import { type ChatRow, rowLine, rowSchema, type TokenRow } from '../rows/index.ts'

const kind: OutputKind = {
  name: 'file of rows',
  mark: JSON.stringify(rowSchema).slice(0, -1),
  smaller: 'take fewer rows',
}
const batchBytes = 1 << 20

/** A file of rows that is there whole or not at all. Rows are written as they come. */
export class RowsFile {
  private readonly path: string
  private readonly temporary: string
  private readonly handle: FileHandle
  private lines: string[] = []
  private bytes = 0

  private constructor(path: string, temporary: string, handle: FileHandle) {
    this.path = path
    this.temporary = temporary
    this.handle = handle
  }

  /** Throws `output_exists` for a file that holds something else, `output_io` and `disk_full`. */
  static async open(path: string, force: boolean): Promise<RowsFile> {
    const temporary = join(dirname(path), `.${basename(path)}.${randomUUID().slice(0, 8)}`)
    try {
      await checkTarget(path, kind, force)
      return new RowsFile(path, temporary, await open(temporary, 'wx'))
    } catch (error) {
      throw outputError(error, path, kind)
    }
  }

  /** Has rows made and written; the file takes its place when all are there. */
  async fill<T>(make: (onRow: (row: TokenRow | ChatRow) => void | Promise<void>) => Promise<T>): Promise<T> {
    try {
      const made = await make((row) => this.add(rowLine(row)))
      await this.write()
      await this.handle.close()
      await rename(this.temporary, this.path)
      return made
    } catch (error) {
      await this.handle.close().catch(() => {})
      await rm(this.temporary, { force: true }).catch(() => {})
      throw outputError(error, this.path, kind)
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
