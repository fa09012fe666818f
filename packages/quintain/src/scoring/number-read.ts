import { readClaim } from './number-claim.ts'
import { flatten } from './number-flat.ts'
import type { NumberReading } from './number-text.ts'
import { canonicalUnit } from './number-unit.ts'

const longestText = 20_000
const longestUnit = 60

/**
 * The number that a text is, whole: `$1,234.50`, `-3/4`, `\frac{3}{4}`, `45 %`, `12 cm`, `**91**`, `x = 5`, `(18)`,
 * `18 (apples)`. Parentheses round an amount are no minus sign, though accountants mean one. Null for a text that holds
 * more, or no number; `5!` is a factorial here. Never throws.
 */
export function readNumber(text: string): NumberReading | null {
  if (text.length > longestText) return null
  const flat = flatten(text.trim()).text.trim()
  const bare = /[^\s.][.,;:]$/.test(flat) ? flat.slice(0, -1) : flat
  const claim = readClaim(bare, { kind: 'whole', from: 0, to: bare.length })
  if (claim.reason !== undefined) return null
  const rest = bare
    .slice(claim.end)
    .replace(/\([^()]{0,200}\)/g, ' ')
    .trim()
  if (!/^[\p{L}°\s.,²³^/$€£¥₹¢"'”’\])23-]*$/u.test(rest) || rest.length > longestUnit) return null
  const unit = claim.reading.unit ?? (rest === '' ? undefined : canonicalUnit(rest.replace(/\.$/, '')))
  return { ...claim.reading, unit }
}
