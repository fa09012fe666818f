import { type JsonParseOptions, parseJsonAt } from './json-parse.ts'

/**
 * - `strict`: the whole text is one JSON value, as it stands.
 * - `loose`: fences and prose around a value are left away; the value itself is not touched.
 * - `repair`: like `loose`, and trailing commas and raw line breaks inside strings are mended.
 */
export type JsonMode = 'strict' | 'loose' | 'repair'

export type ExtractedJson =
  | { value: unknown; repaired: boolean; error?: undefined }
  | { error: 'invalid_json' | 'duplicate_key'; message: string; truncated: boolean; value?: undefined }

interface Candidate {
  start: number
  end: number
  value: unknown
  mended: boolean
  duplicate: boolean
}

/**
 * The JSON value that a model's text holds: the whole text, else the last complete object outside quoted text
 * (block quotes, quotation marks, fences of other languages), else the last JSON fence. Never throws, and takes time
 * linear in the text.
 */
export function extractJson(
  text: string,
  options: {
    mode?: JsonMode
    /** Take only an object that has this key, such as `score` of a verdict. */
    key?: string
  } = {},
): ExtractedJson {
  const mode = options.mode ?? 'loose'
  const source = text.replace(/^\uFEFF/, '')
  const parsing: JsonParseOptions = mode === 'repair' ? { trailingCommas: true, rawControls: true } : {}

  const whole = parseJsonAt(source, 0, parsing)
  if (whole.ok && source.slice(whole.end).trim() === '') {
    if (!hasKey(whole.value, options.key)) return invalid(false)
    return { value: whole.value, repaired: whole.repairs.size > 0 }
  }
  if (!whole.ok && whole.failure === 'duplicate_key') return duplicateKey()
  const truncated = !whole.ok && whole.failure === 'truncated' && source.trim() !== ''
  if (mode === 'strict') return invalid(truncated)

  const { candidates, openEnd } = findObjects(source, parsing)
  const fences = findFences(source)
  const quoted = findQuoted(source, candidates, fences)
  const chosen = candidates.findLast(({ value }, index) => !quoted[index] && hasKey(value, options.key))
  if (chosen?.duplicate) return duplicateKey()
  if (chosen !== undefined) return { value: chosen.value, repaired: mode === 'repair' }
  for (const fence of fences.toReversed()) {
    if (!fence.json) continue
    const body = source.slice(fence.start, fence.end)
    const parsed = parseJsonAt(body, 0, parsing)
    if (parsed.ok && body.slice(parsed.end).trim() === '' && hasKey(parsed.value, options.key))
      return { value: parsed.value, repaired: mode === 'repair' }
  }
  return invalid(truncated || openEnd)
}

function hasKey(value: unknown, key: string | undefined): boolean {
  if (key === undefined) return true
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}

/** True for text that is one JSON value by the grammar of RFC 8259. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function invalid(truncated: boolean): ExtractedJson {
  const message = truncated ? 'The JSON value is cut before its end.' : 'There is no JSON value in the text.'
  return { error: 'invalid_json', message, truncated }
}

function duplicateKey(): ExtractedJson {
  return { error: 'duplicate_key', message: 'An object has one key twice.', truncated: false }
}

/** All outermost complete objects of a text, in order. */
/** The complete objects of a text, in order, and whether the last one is cut off. */
export function findObjects(
  text: string,
  options: JsonParseOptions,
): { candidates: Candidate[]; openEnd: boolean } {
  const candidates: Candidate[] = []
  // Texts made to be slow to read repeat half-open objects; the budget keeps the work linear.
  let budget = text.length * 8 + 10_000
  let at = text.indexOf('{')
  while (at !== -1 && budget > 0) {
    let parsed = parseJsonAt(text, at, options)
    let duplicate = false
    if (!parsed.ok && parsed.failure === 'duplicate_key') {
      duplicate = true
      parsed = parseJsonAt(text, at, { ...options, duplicateKeys: 'last' })
    }
    if (parsed.ok) {
      budget -= parsed.end - at
      candidates.push({
        start: at,
        end: parsed.end,
        value: parsed.value,
        mended: parsed.repairs.size > 0,
        duplicate,
      })
      at = text.indexOf('{', parsed.end)
      continue
    }
    budget -= parsed.position - at + 1
    // Whatever lies inside an object that stays open is a part of it and no answer. A stray quote in prose looks the
    // same as an open string, so there the search goes on.
    if (parsed.failure === 'truncated' && !parsed.inString && /^\{\s*"/.test(text.slice(at, at + 64)))
      return { candidates, openEnd: true }
    at = text.indexOf('{', at + 1)
  }
  return { candidates, openEnd: false }
}

interface Fence {
  start: number
  end: number
  json: boolean
}

function findFences(text: string): Fence[] {
  const fences: Fence[] = []
  const open = /^[ \t]*(`{3,}|~{3,})[ \t]*([^\n`]*)\n/gm
  for (let match = open.exec(text); match !== null; match = open.exec(text)) {
    const start = match.index + match[0].length
    const close = new RegExp(`^[ \\t]*${match[1]!}[ \\t]*$`, 'gm')
    close.lastIndex = start
    const end = close.exec(text)?.index ?? text.length
    const language = match[2]!.trim().split(/\s/)[0]!.toLowerCase()
    fences.push({ start, end, json: ['', 'json', 'json5', 'jsonc', 'text', 'txt'].includes(language) })
    open.lastIndex = Math.max(end, start)
    if (end < text.length)
      open.lastIndex = text.indexOf('\n', end) === -1 ? text.length : text.indexOf('\n', end)
  }
  return fences
}

/** Which objects stand in text that somebody else said: between quotation marks of a line, in a block quote, in other code. */
function findQuoted(text: string, candidates: readonly Candidate[], fences: readonly Fence[]): boolean[] {
  const quoted = new Array<boolean>(candidates.length).fill(false)
  let line: { candidate: number; straight: number; open: boolean; closed: number }[] = []
  let straight = 0
  let depth = 0
  let closed = 0
  let first = ''

  function endLine(): void {
    for (const entry of line) {
      const between = entry.straight % 2 === 1 && straight > entry.straight
      if (between || first === '>' || (entry.open && closed > entry.closed)) quoted[entry.candidate] = true
    }
    line = []
    straight = 0
    depth = 0
    closed = 0
    first = ''
  }

  let at = 0
  let fence = 0
  for (let next = 0; next <= candidates.length; next++) {
    const candidate = candidates[next]
    // Marks and line breaks inside an object are its own.
    for (const end = candidate?.start ?? text.length; at < end; at++) {
      const character = text[at]!
      if (character === '\n') endLine()
      else if (character === '"') straight++
      else if (character === '\u201c') depth++
      else if (character === '\u201d') {
        depth = Math.max(0, depth - 1)
        closed++
      }
      if (first === '' && character.trim() !== '') first = character
    }
    if (candidate === undefined) break
    if (first === '') first = '{'
    line.push({ candidate: next, straight, open: depth > 0, closed })
    at = candidate.end
    while (fence < fences.length && fences[fence]!.end < candidate.end) fence++
    const around = fences[fence]
    if (around !== undefined && !around.json && around.start <= candidate.start) quoted[next] = true
  }
  endLine()
  return quoted
}
