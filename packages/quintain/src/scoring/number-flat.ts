/** A text as it reads once it is shown: no emphasis, no mathematical or HTML markup. */
export interface FlatText {
  text: string
  /** Where a character of `text` stood in the original; the end of `text` is the end of the original. */
  origin: (at: number) => number
  /** The first place of `text` that stood at or after a place of the original. */
  place: (origin: number) => number
}

const fraction =
  /\\[dt]?frac\s{0,2}(?:\{\s{0,3}(-?[\d.,]{1,20})\s{0,3}\}\s{0,2}\{\s{0,3}([\d.,]{1,20})\s{0,3}\}|(\d)(\d))/
const marks = new RegExp(
  [
    fraction.source,
    /\\(?:text\w{0,8}|math[a-z]{2,4}|mbox|emph|boldsymbol|bm|boxed|fbox|underline)\s{0,4}(?=\{)/.source,
    /\\(?:boxed|fbox)(?![a-z])\s{0,4}/.source,
    /\\([a-zA-Z]+)/.source,
    /\\([^a-zA-Z])/.source,
    /\^\s?\{?\s?\\circ\s?\}?/.source,
    // What is struck out, and the calculations that GSM8K notes beside their results.
    /~~[^~\n]{1,100}~~|<<[^<>\n]{0,200}>>/.source,
    /<(\/?[a-zA-Z][\w:-]{0,20})(?:\s[^<>]{0,100})?\/?>/.source,
    /\*+|_+|`+/.source,
    /\$/.source,
    /\{,\}|\}\{|[{}]/.source,
    /!|[ \t]{2,}|\t|\r\n?/.source,
    /(?:[\p{Extended_Pictographic}\u200b\u2060\ufeff✓✗✘]|\ufe0e|\ufe0f|\u200c|\u200d)+/u.source,
  ].join('|'),
  'gu',
)
/** Texts without any of these read as they stand. */
const anyMark =
  /[\\*_`$<{}~\t\r]| {2}|\ufe0e|\ufe0f|\u200c|\u200d|[\p{Extended_Pictographic}\u200b\u2060\ufeff✓✗✘]/u

/** Commands that stand for one character. */
const symbols = new Map(
  Object.entries({
    times: '×',
    cdot: '×',
    div: '÷',
    pm: '±',
    approx: '≈',
    sim: '~',
    ge: '≥',
    geq: '≥',
    geqslant: '≥',
    gt: '>',
    le: '≤',
    leq: '≤',
    leqslant: '≤',
    lt: '<',
    ne: '≠',
    neq: '≠',
    pi: 'π',
    infty: '∞',
    sqrt: '√',
    degree: '°',
    circ: '°',
    ldots: '…',
    dots: '…',
    pounds: '£',
    euro: '€',
    quad: ' ',
    qquad: ' ',
  }),
)
const layout = /^(?:left|right|displaystyle|textstyle|limits|[bB]igg?[lr]?|phantom|hspace|newline)$/
const lineTags = /^\/?(?:br|p|div|li|tr|h[1-6])$/i
const wordCharacter = /[\p{L}\p{N}]/u
/** What an exclamation mark of mathematics is written as, so that `5!` in a formula is not read as an exclamation. */
const factorial = '\\factorial '

/** Flattens in one pass, in time linear in the text. */
export function flatten(text: string): FlatText {
  if (!anyMark.test(text)) return { text, origin: (at) => at, place: (at) => at }
  const mathematics = dollarPairs(text)
  const parts: string[] = []
  const from: number[] = []
  let last = ''
  let gap = false
  let inMath = 0
  const put = (piece: string, at: number, moving = false) => {
    if (piece === '') return
    // What a mark parted stays apart: `$5$$7$` is not 57.
    if (gap && wordCharacter.test(last) && wordCharacter.test(piece.charAt(0))) put(' ', at)
    gap = false
    if (piece.charAt(0) === ' ' && (last === ' ' || last === '')) {
      put(piece.slice(1), moving ? at + 1 : at, moving)
      return
    }
    parts.push(piece)
    for (let index = 0; index < piece.length; index++) from.push(moving ? at + index : at)
    last = piece.charAt(piece.length - 1)
  }
  let done = 0
  for (const match of text.matchAll(marks)) {
    const at = match.index
    const mark = match[0]
    put(text.slice(done, at), done, true)
    done = at + mark.length
    const [, over = match[3], under = match[4], , , command, escaped, tag] = match
    const [before, after] = [text.charAt(at - 1), text.charAt(done)]
    if (over !== undefined) put(`${/\d$/.test(last) ? ' ' : ''}${over}/${under}`, at)
    else if (command !== undefined) {
      if (layout.test(command)) gap = true
      else put(symbols.get(command) ?? (/^[dt]?frac$/.test(command) ? '√' : mark), at)
      // A command ends where its letters do: `\alpha 3` and `\alpha{3}` are one.
      if (!symbols.has(command)) gap = true
    } else if (escaped !== undefined) {
      if (escaped === '(' || escaped === '[') inMath++
      else if (escaped === ')' || escaped === ']') inMath--
      if ('()[]'.includes(escaped)) gap = true
      else if (',;:!'.includes(escaped)) {
        if (/\d/.test(before) && /\d/.test(after)) put('\u2009', at)
        else if (escaped !== '!') put(' ', at)
      } else put(escaped === '\\' ? '\n' : /\s/.test(escaped) ? ' ' : escaped, at)
    } else if (tag !== undefined) {
      gap = true
      if (lineTags.test(tag)) put('\n', at)
    } else if (mark.startsWith('^')) put('°', at)
    else if (mark.startsWith('$')) {
      if (mathematics.has(at)) {
        inMath += mathematics.get(at)!
        gap = true
      } else put(mark.charAt(0), at)
    } else if (mark === '!') put(inMath > 0 ? factorial : mark, at)
    else if (mark === '{,}') put(',', at)
    else if (mark === '}{') put('/', at)
    else if (mark.charAt(0) === '*' && isOperator(mark, before, after)) put(mark, at)
    else if (mark.charAt(0) === '_' && wordCharacter.test(before) && wordCharacter.test(after)) put(mark, at)
    else if (mark.charAt(0) === ' ' || mark.charAt(0) === '\t') put(' ', at)
    else if (mark.charAt(0) === '\r') put('\n', at)
    else gap = true
  }
  put(text.slice(done), done, true)
  return {
    text: parts.join(''),
    origin: (at) => from[at] ?? text.length,
    place: (origin) => lowerBound(from, origin),
  }
}

/** An asterisk with something, or with space, on both sides multiplies; at one side of a word it is emphasis. */
function isOperator(mark: string, before: string, after: string): boolean {
  if (mark.length > 2) return false
  const joins = /[\p{L}\p{N})\]}]/u.test(before) && /[\p{L}\p{N}($\\]/u.test(after)
  if (mark.length === 2) return joins && /[\d)]/.test(before) && /[\d(]/.test(after)
  return joins || (/^\s?$/.test(before) && /^\s?$/.test(after))
}

