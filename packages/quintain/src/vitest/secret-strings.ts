/** Texts inside a secret that are long enough to be recognised: shorter ones stand in honest text by chance. */
export function secretStrings(secret: unknown, least = 4): string[] {
  const found = new Set<string>()
  const walk = (value: unknown): void => {
    if (typeof value === 'string') {
      if (value.trim().length >= least) found.add(value.trim())
    } else if (Array.isArray(value)) for (const item of value) walk(item)
    else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) walk(item)
  }
  walk(secret)
  return [...found]
}

/** True when `part` stands in `text` as a word of its own, ignoring case. */
export function standsIn(text: string, part: string): boolean {
  const lower = text.toLowerCase()
  const wanted = part.toLowerCase()
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const before = at === 0 ? '' : lower[at - 1]!
    const after = lower[at + wanted.length] ?? ''
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) return true
  }
  return false
}
