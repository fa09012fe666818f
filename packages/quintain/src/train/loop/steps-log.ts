import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { jsonLine, truncateTornTail } from '../../core/index.ts'
import { ioError } from '../../core/io-error.ts'
import type { StepLine } from '../records.ts'
import { trainingFiles } from '../training-folder.ts'

/** `steps.jsonl` of a training that goes on: the log from which it is taken up. */
export class StepsLog {
  /** Lines so far, those of earlier sittings included. */
  readonly lines: StepLine[]
  private readonly dir: string

  private constructor(dir: string, lines: readonly StepLine[]) {
    this.dir = dir
    this.lines = [...lines]
  }

  /** Opens the log after the lines that it holds; a torn tail is cut off. */
  static async open(dir: string, lines: readonly StepLine[] = []): Promise<StepsLog> {
    await truncateTornTail(join(dir, trainingFiles.steps))
    return new StepsLog(dir, lines)
  }

  /** Appends a line: on the disk itself when it resolves, or not there at all. Throws `disk_full` and `journal_io`. */
  async append(line: StepLine): Promise<void> {
    try {
      const file = await open(join(this.dir, trainingFiles.steps), 'a', 0o600)
      try {
        const { size } = await file.stat()
        try {
          await file.appendFile(jsonLine(line))
          await file.datasync()
        } catch (error) {
          await file.truncate(size).catch(() => {})
          throw error
        }
      } finally {
        await file.close()
      }
    } catch (error) {
      throw ioError(error, this.dir)
    }
    this.lines.push(line)
  }
}
