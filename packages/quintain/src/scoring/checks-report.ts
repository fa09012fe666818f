import { randomBytes } from 'node:crypto'
import type { Message } from './checks-messages.ts'

/** What came back of one run of the tests. */
export interface ChecksReport {
  /** The runner is up, and the test script was started. */
  begun: boolean
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
  private begun = false
  private ended = false
  private clean = false

  constructor(expected: readonly string[]) {
    const named = expected.map((name) => [number(), name] as const)
    this.names = new Map(named)
    this.numbers = [this.end, this.cleanEnd, ...named.map((pair) => pair.join(' ')), '', ''].join('\n')
  }

  take(message: Message): void {
    if (message.type === 'begin') this.begun = true
    else if (message.type === 'passed') {
      const name = this.names.get(message.number)
      if (name !== undefined) this.passed.add(name)
    } else if (message.type === 'failed') this.failed.add(message.name)
    else if (message.type === 'end' && message.number === this.end) {
      this.ended = true
      this.clean = message.clean === this.cleanEnd
    }
  }

  report(): ChecksReport {
    const { begun, ended, failed } = this
    const expected = new Set(this.names.values())
    return {
      begun,
      ended,
      // What has failed once has failed, whatever was said of it before or after.
      passed: new Set([...this.passed].filter((name) => !failed.has(name))),
      failed,
      clean: this.clean && [...failed].every((name) => expected.has(name)),
    }
  }
}

function number(): string {
  return randomBytes(16).toString('hex')
}
