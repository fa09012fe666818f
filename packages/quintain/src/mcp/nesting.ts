import { mostNesting } from '../core/json-depth.ts'

/** Deeper than anything that a model may send, so that a server can say it again in an answer. */
const mostInMessage = 2 * mostNesting

/** Whether a parsed JSON value nests so deep that whoever walks it would run out of stack. Itself it needs none. */
export function nestsDeep(value: unknown): boolean {
  let level: object[] = []
  if (isNode(value)) level.push(value)
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > mostInMessage) return true
    const next: object[] = []
    for (const node of level) for (const entry of Object.values(node)) if (isNode(entry)) next.push(entry)
    level = next
  }
  return false
}

function isNode(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
