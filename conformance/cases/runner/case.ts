/** One line of a case file. */
export interface Case {
  id: string
  area?: string
  input: { op: string } & Record<string, unknown>
  expected: unknown
}

/**
 * What an area file exports as `ops`: for each operation a function that carries it out through the product's own
 * API and returns what came out, in the words of the case files. A thrown error with a `code` is the result
 * `{ error: code, message }`.
 */
export type Ops = Record<string, (input: Record<string, unknown>) => unknown>

const shownDecimals = new WeakMap<object, Map<string, number>>()

/**
 * Reads a line of a case file. How many decimals a number of it shows is kept, since that is how exactly it is
 * compared, and 0.2500 would otherwise be forgotten to be four. Throws `SyntaxError` for what is no case.
 */
export function parseCase(line: string): Case {
  const value: unknown = JSON.parse(line, function (this: object, key, inner, context?: { source?: string }) {
    const decimals = /^-?\d+\.(\d+)$/.exec(context?.source ?? '')?.[1]?.length
    if (typeof inner === 'number' && decimals !== undefined) {
      const known = shownDecimals.get(this) ?? new Map<string, number>()
      shownDecimals.set(this, known.set(key, decimals))
    }
    return inner
  })
  const { id, input, expected } = (value ?? {}) as Partial<Case>
  if (typeof id !== 'string' || typeof input?.op !== 'string' || expected === undefined) {
    throw new SyntaxError('a case is an object with id, input.op and expected')
  }
  return value as Case
}

/** Decimals that the number at `key` of `holder` shows in its case file; undefined when none or when it was not read from one. */
export function decimalsOf(holder: object, key: string | number): number | undefined {
  return shownDecimals.get(holder)?.get(String(key))
}
