import { type ErrorCode, QuintainError } from './errors.ts'

/** Edit distance with adjacent transpositions (optimal string alignment), the usual measure for typing slips. */
export function editDistance(a: string, b: string): number {
  const previous: number[] = []
  let current = Array.from({ length: b.length + 1 }, (_, j) => j)
  let before: number[] = []
  for (let i = 1; i <= a.length; i++) {
    before = previous.splice(0, previous.length)
    previous.push(...current)
    current = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(previous[j]! + 1, current[j - 1]! + 1, previous[j - 1]! + cost)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, before[j - 2]! + 1)
      }
      current.push(best)
    }
  }
  return current[b.length]!
}

/** The known name nearest to `name`, or undefined when none is near enough to be a slip of it. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  // A third of the letters, two at least, and never so many that hardly one is left of what was typed.
  const most = Math.min(Math.max(2, Math.floor(name.length / 3)), Math.floor(name.length / 2))
  let bestDistance = most + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The end of a sentence about an unknown name: `, did you mean "x"?`, or a full stop. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const suggestion = nearest(name, known)
  return suggestion === undefined ? '.' : `, did you mean "${suggestion}"?`
}

/** Throws `code` for the first key of an object that is not known, with the nearest that is: `where "key", did you mean "x"?`. */
export function refuseUnknown(value: object, known: readonly string[], code: ErrorCode, where: string): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    throw new QuintainError(code, `${where} "${key}"${didYouMean(key, known)}`, { facts: { field: key } })
  }
}
