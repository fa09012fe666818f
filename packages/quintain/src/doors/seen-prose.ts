/** Shorter texts are names, codes, choices and addresses. */
const fewestWords = 6
/** What is looked at of a text: its kind shows early, and a text may be a book. */
const lookedAt = 600

const words = new Intl.Segmenter(undefined, { granularity: 'word' })

/** Whether a text is sentences: enough words, most of them in small letters or in a script that has none. */
export function isProse(text: string): boolean {
  let [all, plain] = [0, 0]
  for (const { segment, isWordLike } of words.segment(text.slice(0, lookedAt))) {
    if (isWordLike !== true) continue
    all++
    if (/^[\p{Ll}\p{Lo}\p{M}'’]+$/u.test(segment)) plain++
  }
  return all >= fewestWords && plain > all / 2
}

/** Finds out which arguments of a tool are free text: those of which most values are sentences that differ. */
export class SeenProse {
  readonly #arguments = new Map<string, { seen: number; prose: number; different: Set<string> }>()

  add(given: Readonly<Record<string, unknown>>): void {
    for (const [name, value] of Object.entries(given)) {
      if (typeof value !== 'string' || value === '') continue
      let entry = this.#arguments.get(name)
      if (entry === undefined) {
        // A map whose keys are data has no arguments to speak of.
        if (this.#arguments.size >= 100) continue
        entry = { seen: 0, prose: 0, different: new Set() }
        this.#arguments.set(name, entry)
      }
      entry.seen++
      if (!isProse(value)) continue
      entry.prose++
      if (entry.different.size < 1000) entry.different.add(value.slice(0, lookedAt))
    }
  }

  /** In the order in which they came. A long text that comes again and again is a choice. */
  names(): string[] {
    return [...this.#arguments]
      .filter(
        ([, { seen, prose, different }]) => prose > seen / 2 && different.size > Math.min(prose, 1000) / 2,
      )
      .map(([name]) => name)
  }
}
