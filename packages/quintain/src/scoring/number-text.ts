import { currencyBefore, leadingUnit } from './number-unit.ts'
import {
  add,
  decimalValue,
  divide,
  multiply,
  type NumberValue,
  negate,
  power,
  scale,
} from './number-value.ts'

/** A number as it stands in a text. */
export interface NumberReading {
  /** The number as it was written, with its sign, without currency, percent sign and unit. */
  text: string
  /** Exact, as written: `45 %` reads 45 with `percent`. */
  value: NumberValue
  percent: boolean
  /** Canonical name of a known unit or currency, such as `$` or `km`; undefined where there is none that is known. */
  unit: string | undefined
}

/** A place of a text where a number stands, or something that looks like one and is not: `11:00`, `3-5`, `1,2,3`. */
export interface NumberToken {
  start: number
  end: number
  text: string
  /** Undefined where it cannot be read as one number. */
  reading: NumberReading | undefined
  /** It is a part of a sum or product that goes on: the `3` of `5 + 3`. */
  operand: boolean
}

/**
 * Everything that is written with digits and belongs together. What joins digits without being part of a number (a colon,
 * a slash, a dash) is taken along, so that one half of a clock time or a range is never read as a number of its own.
 */
const clusters =
  /\\[dt]?frac\s?\{\s?\d{1,20}\s?\}\s?\{\s?\d{1,20}\s?\}|[½⅓⅔¼¾⅛⅜⅝⅞]|(?:\d|\.\d)(?:\d|[.,:/'’\u00a0\u2009\u202f](?=\d)|\{,\}(?=\d)|\\[,!;](?=\d)|[-–−](?=\d)|[eE][+-]?(?=\d))*/g

const plainNumber = /^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
/** One kind of separator throughout, three digits after each; Indian grouping has pairs before the last three. */
const grouped = /^\d{1,3}(,|\u00a0|\u2009|\u202f|'|’|\{,\}|\\[,!;])\d{3}(?:\1\d{3})*(?:\.\d+)?$/
const groupedInPairs = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/
const spacedGroups = /^(?: \d{3})+(?:\.\d+)?(?![\d.,:/])/
const separators = /,|\u00a0|\u2009|\u202f|'|’|\{,\}|\\[,!;]/g

const vulgar: Record<string, readonly [bigint, bigint]> = {
  '½': [1n, 2n],
  '⅓': [1n, 3n],
  '⅔': [2n, 3n],
  '¼': [1n, 4n],
  '¾': [3n, 4n],
  '⅛': [1n, 8n],
  '⅜': [3n, 8n],
  '⅝': [5n, 8n],
  '⅞': [7n, 8n],
}
/** Words that multiply what stands before them. A dozen is twelve: who asks for dozens has another unit in mind. */
const magnitudes: Record<string, bigint> = {
  dozen: 12n,
  hundred: 100n,
  thousand: 1_000n,
  million: 1_000_000n,
  billion: 1_000_000_000n,
  trillion: 1_000_000_000_000n,
}
const magnitudeWord = /^[ \t]?(dozen|hundred|thousand|million|billion|trillion)s?(?!\p{L})/iu
/** Letters that stick to the digits and multiply: `18k`, `18M`; in amounts of money small ones too, `$1.5m`. */
const letters: Record<string, bigint> = {
  k: 1_000n,
  m: 1_000_000n,
  mn: 1_000_000n,
  b: 1_000_000_000n,
  bn: 1_000_000_000n,
}
const magnitudeLetter = /^(?:[kK]|M|B|mn|bn)(?![\p{L}\p{N}])/u
const magnitudeLetterOfMoney = /^(?:[kKmMbB]|mn|bn)(?![\p{L}\p{N}])/u

const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** The whole number that superscript digits write. */
function superscriptValue(text: string): number {
  const digits = [...text.replace('⁻', '')].map((digit) => superscripts.indexOf(digit)).join('')
  return Number(digits) * (text.startsWith('⁻') ? -1 : 1)
}

/** What is longer is no number that anybody means. */
const mostCharacters = 10_000

/** The value of digits with optional grouping, or of a fraction `a/b`; undefined for whatever else digits can be. */
function clusterValue(text: string): NumberValue | undefined {
  const [over, under] = vulgar[text] ?? []
  if (over !== undefined && under !== undefined) return { num: over, den: under }
  if (text.startsWith('\\')) return clusterValue((text.match(/\d+/g) ?? []).join('/'))
  if (text.length > mostCharacters) return undefined
  const slash = text.indexOf('/')
  if (slash > 0) {
    // A date is no fraction of a fraction.
    if (text.includes('/', slash + 1)) return undefined
    const [above, below] = [clusterValue(text.slice(0, slash)), clusterValue(text.slice(slash + 1))]
    return above === undefined || below === undefined ? undefined : divide(above, below)
  }
  if (plainNumber.test(text)) return decimalValue(text)
  if (grouped.test(text) || groupedInPairs.test(text)) return decimalValue(text.replace(separators, ''))
  return undefined
}

/** Every number of a text, in order. Takes time linear in the text and never throws. */
export function findNumbers(text: string): NumberToken[] {
  return numbersBetween(text, 0, text.length)
}

/** The numbers that begin in a part of a text, at a cost of that part alone. */
export function numbersBetween(text: string, from: number, to: number): NumberToken[] {
  const tokens: NumberToken[] = []
  const part = text.slice(from, to)
  clusters.lastIndex = 0
  for (let match = clusters.exec(part); match !== null; match = clusters.exec(part)) {
    const token = tokenAt(text, from + match.index, match[0])
    if (token === undefined) continue
    tokens.push(token)
    clusters.lastIndex = Math.max(clusters.lastIndex, token.end - from)
  }
  return tokens
}

const wordCharacter = /[\p{L}\p{N}_^]/u

function tokenAt(text: string, at: number, cluster: string): NumberToken | undefined {
  // A full stop between a number and its decimals is not one after a sentence: `14...` ends with 14.
  const before = text.slice(Math.max(0, at - 24), at)
  const { sign, currency, length } = prefixOf(before)
  const preceding = before.slice(0, before.length - length)
  if (/[\p{L}\p{N}_]$/u.test(preceding) && currency === undefined) return undefined
  // Powers and indices are no numbers of their own.
  if (/[\^_]\{?$/.test(preceding)) return undefined
  const start = at - length
  let end = at + cluster.length
  let value = clusterValue(cluster)
  let written = cluster
  // A plain space groups digits too, where what it leaves are groups: `12 500`, not `2020 100`.
  const spaced =
    /^\d{1,3}$/.test(cluster) && cluster !== '0' ? spacedGroups.exec(text.slice(end, end + 48)) : null
  if (spaced !== null) {
    written += spaced[0]
    end += spaced[0].length
    value = decimalValue(written.replaceAll(' ', ''))
  }
  const after = () => text.slice(end, end + 48)

  if (/^(?:st|nd|rd|th)(?![\p{L}\p{N}])/iu.test(after())) return undefined
  const mixed = /^ (\d{1,6})\/(\d{1,6})(?![\d/.,:])/.exec(after())
  if (mixed !== null && /^\d+$/.test(cluster) && Number(mixed[1]) < Number(mixed[2]) && value !== undefined) {
    value = add(value, { num: BigInt(mixed[1]!), den: BigInt(mixed[2]!) })
    written += mixed[0]
    end += mixed[0].length
  }
  const part = /^ ?([½⅓⅔¼¾⅛⅜⅝⅞])/.exec(after())
  if (part !== null && value !== undefined) {
    const [num, den] = vulgar[part[1]!]!
    // Two fractions side by side are no number.
    value = /^\d+$/.test(cluster) ? add(value, { num, den }) : undefined
    written += part[0]
    end += part[0].length
  }
  const tens =
    /^[ \t]?(?:×|x|\*|·|\\times|\\cdot)[ \t]?10(?:[ \t]?\^[ \t]?\{?([+-]?\d{1,4})\}?|(⁻?[⁰¹²³⁴-⁹]{1,4}))/.exec(
      after(),
    )
  const raised = /^(?:[ \t]?\^[ \t]?(?:\{([+-]?\d{1,4})\}|([+-]?\d{1,4}))|(⁻?[⁰¹²³⁴-⁹]{1,4}))/.exec(after())
  if (tens !== null) {
    const shift = tens[2] === undefined ? Number(tens[1]) : superscriptValue(tens[2])
    value = value === undefined || Math.abs(shift) > 1_000 ? undefined : scale(value, shift)
    written += tens[0]
    end += tens[0].length
  } else if (raised !== null) {
    const exponent = raised[3] === undefined ? Number(raised[1] ?? raised[2]) : superscriptValue(raised[3])
    value = value && power(value, exponent)
    written += raised[0]
    end += raised[0].length
  } else if (/^[ \t]?\^|^[⁰¹²³⁴-⁹⁻√]/u.test(after())) value = undefined

  // `18 hundred thousand`; who says more of these means no number.
  for (let round = 0; round < 2; round++) {
    const times = magnitudeWord.exec(after())
    if (times === null) break
    value = value && multiply(value, magnitudes[times[1]!.toLowerCase()]!)
    written += times[0]
    end += times[0].length
  }
  const letter = (currency === undefined ? magnitudeLetter : magnitudeLetterOfMoney).exec(after())?.[0]
  if (letter !== undefined) {
    value = value && multiply(value, letters[letter.toLowerCase()]!)
    written += letter
    end += letter.length
  }

  const percent = /^[ \t\u00a0\u202f]?(?:\\?%|(?:percent|per cent|pct)(?!\p{L}))/iu.exec(after())
  const unit = percent === null ? leadingUnit(after()) : undefined
  if (percent !== null) end += percent[0].length
  else if (unit?.attached) end += unit.length
  // A letter that sticks to the digits makes another thing of them: `3x`, `7pm`, `1990s`.
  if (wordCharacter.test(after().charAt(0)) && value !== undefined) {
    value = undefined
    const rest = /^[\p{L}\p{N}_]{1,48}/u.exec(after())?.[0] ?? ''
    written += rest
    end += rest.length
  }
  if (sign === '±') value = undefined
  return {
    start,
    end,
    text: sign === '-' ? `-${written}` : written,
    reading:
      value === undefined
        ? undefined
        : {
            text: sign === '-' ? `-${written}` : written,
            value: sign === '-' ? negate(value) : value,
            percent: percent !== null,
            unit: currency ?? unit?.name,
          },
    operand: isOperand(preceding, sign, after()),
  }
}

/** The sign and the currency that stand right before a number, and how many characters they take. */
function prefixOf(before: string): {
  sign: '-' | '+' | '±' | undefined
  currency: string | undefined
  length: number
} {
  const currency = currencyBefore(before)
  let rest = before.slice(0, before.length - (currency?.length ?? 0))
  const inner = /[-−–]$/.exec(before)
  // `$-5`: the sign between currency and digits.
  if (currency === undefined && inner !== null) {
    const outer = currencyBefore(before.slice(0, -1))
    if (outer !== undefined) return { sign: '-', currency: outer.name, length: outer.length + 1 }
  }
  let length = currency?.length ?? 0
  const sign = /[-−–+±]$/.exec(rest)?.[0] ?? /=[ \t]?[-−][ \t]$/.exec(rest)?.[0].slice(1)
  if (sign === undefined) return { sign: undefined, currency: currency?.name, length }
  rest = rest.slice(0, rest.length - sign.length)
  // After a number, a name or a closing bracket it is the operator of a difference or the hyphen of a word.
  if (/[\p{L}\p{N}_)\]}%]$/u.test(rest)) return { sign: undefined, currency: currency?.name, length }
  length += sign.length
  const kind = sign.includes('+') ? '+' : sign.includes('±') ? '±' : '-'
  return { sign: kind, currency: currency?.name, length }
}

function isOperand(preceding: string, sign: string | undefined, after: string): boolean {
  // Inside a root, a fraction or a box that is not closed, it is a part of something else.
  if (
    /\\(?:sqrt|[dt]?frac|log|ln)\s?$|\{\s?$/.test(preceding) &&
    !/\\(?:text\w*|math\w+|mbox)\{\s?$/.test(preceding)
  )
    return true
  if (sign === undefined && /[\d)%][ \t]*[+*×÷−–-][ \t]*[$€£]?$|\p{L}[-−–]$/u.test(preceding)) return true
  return /^[ \t]*(?:\*(?:\(|[ \t]*[\d$])|[×÷][ \t]*[\d($]|[+][ \t]*[\p{L}\d($\\]|[-−][ \t]+\d|\\(?:times|cdot|div)\b)/u.test(
    after,
  )
}
