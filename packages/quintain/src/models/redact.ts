import type { ReplyDelta } from '../core/wire.ts'
import { createSecretRuns } from './secret-runs.ts'

/**
 * A function that takes secrets out of what a provider says, such as error messages: the given ones in every spelling
 * they may come back in, their beginnings where they are quoted masked (`abcdefgh****`), and whatever looks like a
 * bearer token or an `sk-` key. Give it whole texts: half a secret at a cut is not known for one.
 */
export function createRedactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  // Replacing very short texts would garble messages and hide nothing.
  const spellings = spellingsOf(secrets, (secret) => secret.length >= 4)
  return (text) => {
    return withoutEchoes(text, spellings, { masked: true })
      .replace(/\b(Bearer\s+)[\w.~+/=*-]{6,}/gi, '$1***')
      .replace(/\b(?:sk|pk|rk)-[\w*-]{8,}/g, '***')
  }
}

/**
 * A function that takes secrets out of a reply, in place: out of every string of a JSON value, sampled text included,
 * since a key in it was echoed by a server. Only the given ones are taken out, and masked beginnings only of ids and
 * names: text that merely looks like a key is the model's. Stand-ins for a key such as `EMPTY` or `lm-studio`, which are words that a model may well
 * say, stay: a secret has 20 characters, or 8 with a digit among them. `onFound` is told that there was one.
 */
export function createReplyRedactor(
  secrets: readonly (string | undefined)[],
): <T>(value: T, onFound?: () => void) => T {
  const spellings = replySpellings(secrets)
  const clean = (text: string, options: { masked: boolean }): string =>
    withoutEchoes(text, spellings, options)
  return <T>(value: T, onFound: () => void = () => {}): T => {
    if (spellings.length === 0) return value
    const root = { value: value as unknown }
    // A list instead of recursion: JSON may be nested deeper than the stack is.
    const open: Record<string, unknown>[] = [root]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const key of Object.keys(next)) {
        const held = next[key]
        if (typeof held === 'string') {
          const cleaned = clean(held, { masked: identifying.has(key) })
          if (cleaned !== held) {
            next[key] = cleaned
            onFound()
          }
        } else if (typeof held === 'object' && held !== null && !ArrayBuffer.isView(held))
          open.push(held as Record<string, unknown>)
        if (Array.isArray(next)) continue
        const name = clean(key, { masked: false })
        if (name === key) continue
        onFound()
        next[name] = next[key]
        delete next[key]
      }
    }
    return root.value as T
  }
}

/**
 * Makes a function that takes the secrets of a reply out of its pieces as they come; one for each reply. An event is
 * written again only if there was one in it. Of a secret that was cut between pieces the last piece is taken out, so that
 * never all of it is told; what is not covered: a secret that was cut and spelled with unseen characters.
 */
export function createDeltaRedactor(
  secrets: readonly (string | undefined)[],
): () => (delta: ReplyDelta) => ReplyDelta {
  const spellings = replySpellings(secrets)
  const runsOfReply = createSecretRuns(spellings)
  return () => {
    if (spellings.length === 0) return (delta) => delta
    const runs = runsOfReply()
    const clean = (place: string, text: string): string =>
      runs.clean(place, withoutEchoes(text, spellings, { masked: false }))
    return (delta) => {
      if (delta.type === 'event') return cleanEvent(delta, clean)
      if (delta.type === 'call')
        return { ...delta, id: clean('id', delta.id), name: clean('name', delta.name) }
      const place = delta.type === 'arguments' ? `arguments ${delta.call}` : delta.type
      return { ...delta, text: clean(place, delta.text) }
    }
  }
}

function cleanEvent(
  delta: ReplyDelta & { type: 'event' },
  clean: (place: string, text: string) => string,
): ReplyDelta {
  if (delta.json === undefined) return { ...delta, data: clean('', delta.data) }
  let changed = false
  const open: { place: string; held: Record<string, unknown> }[] = [{ place: '', held: delta.json }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { place, held } = next
    for (const key of Object.keys(held)) {
      const value = held[key]
      if (typeof value === 'string') {
        const cleaned = clean(`${place}/${key}`, value)
        if (cleaned !== value) {
          held[key] = cleaned
          changed = true
        }
      } else if (typeof value === 'object' && value !== null)
        open.push({ place: `${place}/${key}`, held: value as Record<string, unknown> })
    }
  }
  return changed ? { ...delta, data: JSON.stringify(delta.json) } : delta
}

