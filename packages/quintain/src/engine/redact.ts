/** Below this length a secret is only taken out where it stands as a whole word: "4" is no secret inside "2024". */
const wholeWordBelow = 4
const shownInstead = '[secret]'

function collect(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') {
    if (value.trim() !== '') found.add(value)
    for (const line of value.split(/\r?\n/)) if (line.trim().length >= wholeWordBelow) found.add(line.trim())
  } else if (typeof value === 'number' || typeof value === 'bigint') found.add(String(value))
  else if (Array.isArray(value)) for (const item of value) collect(item, found)
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collect(item, found)
}

/**
 * Takes a task's secret out of text that code which knows it has written: error messages, reasons. Looks for every
 * text and number inside the secret, in any case, as it is, as JSON and as base64. What it cannot recognise it cannot
 * take out, so whole texts go to the private records only.
 */
export function redactor(secret: unknown): (text: string) => string {
  let pattern: RegExp | undefined | null
  return (text) => {
    if (secret === undefined || secret === null) return text
    if (pattern === undefined) pattern = patternOf(secret)
    return pattern === null ? text : text.replace(pattern, shownInstead)
  }
}

function patternOf(secret: unknown): RegExp | null {
  const found = new Set<string>()
  collect(secret, found)
  const forms = new Set<string>()
  for (const text of found) {
    const quoted = escapeForPattern(text)
    if (text.length < wholeWordBelow) forms.add(`(?<![\\p{L}\\p{N}])${quoted}(?![\\p{L}\\p{N}])`)
    else {
      forms.add(quoted)
      forms.add(escapeForPattern(JSON.stringify(text).slice(1, -1)))
      forms.add(escapeForPattern(Buffer.from(text).toString('base64').replace(/=+$/, '')))
    }
  }
  if (forms.size === 0) return null
  // Longest first, so that a secret is taken out whole where another is a part of it.
  return new RegExp([...forms].sort((a, b) => b.length - a.length).join('|'), 'giu')
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
