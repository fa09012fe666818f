import { parseJsonAt } from '../core/json-parse.ts'
import { extractJson } from '../core/json-text.ts'
import { type Extraction, none } from './extraction.ts'

/** The text of the JSON value that a model's text holds (see `extractJson`), as JSON without spaces. */
export function jsonAnswer(text: string, truncated: boolean): Extraction {
  const found = extractJson(text)
  if (found.error !== undefined) return none(found.truncated || truncated ? 'truncated' : 'no_candidate')
  // A number alone is JSON, and no more than a number.
  if (typeof found.value !== 'object' || found.value === null) {
    const whole = parseJsonAt(text.trim())
    if (!whole.ok) return none('no_candidate')
  }
  return { answer: JSON.stringify(found.value) }
}
