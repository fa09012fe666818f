import type { Grader } from '../../scoring/index.ts'

/** How far two scores of a kind of grader may lie apart and still agree, and why so far. */
export interface ParityTolerance {
  within: number
  why: string
}

/** The tolerance of a grader: none for what is exact, little for what is computed otherwise elsewhere. */
export function toleranceOf(grader: Grader): ParityTolerance {
  switch (grader.type) {
    case 'string_check':
      return { within: 0, why: 'exact' }
    case 'python':
      return { within: 1e-9, why: 'the same source' }
    case 'text_similarity':
      return grader.metric === 'fuzzy_match'
        ? { within: 1e-4, why: 'saved scores are rounded' }
        : { within: 0.01, why: "the vendor's tokens are not published" }
    case 'score_model':
      return {
        within: (grader.range[1] - grader.range[0]) / 10,
        why: 'a model says it again: a tenth of the range',
      }
    case 'label_model':
      return { within: 0, why: 'a model says it again' }
    case 'multi': {
      const parts = Object.values(grader.graders).map(toleranceOf)
      const widest = Math.max(1e-9, ...parts.map(({ within }) => within))
      return { within: widest, why: 'the widest of its parts' }
    }
  }
}

/** What the replay of saved outputs came to for one grader. */
export interface GraderParity {
  name: string
  type: Grader['type']
  tolerance: ParityTolerance
  /** Rows that have a score of this grader to be compared with. */
  rows: number
  /** Rows that both scored. */
  compared: number
  agreeing: number
  meanDifference: number | null
  largestDifference: number | null
  /** Chance-corrected agreement on passing, where both passed and failed rows are there; Cohen's kappa. */
  kappa: number | null
  /** Rows that could not be graded here, by the vendor's word for it. */
  errors: Record<string, number>
  /** The first rows that disagree. No gold is shown: a line of the file, and two numbers. */
  disagreeing: { line: number; expected: number; given: number }[]
}

const shownRows = 20

/** Gathers what came of the rows for one grader. */
export class ParityCount {
  private readonly grader: Grader
  private readonly tolerance: ParityTolerance
  private readonly name: string
  private rows = 0
  private agreeing = 0
  private sum = 0
  private largest = 0
  private compared = 0
  private readonly table = { both: 0, neither: 0, onlyExpected: 0, onlyGiven: 0 }
  private readonly errors: Record<string, number> = {}
  private readonly disagreeing: GraderParity['disagreeing'] = []

  constructor(name: string, grader: Grader, tolerance = toleranceOf(grader)) {
    this.name = name
    this.grader = grader
    this.tolerance = tolerance
  }

  /** A row: what was expected of this grader, and what it gave here, or the code of why it gave nothing. */
  add(
    line: number,
    expected: { score: number | null; passed?: boolean },
    given: { score: number | null; error?: string },
  ): void {
    this.rows++
    if (given.score === null) {
      const code = given.error ?? 'other_error'
      this.errors[code] = (this.errors[code] ?? 0) + 1
      return
    }
    if (expected.score === null) return
    this.compared++
    const difference = Math.abs(expected.score - given.score)
    this.sum += difference
    this.largest = Math.max(this.largest, difference)
    if (difference <= this.tolerance.within) this.agreeing++
    else if (this.disagreeing.length < shownRows)
      this.disagreeing.push({ line, expected: expected.score, given: given.score })
    const threshold = this.grader.passThreshold ?? 0.5
    const before = expected.passed ?? expected.score >= threshold
    const now = given.score >= threshold
    this.table[before ? (now ? 'both' : 'onlyExpected') : now ? 'onlyGiven' : 'neither']++
  }

  result(): GraderParity {
    const none = this.compared === 0
    return {
      name: this.name,
      type: this.grader.type,
      tolerance: this.tolerance,
      rows: this.rows,
      compared: this.compared,
      agreeing: this.agreeing,
      meanDifference: none ? null : this.sum / this.compared,
      largestDifference: none ? null : this.largest,
      kappa: this.kappa(),
      errors: this.errors,
      disagreeing: this.disagreeing,
    }
  }

  private kappa(): number | null {
    const { both, neither, onlyExpected, onlyGiven } = this.table
    const n = both + neither + onlyExpected + onlyGiven
    const [passed, given] = [both + onlyExpected, both + onlyGiven]
    const chance = (passed * given + (n - passed) * (n - given)) / (n * n)
    return n === 0 || passed === 0 || passed === n || chance === 1
      ? null
      : ((both + neither) / n - chance) / (1 - chance)
  }
}
