import { isObject } from '../../core/chat-messages.ts'
import type { ToolSpec } from '../../core/index.ts'

/** The numbers among some values; null for one that is none, as for NaN. */
export function numbersOf(value: unknown): Record<string, number | null> {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, held]): [string, number | null][] => {
      if (typeof held === 'number' || typeof held === 'boolean') return [[name, Number(held)]]
      return held === null ? [[name, null]] : []
    }),
  )
}

/** Tools as chat lines, verifiers and Inspect write them. What is none is left out: it only describes. */
export function toolsOf(value: unknown): ToolSpec[] {
  if (!Array.isArray(value)) return []
  return (value as unknown[]).flatMap((entry) => {
    const inner = isObject(entry) && isObject(entry['function']) ? entry['function'] : entry
    if (!isObject(inner) || typeof inner['name'] !== 'string' || inner['name'] === '') return []
    const { name, description, parameters } = inner
    return [
      {
        name,
        description: typeof description === 'string' ? description : '',
        parameters: isObject(parameters) ? parameters : { type: 'object', properties: {} },
      },
    ]
  })
}

/** An ISO time from seconds since 1970; undefined for what is none, and for 0, which is none either. */
export function isoOf(seconds: unknown): string | undefined {
  const ms = typeof seconds === 'number' ? seconds * 1000 : Number.NaN
  return ms > 0 && ms <= 8.64e15 ? new Date(ms).toISOString() : undefined
}
