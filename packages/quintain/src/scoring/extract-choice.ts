import { findBoxes } from './extract-boxed.ts'
import { findAnswerMarks, markedBy } from './extract-marker.ts'
import { type Extraction, none } from './extraction.ts'
import { withoutStyling } from './number-styling.ts'

interface Candidate {
  at: number
  end: number
  /** The choices that are named; one where the answer is clear. Asked of the last candidate alone. */
  named: () => readonly string[]
}

/**
 * Which of the declared choices a text gives as its answer: the last one that is declared (in a box, after "answer",
 * or alone on a line), or else the one that is said at the end of a line or stands in parentheses. A single letter in prose, such as the article "A",
 * is no answer. Upper and lower case are one where the choices do not differ by it.
 */
export function chosen(text: string, choices: readonly string[], truncated: boolean): Extraction {
  const known = byName(choices)
  const strong: Candidate[] = []
  for (const { start, end, content } of findBoxes(text).boxes) {
    strong.push({ at: start, end, named: () => namedBy(content, known) })
  }
  for (const mark of findAnswerMarks(text)) {
    const marked = markedBy(text, mark)
    if (marked === undefined) continue
    const { from, end, content } = marked
    strong.push({ at: from, end, named: () => namedBy(content.slice(0, longestName), known) })
  }
  strong.push(...answerLines(text, known))
  const filled = text.trimEnd().length
  const complete = strong.filter(({ end }) => !truncated || end < filled)
  const last = complete.sort((a, b) => a.at - b.at).at(-1)
  if (last !== undefined) {
    const named = last.named()
    if (named.length === 1) return { answer: named[0]! }
    return none(named.length === 0 ? 'not_a_choice' : 'ambiguous')
  }
  if (truncated) return none('truncated')
  const said = lastSaid(text, known)
  if (said.length === 1) return { answer: said[0]! }
  return none(said.length === 0 ? 'no_candidate' : 'ambiguous')
}

/** How much of a line is read after "the answer is". */
const longestName = 300

type Known = (name: string) => string | undefined

function byName(choices: readonly string[]): Known & { names: readonly string[] } {
  const exact = new Set(choices)
  const folded = new Map<string, string | undefined>()
  for (const choice of choices) {
    const key = choice.toLowerCase()
    folded.set(key, folded.has(key) ? undefined : choice)
  }
  const find = (name: string) => (exact.has(name) ? name : folded.get(name.toLowerCase()))
  // Longest first: of "A" and "A and B" the whole is meant.
  return Object.assign(find, { names: [...choices].sort((a, b) => b.length - a.length) })
}

/** Lines that are an answer by themselves: a choice alone, or a last line that opens with one, as in `B) Paris`. */
function answerLines(text: string, known: ReturnType<typeof byName>): Candidate[] {
  const found: Candidate[] = []
  const opened = new Set<string>()
  const filled = text.trimEnd().length
  let at = 0
  for (const line of text.split('\n')) {
    const bare = line.trim()
    const end = at + line.length
    const alone = bare.length <= 60 ? known(plain(bare)) : undefined
    if (alone !== undefined) found.push({ at, end, named: () => [alone] })
    const opening = /^[*_(["]*([^\s*_).:\]"]{1,40})[*_]*[).:\]][*_]*(?:\s|$)/.exec(bare)?.[1]
    const name = opening === undefined ? undefined : known(opening)
    if (name !== undefined) {
      opened.add(name)
      // One of several lines that each open with a choice lists them.
      const isLast = end >= filled
      const others = parenthesised(bare, known).some((other) => other !== name)
      if (isLast && opened.size === 1 && alone === undefined && !others)
        found.push({ at, end, named: () => [name] })
    }
    at = end + 1
  }
  return found
}

