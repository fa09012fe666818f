import { parseJsonAt } from '../core/json-parse.ts'
import { findObjects } from '../core/json-text.ts'
import { splitThinking } from './thinking.ts'

const opening = '<tool_call>'

/**
 * Tool calls that a model wrote as text because its server did not parse them: `<tool_call>` blocks, else JSON objects
 * with a name and arguments. Reasoning is left out. `arguments` stay as they were written; blocks that hold no call
 * are counted in `malformed`. Never throws.
 */
export function extractToolCalls(text: string): {
  calls: { name: string; arguments: unknown }[]
  malformed: number
} {
  const said = splitThinking(text, 'anywhere').content
  const calls: { name: string; arguments: unknown }[] = []
  let malformed = 0
  const add = (value: unknown): boolean => {
    if (Array.isArray(value)) return value.length > 0 && value.map(add).every(Boolean)
    if (typeof value !== 'object' || value === null) return false
    const outer = value as Record<string, unknown>
    const inner = (
      typeof outer['function'] === 'object' && outer['function'] !== null ? outer['function'] : outer
    ) as Record<string, unknown>
    if (typeof inner['name'] !== 'string') return false
    if (!('arguments' in inner) && !('parameters' in inner)) return false
    calls.push({ name: inner['name'], arguments: inner['arguments'] ?? inner['parameters'] })
    return true
  }
  let blocks = 0
  for (let at = said.indexOf(opening); at >= 0; at = said.indexOf(opening, at)) {
    blocks++
    at += opening.length
    const parsed = parseJsonAt(said, at)
    if (!parsed.ok || !add(parsed.value)) malformed++
    // Tags inside of what was read are text of its arguments.
    if (parsed.ok) at = parsed.end
  }
  if (blocks > 0) return { calls, malformed }
  const whole = parseJsonAt(said)
  if (whole.ok && Array.isArray(whole.value) && add(whole.value)) return { calls, malformed }
  const { candidates, openEnd } = findObjects(said, {})
  for (const { value } of candidates) add(value)
  return { calls, malformed: openEnd ? 1 : 0 }
}
