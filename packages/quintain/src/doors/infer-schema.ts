type JsonSchema = Record<string, unknown>

/** Deeper values and more properties are not described: what looks so is data, not parameters. */
const mostDepth = 8
const mostProperties = 100

/**
 * A JSON Schema that fits every value it was shown: types, properties, and which of them were there each time. It says
 * what was seen and no more; a tool may take what nobody sent.
 */
export class SeenValues {
  readonly #types = new Set<string>()
  readonly #depth: number
  #objects = 0
  readonly #properties = new Map<string, { seen: number; values: SeenValues }>()
  #items: SeenValues | undefined

  constructor(depth = 0) {
    this.#depth = depth
  }

  add(value: unknown): void {
    if (value === null) this.#types.add('null')
    else if (Array.isArray(value)) {
      this.#types.add('array')
      if (this.#depth >= mostDepth) return
      this.#items ??= new SeenValues(this.#depth + 1)
      for (const item of value) this.#items.add(item)
    } else if (typeof value === 'object') {
      this.#types.add('object')
      this.#objects++
      if (this.#depth >= mostDepth) return
      for (const [name, inner] of Object.entries(value as object)) {
        let property = this.#properties.get(name)
        if (property === undefined) {
          if (this.#properties.size > mostProperties) continue
          property = { seen: 0, values: new SeenValues(this.#depth + 1) }
          this.#properties.set(name, property)
        }
        property.seen++
        property.values.add(inner)
      }
    } else if (typeof value === 'number') this.#types.add(Number.isInteger(value) ? 'integer' : 'number')
    else this.#types.add(typeof value)
  }

  schema(): JsonSchema {
    const types = [...this.#types].filter((type) => type !== 'integer' || !this.#types.has('number')).sort()
    const schema: JsonSchema = {}
    if (types.length === 1) schema['type'] = types[0]
    else if (types.length > 1) schema['type'] = types
    if (this.#items !== undefined && this.#items.#types.size > 0) schema['items'] = this.#items.schema()
    // More names than any tool has parameters: a map, whose names are data.
    if (this.#types.has('object') && this.#properties.size <= mostProperties && this.#depth < mostDepth) {
      const properties = [...this.#properties]
      schema['properties'] = Object.fromEntries(
        properties.map(([name, { values }]) => [name, values.schema()]),
      )
      const required = properties.flatMap(([name, { seen }]) => (seen === this.#objects ? [name] : []))
      if (required.length > 0) schema['required'] = required
    }
    return schema
  }
}