/** The choices that a declaration names. */
function namedBy(content: string, known: ReturnType<typeof byName>): string[] {
  const all = plain(content)
  const whole = known(all)
  if (whole !== undefined) return [whole]
  const bare = all.slice(0, longestName)
  const several = bare
    .split(/\s*(?:,|;|&|\/|\band\b|\bor\b)\s*/)
    .map((part) => known(plain(part)))
    .filter((part) => part !== undefined)
  const first = leading(bare, known)
  if (first === undefined) {
    return parenthesised(content, known)
  }
  // "B, C" names two; "B, since …" names one.
  const distinct = new Set(several)
  return distinct.size > 1 && distinct.has(first) && allNamed(bare, known) ? [...distinct] : [first]
}

function allNamed(bare: string, known: Known): boolean {
  const parts = bare.split(/\s*(?:,|;|&|\/|\band\b|\bor\b)\s*/).filter((part) => part !== '')
  return parts.every((part) => known(plain(part)) !== undefined)
}

/** A choice at the start of a text, ended by something that is not the rest of a word or of a sentence. */
function leading(bare: string, known: ReturnType<typeof byName>): string | undefined {
  const text = bare.replace(/^(?:option|choice|letter|answer)\s*:?\s*/i, '').replace(/^[\s*_("'[]+/, '')
  for (const name of known.names) {
    const head = text.slice(0, name.length)
    if (known(head) !== name && head.toLowerCase() !== name.toLowerCase()) continue
    const found = known(head)
    if (found === undefined) continue
    const rest = text.slice(name.length)
    if (/^[\p{L}\p{N}_'’-]/u.test(rest)) continue
    // "A dog" begins with an article, "I think" with a pronoun.
    if (/^[AI]$/i.test(found) && /^\s+(?!because\b|since\b|as\b|and\b|or\b|is\b)[\p{L}\p{N}]/u.test(rest))
      continue
    return found
  }
  return undefined
}

function parenthesised(text: string, known: Known): string[] {
  const all = [...text.matchAll(/\(\s?([^()\s][^()]{0,60})\)/g)].map((match) => known(plain(match[1]!)))
  return [...new Set(all.filter((name) => name !== undefined))]
}

/** "Option B is the correct one." */
const calledRight =
  /(?<![\p{L}\p{N}])(?:option|choice)[ \t]{1,4}(\S{1,40})[ \t]{1,4}(?:is|must be|seems)[ \t]{1,4}(?:the[ \t]{1,4})?(?:correct|right|best|answer)(?![\p{L}\p{N}])/giu
const saidAtEnd =
  /(?<![\p{L}\p{N}])(?:is|be|pick|choose|select|with|option|choice|chose|picked)(?:[ \t]{0,4}:)?[ \t]{1,8}(\S{1,40})[ \t]*$/gimu

/** The choice that is said at the end of a line, or else those in parentheses: several of them say nothing. */
function lastSaid(text: string, known: ReturnType<typeof byName>): string[] {
  const said = [saidAtEnd, calledRight].flatMap((pattern) => [...text.matchAll(pattern)])
  const named = said.sort((a, b) => a.index - b.index).map((match) => known(plain(match[1]!)))
  const last = named.findLast((name) => name !== undefined)
  return last === undefined ? parenthesised(text, known) : [last]
}

function plain(text: string): string {
  let bare = withoutStyling(text).trim()
  for (let round = 0; round < 4; round++) {
    const before = bare
    bare = withoutEnd(
      bare
        .replace(/^\(([^()]*)\)$/, '$1')
        .replace(/^\[([^[\]]*)\]$/, '$1')
        .replace(/^<([^<>]*)>$/, '$1')
        .trim(),
    )
    bare = withoutStyling(bare)
    if (bare === before) break
  }
  return bare
}

/** Without the punctuation at its end, unless that closes a parenthesis. */
function withoutEnd(text: string): string {
  let end = text.length
  while (end > 0 && /[\s.,;:!)]/.test(text[end - 1]!)) end--
  return text.includes('(') && text.includes(')', end) ? text : text.slice(0, end)
}
