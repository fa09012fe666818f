/** Something that whoever moves a grader has to know. Errors keep the package from being made, warnings do not. */
export interface Finding {
  severity: 'error' | 'warning' | 'guess'
  /** A stable word for its kind, such as `missing_variable`. */
  code: string
  /** File and line, or the grader and its field. */
  place: string
  message: string
  /** How many rows it is true of, where it is one of rows. */
  rows?: number
}

/** The most that is kept of one kind; the rest is counted. */
const mostOfAKind = 20

/** Gathers findings; of each kind the first are kept and the others counted, so that a bad file of a million lines is told in a page. */
export class Findings {
  private readonly kept: Finding[] = []
  private readonly counts = new Map<string, number>()

  add(finding: Finding): void {
    const count = (this.counts.get(finding.code) ?? 0) + 1
    this.counts.set(finding.code, count)
    if (count <= mostOfAKind) this.kept.push(finding)
  }

  /** Whether anything keeps the package from being made. */
  get failed(): boolean {
    return this.kept.some(({ severity }) => severity === 'error')
  }

  /** All of them, errors first and each by its place, each kind that was cut with its count. */
  list(): Finding[] {
    const order = { error: 0, warning: 1, guess: 2 }
    const byPlace = new Intl.Collator('en', { numeric: true }).compare
    const sorted = this.kept.toSorted(
      (a, b) => order[a.severity] - order[b.severity] || byPlace(a.place, b.place),
    )
    const more = [...this.counts].flatMap(([code, count]): Finding[] => {
      if (count <= mostOfAKind) return []
      const { severity, place } = this.kept.findLast((one) => one.code === code)!
      return [{ severity, code, place, message: `… and ${count - mostOfAKind} more of this kind (${code}).` }]
    })
    return [...sorted, ...more]
  }
}