/** Plain data with each of its texts as `redact` gives it. */
export function redactTexts<Value>(value: Value, redact: (text: string) => string): Value {
  return JSON.parse(JSON.stringify(value), (_key, held: unknown) =>
    typeof held === 'string' ? redact(held) : held,
  )
}

/** Fields of a reply that name something and are nobody's prose. */
const identifying = new Set(['id', 'name', 'model', 'finish', 'weightVersion'])

/** Spellings of the secrets that are taken out of what a model says. */
function replySpellings(secrets: readonly (string | undefined)[]): string[] {
  return spellingsOf(secrets, (secret) => secret.length >= 20 || (secret.length >= 8 && /\d/.test(secret)))
}

/** Ways in which a server may write a secret, the longest first. */
function spellingsOf(
  secrets: readonly (string | undefined)[],
  counts: (secret: string) => boolean,
): string[] {
  const spellings = new Set<string>()
  for (const secret of secrets) {
    if (secret === undefined || !counts(secret)) continue
    spellings.add(secret)
    spellings.add(encodeURIComponent(secret.toWellFormed()))
    spellings.add(JSON.stringify(secret).slice(1, -1))
    spellings.add(Buffer.from(secret).toString('base64').replace(/=+$/, ''))
  }
  return [...spellings].sort((a, b) => b.length - a.length)
}

/** As many leading characters of a secret, masked, are taken for an echo of it. */
const leastEcho = 8
/** What may stand between the characters of a secret without showing: markup, zero-width characters, line ends. */
const unseen =
  /(?:<[^<>]{0,200}>|[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|&(?:shy|zwj|zwnj|#(?:173|820[3-7]|8288|65279)|#x(?:ad|200[b-f]|2060|feff));|\r?\n[ \t]*)+/iy
/** Whether `unseen` may match from a character on; asked first, since a pattern costs more than all else of a search. */
function mayBeUnseen(code: number): boolean {
  return code >= 0x80 || code === 0x3c || code === 0x26 || code === 0x0d || code === 0x0a
}

/** What stands for the rest of a secret, with the last characters that are often shown behind it. */
const mask = /(?:[*•●…█]+|\.{3,}|\[\.\.\.\])[\w+/=-]*/y

/** A text without secrets: neither whole, with or without unseen characters inside, nor (`masked`) begun before a mask. */
function withoutEchoes(text: string, spellings: readonly string[], options: { masked: boolean }): string {
  let result = text
  // Whole ones first, in every spelling: what begins like one spelling may be all of another.
  for (const spelling of spellings) result = withoutEcho(result, spelling, { masked: false })
  if (options.masked) for (const spelling of spellings) result = withoutEcho(result, spelling, options)
  return result
}

function withoutEcho(text: string, secret: string, options: { masked: boolean }): string {
  const least = Math.min(secret.length, leastEcho)
  const [first] = secret
  let result = ''
  let kept = 0
  for (let at = text.indexOf(first!); at !== -1; at = text.indexOf(first!, at)) {
    const { length, end } = runAt(text, at, secret)
    let until = length === secret.length ? end : 0
    if (options.masked && until === 0 && length >= least)
      until = matchEnd(mask, text, end) || matchEnd(unseen, text, end)
    if (until === 0) {
      at++
      continue
    }
    result += `${text.slice(kept, at)}***`
    kept = until
    at = until
  }
  return kept === 0 ? text : result + text.slice(kept)
}

/** How many leading characters of a secret stand at a position, and where the last of them ends. */
function runAt(text: string, at: number, secret: string): { length: number; end: number } {
  let length = 0
  let end = at
  for (let position = at; length < secret.length && position < text.length; ) {
    if (text[position] === secret[length]) {
      length++
      end = ++position
      continue
    }
    if (!mayBeUnseen(text.charCodeAt(position))) break
    position = matchEnd(unseen, text, position)
    if (position === 0) break
  }
  return { length, end }
}

/** Where a sticky pattern that matches at a position ends; 0 when it does not match there. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : 0
}
