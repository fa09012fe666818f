import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** What workers print. It may quote secrets, so it goes to the private part of the run, and only up to a size. */
export class WorkerLog {
  private stream: WriteStream | undefined
  private early = ''
  private bytes = 0
  private static readonly most = 10 * 1024 * 1024

  write(text: string): void {
    if (this.bytes > WorkerLog.most) return
    this.bytes += text.length
    if (this.stream === undefined) this.early += text
    else this.stream.write(text)
  }

  async to(path: string): Promise<void> {
    await mkdir(dirname(path), { recursive: true })
    const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
    // A log that cannot be written must not end the run.
    stream.on('error', () => {
      this.bytes = Number.POSITIVE_INFINITY
    })
    if (this.early !== '') stream.write(this.early)
    this.early = ''
    this.stream = stream
  }

  close(): void {
    this.stream?.end()
  }
}