/**
 * The dollar signs that open (1) and close (-1) mathematics; 0 is the second of a pair. The others are currency. By the
 * rule of Pandoc: what opens has no space after it, what closes has none before it and no digit after it.
 */
function dollarPairs(text: string): Map<number, number> {
  const found = new Map<number, number>()
  let open: { at: number; wide: boolean } | undefined
  for (let at = text.indexOf('$'); at >= 0; at = text.indexOf('$', at + 1)) {
    const before = text.charAt(at - 1)
    if (before === '\\') continue
    const wide = text.charAt(at + 1) === '$'
    const after = text.charAt(at + 1)
    if (open?.wide === false && at > open.at + 1 && !/[\s([{*_]/.test(before) && !/\d/.test(after)) {
      found.set(open.at, 1).set(at, -1)
      open = undefined
    } else if (open?.wide && wide) {
      found
        .set(open.at, 1)
        .set(open.at + 1, 0)
        .set(at, -1)
        .set(at + 1, 0)
      open = undefined
      at++
    } else if (wide) {
      open = { at, wide }
      at++
    } else if (open?.wide !== true && /\S/.test(after) && !/[\p{L}\p{N}]/u.test(before)) open = { at, wide }
  }
  return found
}

/** The first index whose value is not below the wanted one. */
function lowerBound(sorted: readonly number[], wanted: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (sorted[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}
