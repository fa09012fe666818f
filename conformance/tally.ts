import { isDeepStrictEqual } from 'node:util'

/** Counts what passed, and says each check with what failed of it. */
export class Tally {
  passed = 0
  failed = 0
  private readonly name: string

  constructor(name: string) {
    this.name = name
  }

  check(what: string, actual: unknown, expected: unknown): void {
    const same = isDeepStrictEqual(actual, expected)
    if (same) this.passed++
    else this.failed++
    const shown = (value: unknown) => (JSON.stringify(value) ?? 'undefined').slice(0, 600)
    const said = same ? 'pass' : `fail: ${shown(actual)}, not ${shown(expected)}`
    process.stdout.write(`${this.name}: ${what} ${said}\n`)
  }
}
