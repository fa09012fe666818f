import { QuintainError } from '../core/index.ts'

/** How a metric of two parts of a batch becomes that of the whole. A subset of Tinker's reducers: those that are exact. */
const reducers = { sum: (a: number, b: number) => a + b, max: Math.max, min: Math.min }

/**
 * Metrics of a batch from those of its parts, by the reducer that each name ends with (`clipped:sum`, `ratio:max`). A name
 * that only some parts have is taken as it is. Throws `internal` for a name without a reducer: it would be merged wrongly.
 */
export function mergeMetrics(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const merged: Record<string, number> = {}
  for (const part of parts) {
    for (const [name, value] of Object.entries(part)) {
      const before = merged[name]
      merged[name] = before === undefined ? value : reducerOf(name)(before, value)
    }
  }
  return merged
}

function reducerOf(name: string): (a: number, b: number) => number {
  const reducer = name.slice(name.lastIndexOf(':') + 1)
  if (reducer === 'sum' || reducer === 'max' || reducer === 'min') return reducers[reducer]
  throw new QuintainError(
    'internal',
    `the metric ${name} ends with none of :sum, :max, :min, so the parts of a batch cannot be merged. Name its reducer.`,
    { facts: { name } },
  )
}
