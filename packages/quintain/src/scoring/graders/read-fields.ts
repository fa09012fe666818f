import { QuintainError } from '../../core/index.ts'

/** Reads a grader file: and keeps what was guessed. */
export class GraderReading {
  readonly guesses: string[] = []

  guess(sentence: string): void {
    if (this.guesses.length < 100) this.guesses.push(sentence)
  }

  /** The fields of an object at a place of the file. Throws `import_invalid` for what is none. */
  fields(value: unknown, at: string): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw invalid(at, `is ${kindOf(value)}, and no object`)
    return new Fields(value as Record<string, unknown>, at)
  }
}

/** The fields of an object of a grader file. */
export class Fields {
  readonly at: string
  private readonly value: Record<string, unknown>

  constructor(value: Record<string, unknown>, at: string) {
    this.value = value
    this.at = at
  }

  names(): string[] {
    return Object.keys(this.value)
  }

  has(name: string): boolean {
    return this.first(name) !== undefined
  }

  /** Says which fields are there that nobody reads. */
  unread(known: readonly string[], reading: GraderReading): void {
    for (const name of this.names())
      if (!known.includes(name) && this.has(name))
        reading.guess(`${this.at}.${name.slice(0, 60)} is not known and is left out.`)
  }

  /** The first of these fields that is there; null is not there. */
  first(...names: string[]): unknown {
    for (const name of names) {
      if (!Object.hasOwn(this.value, name)) continue
      const value = this.value[name]
      if (value !== undefined && value !== null) return value
    }
    return undefined
  }

  text(...names: string[]): string | undefined {
    const value = this.first(...names)
    if (value === undefined || typeof value === 'string') return value
    throw invalid(`${this.at}.${names[0]}`, `is ${kindOf(value)}, and no text`)
  }

  need(name: string): string {
    const value = this.text(name)
    if (value === undefined) throw this.problem(`has no "${name}"`)
    return value
  }

  number(...names: string[]): number | undefined {
    const value = this.first(...names)
    if (value === undefined) return undefined
    if (typeof value === 'number' && Number.isFinite(value)) return value
    throw invalid(`${this.at}.${names[0]}`, `is ${kindOf(value)}, and no number`)
  }

  list(name: string): unknown[] | undefined {
    const value = this.first(name)
    if (value === undefined || Array.isArray(value)) return value
    throw invalid(`${this.at}.${name}`, `is ${kindOf(value)}, and no list`)
  }

  texts(name: string): string[] {
    const list = this.list(name)
    if (list === undefined) throw this.problem(`has no "${name}"`)
    return list.map((value, place) => {
      if (typeof value === 'string') return value
      throw invalid(`${this.at}.${name}[${place}]`, `is ${kindOf(value)}, and no text`)
    })
  }

  problem(what: string): QuintainError {
    return invalid(this.at, what)
  }
}

export function invalid(at: string, what: string): QuintainError {
  return new QuintainError('import_invalid', `${at} ${what}.`, { facts: { at } })
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return Number.isFinite(value) ? 'a number' : String(value)
  return typeof value === 'object' ? 'an object' : typeof value === 'string' ? 'text' : `a ${typeof value}`
}
