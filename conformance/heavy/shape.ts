/** A JSON value without its values: names and types alone; of a list, the shapes that its elements have. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return 'null'
  if (Array.isArray(value)) {
    const shapes = new Map(value.map((one) => [JSON.stringify(shapeOf(one)), shapeOf(one)]))
    return [...shapes].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, shape]) => shape)
  }
  if (typeof value !== 'object') return typeof value
  const entries = Object.entries(value).map(([name, one]): [string, unknown] => [name, shapeOf(one)])
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)))
}
