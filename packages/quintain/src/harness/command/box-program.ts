import type { Box } from '../../core/index.ts'
import { LineQueue, mostLineBytes } from './line-queue.ts'
import type { LineProgram } from './place.ts'
import type { ProgramEnd } from './program-end.ts'

const name = 'quintain-agent'

/** A program in a box that talks in lines. What it writes is fetched while somebody waits for a line. */
export class BoxProgram implements LineProgram {
  readonly ended: Promise<ProgramEnd>
  private readonly talk: NonNullable<Box['talk']>
  private readonly over = new AbortController()
  private readonly lines = new LineQueue({ pause() {}, resume() {} }, mostLineBytes)
  private input = ''

  constructor(
    box: Box & Required<Pick<Box, 'talk'>>,
    argv: readonly string[],
    options: { env: Readonly<Record<string, string>>; wallMs: number; outputBytes: number },
  ) {
    this.ended = box.exec(argv, { ...options, talk: name, signal: this.over.signal })
    // Whoever waits for a line is told.
    this.ended.catch(() => {})
    this.talk = (...said) => box.talk(...said)
  }

  write(text: string): void {
    this.input += text
  }

  async line(): Promise<string | undefined> {
    let line: { text: string | undefined } | undefined
    const next = this.lines.next().then((text) => {
      line = { text }
    })
    for (;;) {
      // A line that came together with an earlier one is there at once.
      await Promise.race([next, Promise.resolve()])
      if (line !== undefined) return line.text
      const { output, ended } = await this.talk(name, this.input)
      this.input = ''
      this.lines.push(Buffer.from(output))
      if (ended) this.lines.end()
    }
  }

  async stop(): Promise<void> {
    this.over.abort()
    await this.ended.catch(() => {})
  }
}
