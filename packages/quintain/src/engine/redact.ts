import { createRedactor } from '../models/redact.ts'

/** Below this length a secret is only taken out where it stands as a whole word: "4" is no secret inside "2024". */
const wholeWordBelow = 4
const shownInstead = '[secret]'
/** Alternatives of one pattern; of a secret with more parts, those that are in the text are looked for. */
const formsPerPattern = 500
const ascii = /^[\0-\x7f]*$/
/** Spelled alike in JSON, addresses and HTML, and in either normal form of Unicode. */
const spelledAlike = /^[\w.-]*$/

interface Form {
  /** What to look for first, since a search is quicker than a pattern: one case, single spaces. */
  plain: string
  /** A text in ASCII has such a form exactly where it has `plain`; other letters have more cases than two. */
  isAscii: boolean
  source: string
}

/**
 * Takes a task's secret out of text that code which knows it has written: error messages, reasons. Looks for every
 * text and number inside the secret, in any case and with any white space, as it is, as JSON, in an address and as
 * base64. What it cannot recognise it cannot take out, so whole texts go to the private records only.
 *
 * `strangers`: for texts of those who never saw the secret. Short words and numbers, which stand in anybody's text, are left
 * in those: "5" taken out of "after 5 attempts" would tell the answer.
 */
export function redactor(
  secret: unknown,
  { strangers = false }: { strangers?: boolean } = {},
): (text: string) => string {
  let forms: Form[] | undefined
  return (text) => {
    if (secret === undefined || secret === null) return text
    forms ??= formsOf(secret, strangers)
    const plain = plainly(text)
    const many = forms.length >= formsPerPattern
    const textIsAscii = ascii.test(text)
    const possible = forms.filter((form) => {
      const tells = many || (textIsAscii && form.isAscii)
      return !tells || plain.includes(form.plain)
    })
    let result = text
    try {
      for (let from = 0; from < possible.length; from += formsPerPattern) {
        const sources = possible.slice(from, from + formsPerPattern).map(({ source }) => source)
        result = result.replace(new RegExp(sources.join('|'), 'giu'), shownInstead)
      }
    } catch {
      // A pattern that cannot be built would quote the secret in its own error.
      return shownInstead
    }
    return result
  }
}

const nameOfKey = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i

/** What takes out the keys that were there when it was last asked for. */
let lastKeys: { keys: readonly string[]; redact(text: string): string } = { keys: [], redact: (text) => text }

/** Takes the host's keys out of text: whatever its environment variables call a key, a token or a password. */
export function hideKeys(text: string): string {
  const keys: string[] = []
  for (const name of Object.keys(process.env)) {
    // Reading a variable is what costs; most are no keys.
    const value = nameOfKey.test(name) ? process.env[name] : undefined
    if (value !== undefined && value.length >= 8) keys.push(value)
  }
  const known = lastKeys.keys.length === keys.length && keys.every((key, at) => key === lastKeys.keys[at])
  if (!known) lastKeys = { keys, redact: createRedactor(keys) }
  return lastKeys.redact(text)
}

const nameOfField = /^[A-Za-z_$][\w$]*$/

/**
 * Texts and numbers of a secret, and its keys where they are likely to be content: the name of a field at the top, such as
 * `answer`, or of the things in a list, such as `name`, is no secret and stands in many an honest message.
 */
function collect(value: unknown, found: Set<string>, hasFields = true): void {
  if (typeof value === 'string') {
    if (value.trim() !== '') found.add(value.trim())
    for (const line of value.split(/\r?\n/)) if (line.trim().length >= wholeWordBelow) found.add(line.trim())
  } else if (typeof value === 'number' || typeof value === 'bigint') found.add(String(value))
  else if (Array.isArray(value)) for (const item of value) collect(item, found)
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      const content = !hasFields || !nameOfField.test(key)
      if (content && key.length >= wholeWordBelow) found.add(key.trim())
      collect(item, found, false)
    }
}

/** A number that may be in a text by chance. */
const commonNumber = /^[-+]?[\d.,]{1,7}$/

function formsOf(secret: unknown, strangers: boolean): Form[] {
  const found = new Set<string>()
  collect(secret, found)
  const forms = new Map<string, Form>()
  const add = (text: string, source: string) =>
    forms.set(source, { plain: plainly(text), isAscii: ascii.test(text), source })
  for (const text of found) {
    if (strangers && (text.length < wholeWordBelow || commonNumber.test(text))) continue
    if (text.length < wholeWordBelow) {
      add(text, `(?<![\\p{L}\\p{N}])${pattern(text)}(?![\\p{L}\\p{N}])`)
      continue
    }
    add(text, pattern(text))
    for (const spelling of spellingsOf(text)) if (spelling !== text) add(spelling, pattern(spelling))
  }
  // Longest first, so that a secret is taken out whole where another is a part of it.
  return [...forms.values()].sort((a, b) => b.plain.length - a.plain.length)
}

function spellingsOf(text: string): string[] {
  const bytes = Buffer.from(text)
  const coded = [bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')]
  if (spelledAlike.test(text)) return coded
  const address = encodedForAddress(text)
  return [
    ...coded,
    JSON.stringify(text).slice(1, -1),
    address,
    // As a form sends it.
    address.replaceAll('%20', '+'),
    // One letter with its accent, or a letter and an accent.
    text.normalize('NFC'),
    text.normalize('NFD'),
    escapedForHtml(text, '&#39;'),
    escapedForHtml(text, '&#x27;'),
    escapedForHtml(text, '&apos;'),
  ]
}

function plainly(text: string): string {
  return text.replace(/\s+/g, ' ').toLowerCase()
}

function escapedForHtml(text: string, apostrophe: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe)
}

function encodedForAddress(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return text
  }
}

function pattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replace(/\s+/g, '\\s+')
}
