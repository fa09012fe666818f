import { randomBytes } from 'node:crypto'
import type { Message } from './checks-messages.ts'

/** What came back of one run of the tests. */
export interface ChecksReport {
  /** The test script came to its end. */
  ended: boolean
  /** No check has failed that was not expected. */
  clean: boolean
  passed: ReadonlySet<string>
  failed: ReadonlySet<string>
}

/** Collects what the runner of one grading says, and gives it the numbers by which it says it. */
export class ReportReader {
  /** What the runner reads before any test: the numbers of the end, of a clean end and of each check, by lines. */
  readonly numbers: string
  private readonly names: ReadonlyMap<string, string>
  private readonly end = number()
  private readonly cleanEnd = number()
  private readonly passed = new Set<string>()
  private readonly failed = new Set<string>()
  private ended = false
  private clean = false

  constructor(expected: readonly string[]) {
    const named = expected.map((name) => [number(), name] as const)
    this.names = new Map(named)
    this.numbers = [this.end, this.cleanEnd, ...named.map((pair) => pair.join(' ')), '', ''].join('\n')
  }

  take(message: Message): void {
    if (message.type === 'passed') {
      const name = this.names.get(message.number)
      if (name !== undefined) this.passed.add(name)
    } else if (message.type === 'failed') this.failed.add(message.name)
    else if (message.type === 'end' && message.number === this.end) {
      this.ended = true
      this.clean = message.clean === this.cleanEnd
    }
  }

  report(): ChecksReport {
    const { ended, clean, passed, failed } = this
    return { ended, clean, passed, failed }
  }
}

function number(): string {
  return randomBytes(16).toString('hex')
}
