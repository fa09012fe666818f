/**
 * A function that takes secrets out of texts: the given ones in every spelling they may come back in, and whatever
 * looks like a bearer token or an `sk-` key, since providers quote keys partly.
 */
export function createRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const spellings = new Set<string>()
  for (const secret of secrets) {
    // Replacing very short texts would garble messages and hide nothing.
    if (secret === undefined || secret.length < 4) continue
    spellings.add(secret)
    spellings.add(encodeURIComponent(secret))
    spellings.add(JSON.stringify(secret).slice(1, -1))
    spellings.add(Buffer.from(secret).toString('base64').replace(/=+$/, ''))
  }
  const longestFirst = [...spellings].sort((a, b) => b.length - a.length)
  return (text) => {
    let result = text
    for (const spelling of longestFirst) result = result.replaceAll(spelling, '***')
    return result
      .replace(/\b(Bearer\s+)[\w.~+/=*-]{6,}/gi, '$1***')
      .replace(/\b(?:sk|pk|rk)-[\w*-]{8,}/g, '***')
  }
}
