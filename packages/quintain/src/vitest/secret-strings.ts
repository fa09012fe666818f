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

/** Every text inside a value, at any depth, one after the other. */
export function textsIn(value: unknown): string {
  const found: string[] = []
  const walk = (inner: unknown): void => {
    if (typeof inner === 'string') found.push(inner)
    else if (typeof inner === 'object' && inner !== null) for (const item of Object.values(inner)) walk(item)
  }
  walk(value)
  return found.join('\n')
}

/** True when `part` stands in `text` as a word of its own, as it is or as JSON writes it, ignoring case. */
export function standsIn(text: string, part: string): boolean {
  const inJson = JSON.stringify(part).slice(1, -1)
  return standsBare(text, part) || (inJson !== part && standsBare(text, inJson))
}

function standsBare(text: string, part: string): boolean {
  const lower = text.toLowerCase()
  const wanted = part.toLowerCase()
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, at + 1)) {
    const before = at === 0 ? '' : lower[at - 1]!
    const after = lower[at + wanted.length] ?? ''
    if (!/[\p{L}\p{N}]/u.test(before) && !/[\p{L}\p{N}]/u.test(after)) return true
  }
  return false
}
