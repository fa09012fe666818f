/** Follows texts that come in pieces, each in a place of its own. */
export interface SecretRuns {
  /** The next piece of a place, without the part of it that completes a secret. */
  clean(place: string, text: string): string
}

/** A secret, and for each length of a beginning of it the longest shorter beginning that it ends in. */
interface Pattern {
  secret: string
  falls: readonly number[]
}

/**
 * Makes what finds secrets in texts that come in pieces, one for each reply: a secret that was cut between two pieces of
 * one place is known when its last character comes. What went before it has been told by then; so the rest of it is taken
 * out, and never is all of it told. Linear in the text (Knuth, Morris and Pratt).
 */
export function createSecretRuns(secrets: readonly string[]): () => SecretRuns {
  const patterns = secrets.map((secret) => ({ secret, falls: fallsOf(secret) }))
  return () => secretRuns(patterns)
}

function secretRuns(patterns: readonly Pattern[]): SecretRuns {
  /** How much of each secret the end of a place's text may be. */
  const places = new Map<string, number[]>()

  return {
    clean(place, text) {
      let matched = places.size === 0 ? undefined : places.get(place)
      let result = text
      for (const [index, { secret, falls }] of patterns.entries()) {
        let length = matched?.[index] ?? 0
        for (let at = 0; at < result.length; at++) {
          // Where none is begun, straight on to where one may: nearly all of a text is that.
          if (length === 0) at = result.indexOf(secret[0]!, at)
          if (at === -1) break
          while (length > 0 && result[at] !== secret[length]) length = falls[length - 1]!
          if (result[at] === secret[length]) length++
          if (length < secret.length) continue
          const from = Math.max(0, at + 1 - secret.length)
          result = `${result.slice(0, from)}***${result.slice(at + 1)}`
          at = from + 2
          length = 0
        }
        if (length === (matched?.[index] ?? 0)) continue
        matched ??= patterns.map(() => 0)
        matched[index] = length
        places.set(place, matched)
      }
      return result
    },
  }
}

function fallsOf(secret: string): number[] {
  const falls = [0]
  for (let at = 1, length = 0; at < secret.length; at++) {
    while (length > 0 && secret[at] !== secret[length]) length = falls[length - 1]!
    if (secret[at] === secret[length]) length++
    falls.push(length)
  }
  return falls
}
