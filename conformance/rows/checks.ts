import { isDeepStrictEqual } from 'node:util'

/** Counts what was compared, and prints each comparison as a line. */
export class Checks {
  passed = 0
  failed = 0
  skipped = 0
  private readonly name: string

  constructor(name: string) {
    this.name = name
  }

  equal(what: string, actual: unknown, expected: unknown): void {
    const same = isDeepStrictEqual(actual, expected)
    if (same) this.passed++
    else this.failed++
    const told = same ? 'pass' : `fail: ${short(actual)}, not ${short(expected)}`
    process.stdout.write(`${this.name}: ${what} ${told}\n`)
  }

  skip(what: string, why: string): void {
    this.skipped++
    process.stdout.write(`${this.name}: ${what} skipped: ${why}\n`)
  }

  say(text: string): void {
    process.stdout.write(`${this.name}: ${text}\n`)
  }

  summary(): string {
    return `${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`
  }
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}
